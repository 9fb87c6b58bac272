//! Locks that readers share.
//!
//! - `rwlock_upgrade`: two readers, of a table each, go on to change the other table while they
//!   still read their own. Each waits for the other to stop reading. (A reader that wants to write
//!   what it reads waits for itself: such a program never ends, and needs no prediction.)
//! - `rwlock_upgrade_fixed`: they stop reading first. Right.
//! - `rwlock_read_twice`: a reader reads once more what it reads already. On Linux a writer that
//!   waits keeps new readers out, so one that comes in between waits for the reader, and the reader
//!   for it.
//! - `rwlock_read_once`: it reads what it needs at once. Right.

use racelog::sync::RwLock;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("rwlocks.rs") };

/// What is said of the two readers that write.
pub static UPGRADE: Program = Program {
    name: "rwlock_upgrade",
    about: "two readers, of a table each, change the other one's table",
    origin: Origin::Hangs,
    source: SOURCE,
    run: |_| run_upgrade(true),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["write-second", "write-first"],
        "each reads what the other wants to change",
    )],
    schedule: "random:1",
    hangs: Some("each reads what the other wants to change"),
};

/// What is said of their right twin.
pub static UPGRADE_FIXED: Program = Program {
    name: "rwlock_upgrade_fixed",
    about: "as `rwlock_upgrade`, but readers stop reading before they write",
    run: |_| run_upgrade(false),
    goals: &[],
    hangs: None,
    ..UPGRADE
};

/// What is said of the reader that reads twice.
pub static READ_TWICE: Program = Program {
    name: "rwlock_read_twice",
    about: "a reader takes its lock again, and a writer may wait in between",
    run: |_| run_readers(true),
    goals: &[Goal::new(
        GoalKind::FairDeadlock,
        &["read-again", "write-between"],
        "the writer waits for the reader, and keeps it out",
    )],
    schedule: "random:2",
    hangs: Some("the writer waits for the reader, and keeps it out"),
    ..UPGRADE
};

/// What is said of its right twin.
pub static READ_ONCE: Program = Program {
    name: "rwlock_read_once",
    about: "as `rwlock_read_twice`, but the reader takes its lock once",
    run: |_| run_readers(false),
    goals: &[],
    hangs: None,
    ..READ_TWICE
};

fn run_upgrade(goes_on_reading: bool) {
    let (first, second, turns) = (RwLock::new(()), RwLock::new(()), Turns::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let reading = first.read().unwrap();
            let reading = goes_on_reading.then_some(reading);
            drop(second.write().unwrap()); // [write-second]
            drop(reading);
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            let reading = second.read().unwrap();
            let _reading = goes_on_reading.then_some(reading);
            drop(first.write().unwrap()); // [write-first]
        });
    });
}

fn run_readers(twice: bool) {
    let (lock, turns) = (RwLock::new(()), Turns::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let _reading = lock.read().unwrap();
            if twice {
                drop(lock.read().unwrap()); // [read-again]
            }
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            drop(lock.write().unwrap()); // [write-between]
        });
    });
}
