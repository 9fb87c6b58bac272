//! Producers and consumers share a buffer of one place.
//!
//! All is done under one lock, and a thread that cannot go on waits on the one condition variable
//! there is. A watchdog looks now and then whether the work is still going on.
//!
//! Bugs: a single wake-up may go to a thread of the wrong kind, a producer to a producer: it finds
//! nothing to do and waits again, and all sleep. The watchdog's flag is read without the lock: a
//! harmless race. In `bounded_buffer_fixed` there is a condition variable for each kind, and the
//! flag is atomic.
//!
//! Threads: producers, and as many consumers. Work: items of each.

use std::collections::VecDeque;

use racelog::cell::Shared;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::sync::{Condvar, Mutex};
use racelog::thread;

use crate::{Goal, GoalKind, Harm, Origin, Program, Race, Size, Source};

/// How many items there is room for.
const CAPACITY: usize = 1;

/// How often the watchdog looks.
const LOOKS: usize = 3;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "bounded_buffer",
    about: "one condition variable for two conditions, so a wake-up gets lost; an unguarded flag",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("bounded_buffer.rs") },
    run,
    small: Size::new(2, 2),
    large: Size::new(4, 200_000),
    races: &[Race::new("flag-look", "flag-clear", Harm::Benign, "the watchdog looks once more")],
    goals: &[Goal::new(
        GoalKind::Stall,
        &["wait-until-not-full", "wait-until-not-empty"],
        "a wake-up went to a thread of the same kind, which waits again",
    )
    .unproven(
        "who is woken looks again, and the run that is recorded does not have that second wait",
    )],
    schedule: "random:1",
    hangs: Some("a wake-up goes to a thread of the same kind, which waits again"),
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "bounded_buffer_fixed",
    about: "as `bounded_buffer`, with a condition variable for each condition and an atomic flag",
    run: run_fixed,
    races: &[],
    goals: &[],
    hangs: None,
    ..PROGRAM
};

struct Buffer {
    items: Mutex<VecDeque<usize>>,
    not_full: Condvar,
    not_empty: Condvar,
    /// Whether all wait on the same condition variable.
    confused: bool,
}

impl Buffer {
    fn new(confused: bool) -> Self {
        let items = Mutex::new(VecDeque::new());
        Self { items, not_full: Condvar::new(), not_empty: Condvar::new(), confused }
    }

    fn not_full(&self) -> &Condvar {
        if self.confused { &self.not_empty } else { &self.not_full }
    }

    fn put(&self, item: usize) {
        let mut items = self.items.lock().unwrap();
        while items.len() == CAPACITY {
            items = self.not_full().wait(items).unwrap(); // [wait-until-not-full]
        }
        items.push_back(item);
        self.not_empty.notify_one();
    }

    fn take(&self) -> usize {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.not_empty.wait(items).unwrap(); // [wait-until-not-empty]
        }
        let item = items.pop_front().unwrap();
        self.not_full().notify_one();
        item
    }
}

fn run(size: &Size) {
    let active = Shared::new(true);
    thread::scope(|scope| {
        scope.spawn(|| watch(&active));
        exchange(&Buffer::new(true), size);
        active.set(false); // [flag-clear]
    });
}

#[racelog::instrument]
fn watch(active: &Shared<bool>) {
    for _ in 0..LOOKS {
        let active = active.get(); // [flag-look]
        if !active {
            break;
        }
        thread::yield_now();
    }
}

fn run_fixed(size: &Size) {
    let active = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..LOOKS {
                if !active.load(Ordering::Relaxed) {
                    break;
                }
                thread::yield_now();
            }
        });
        exchange(&Buffer::new(false), size);
        active.store(false, Ordering::Relaxed);
    });
}

fn exchange(buffer: &Buffer, size: &Size) {
    let taken: usize = thread::scope(|scope| {
        let consume = || (0..size.work).map(|_| buffer.take()).sum::<usize>();
        let consumers: Vec<_> = (0..size.threads).map(|_| scope.spawn(consume)).collect();
        for _ in 0..size.threads {
            scope.spawn(|| (0..size.work).for_each(|item| buffer.put(item)));
        }
        consumers.into_iter().map(|consumer| consumer.join().unwrap()).sum()
    });
    let put = size.threads * (size.work * (size.work - 1) / 2);
    racelog::check!(taken == put, "what was put was taken");
}
