//! Threads put their messages into a hash table of 128 entries, each with a lock of its own.
//!
//! The hashes are such that up to 11 threads never meet in an entry; with more they do, and go on
//! to the next one. So nearly every entry is used by one thread only, which is for a predictor to
//! find out.
//!
//! Bug: in `indexer_a` whether an entry is free is asked before its lock is taken, so two threads
//! may both put a message there, and one is lost. That is a race only of the few entries where
//! hashes meet.
//!
//! Work: messages of each thread.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("indexer.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "indexer",
    about: "a hash table with a lock for each entry, which threads seldom meet in",
    origin: Origin::Fusion,
    source: SOURCE,
    run: |size| index(size, put),
    small: Size::new(12, 2),
    large: Size::new(25, 4),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its wrong twin.
pub static WRONG: Program = Program {
    name: "indexer_a",
    about: "as `indexer`, but whether an entry is free is asked without its lock",
    run: |size| index(size, put_late),
    races: &[Race::new("ask", "put", Harm::LostUpdate, "both find the entry free")],
    ..PROGRAM
};

const ENTRIES: usize = 128;
/// What is in an entry that is free.
const FREE: usize = 0;

struct Entry {
    lock: Mutex<()>,
    message: Shared<usize>,
}

#[racelog::instrument]
fn put(entry: &Entry, message: usize) -> bool {
    let _guard = entry.lock.lock().unwrap();
    let is_free = entry.message.get() == FREE;
    if is_free {
        entry.message.set(message);
    }
    is_free
}

#[racelog::instrument]
fn put_late(entry: &Entry, message: usize) -> bool {
    let found = entry.message.get(); // [ask]
    if found != FREE {
        return false;
    }
    let _guard = entry.lock.lock().unwrap();
    entry.message.set(message); // [put]
    true
}

fn index(size: &Size, put: fn(&Entry, usize) -> bool) {
    let entry = |_| Entry { lock: Mutex::new(()), message: Shared::new(FREE) };
    let table: Vec<Entry> = (0..ENTRIES).map(entry).collect();
    let (table, work) = (&table, size.work);
    thread::scope(|scope| {
        for me in 0..size.threads {
            scope.spawn(move || {
                for number in 1..=work {
                    let message = 11 * number + me;
                    let hash = 7 * message;
                    // A table that is full takes no more.
                    let mut entries = (hash..hash + ENTRIES).map(|at| &table[at % ENTRIES]);
                    let _is_put = entries.any(|entry| put(entry, message));
                }
            });
        }
    });
    let put = table.iter().filter(|entry| entry.message.get() != FREE).count();
    let all = (size.threads * work).min(ENTRIES);
    racelog::check!(put == all, "every message has an entry");
}
