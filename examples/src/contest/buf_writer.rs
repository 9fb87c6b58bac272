//! Writers fill a buffer that a checker empties.
//!
//! A write stores a value at the position, and moves it; then the write is counted. All do so under
//! the buffer's lock, but for the first writer, which takes the lock only to count.
//!
//! Bugs: the first writer races with all others, and with the checker, on the position and on what
//! is stored there: values are lost, and the count is another than the number of values. In
//! `buf_writer_fixed` it takes the lock as all others do.
//!
//! Threads: writers. Work: writes of each.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "buf_writer",
    about: "one of the writers moves the position of a buffer without its lock",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("buf_writer.rs") },
    run: |size| run(size, true),
    small: Size::new(2, 2),
    large: Size::new(8, 150_000),
    races: &[
        Race::new(
            "position-read",
            "position-write",
            Harm::LostUpdate,
            "one write moves it for two",
        ),
        Race::new("position-write", "position-write", Harm::LostUpdate, "a move is lost"),
        Race::new("store", "store", Harm::LostUpdate, "two values for one place"),
        Race::new("drain-read", "position-write", Harm::StaleRead, "a value is not counted"),
        Race::new("drain-write", "position-read", Harm::StaleRead, "the next is stored behind"),
        Race::new("drain-write", "position-write", Harm::LostUpdate, "values are counted twice"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "buf_writer_fixed",
    about: "as `buf_writer`, with all writers under the lock",
    run: |size| run(size, false),
    races: &[],
    ..PROGRAM
};

struct Buffer {
    lock: Mutex<()>,
    values: Vec<Shared<usize>>,
    position: Shared<usize>,
    count: Shared<usize>,
}

fn run(size: &Size, is_careless: bool) {
    let writes = size.threads * size.work;
    let buffer = Buffer {
        lock: Mutex::new(()),
        values: (0..writes).map(|_| Shared::new(0)).collect(),
        position: Shared::new(0),
        count: Shared::new(0),
    };
    let drained = thread::scope(|scope| {
        for id in 0..size.threads {
            let (buffer, is_careless) = (&buffer, is_careless && id == 0);
            scope.spawn(move || write(buffer, id, size.work, is_careless));
        }
        let checker = scope.spawn(|| drain(&buffer, size.work));
        checker.join().unwrap()
    });
    let all = drained + buffer.position.get();
    racelog::check!(all == buffer.count.get(), "all that is counted is there");
}

#[racelog::instrument]
fn write(buffer: &Buffer, id: usize, writes: usize, is_careless: bool) {
    for _ in 0..writes {
        if is_careless {
            put(buffer, id);
            let _guard = buffer.lock.lock().unwrap();
            count(buffer);
        } else {
            let _guard = buffer.lock.lock().unwrap();
            put(buffer, id);
            count(buffer);
        }
    }
}

#[racelog::instrument]
fn put(buffer: &Buffer, value: usize) {
    let position = buffer.position.get(); // [position-read]
    if position < buffer.values.len() {
        buffer.values[position].set(value); // [store]
        buffer.position.set(position + 1); // [position-write]
    }
}

#[racelog::instrument]
fn count(buffer: &Buffer) {
    let count = buffer.count.get();
    buffer.count.set(count + 1);
}

/// Empties the buffer now and then; gives how many values it has seen.
#[racelog::instrument]
fn drain(buffer: &Buffer, rounds: usize) -> usize {
    let mut drained = 0;
    for _ in 0..rounds {
        let _guard = buffer.lock.lock().unwrap();
        let position = buffer.position.get(); // [drain-read]
        drained += position;
        buffer.position.set(0); // [drain-write]
    }
    drained
}
