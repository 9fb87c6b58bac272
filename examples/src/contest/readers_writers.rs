//! A home-made lock for many readers or one writer.
//!
//! Readers are counted under a lock. A writer looks until there are none, and writes.
//!
//! Bugs: the writer has let go of the lock by the time it writes, so readers come in meanwhile, and
//! other writers too. In `readers_writers_fixed` it is an `RwLock`.
//!
//! Threads: readers, and as many writers. Work: rounds of each.

use racelog::cell::Shared;
use racelog::sync::{Mutex, RwLock};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "readers_writers",
    about: "a writer makes sure that there are no readers, but does not keep new ones out",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("readers_writers.rs") },
    run,
    small: Size::new(2, 1),
    large: Size::new(4, 200_000),
    races: &[
        Race::new("read", "write", Harm::StaleRead, "a reader comes in after the writer looked"),
        Race::new("write", "write", Harm::LostUpdate, "writers do not keep each other out"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "readers_writers_fixed",
    about: "as `readers_writers`, with an `RwLock`",
    run: run_fixed,
    races: &[],
    ..PROGRAM
};

struct Book {
    readers: Mutex<usize>,
    page: Shared<usize>,
}

fn run(size: &Size) {
    let book = Book { readers: Mutex::new(0), page: Shared::new(0) };
    thread::scope(|scope| {
        for id in 0..size.threads {
            let book = &book;
            scope.spawn(move || (0..size.work).for_each(|_| read(book)));
            scope.spawn(move || (0..size.work).for_each(|_| write(book, id)));
        }
    });
}

#[racelog::instrument]
fn read(book: &Book) {
    {
        let mut readers = book.readers.lock().unwrap();
        *readers += 1;
    }
    book.page.get(); // [read]
    {
        let mut readers = book.readers.lock().unwrap();
        *readers -= 1;
    }
}

#[racelog::instrument]
fn write(book: &Book, value: usize) {
    while !is_free(book) {
        thread::yield_now();
    }
    book.page.set(value); // [write]
}

#[racelog::instrument]
fn is_free(book: &Book) -> bool {
    let readers = book.readers.lock().unwrap();
    *readers == 0
}

fn run_fixed(size: &Size) {
    let (lock, page) = (RwLock::new(()), Shared::new(0));
    thread::scope(|scope| {
        for id in 0..size.threads {
            let (lock, page) = (&lock, &page);
            scope.spawn(move || {
                for _ in 0..size.work {
                    let _guard = lock.read().unwrap();
                    page.get();
                }
            });
            scope.spawn(move || {
                for _ in 0..size.work {
                    let _guard = lock.write().unwrap();
                    page.set(id);
                }
            });
        }
    });
}
