//! A counter that some threads change under one lock, and others under another.
//!
//! Bugs: the two kinds race with each other, though nobody is without a lock: changes get lost. In
//! `wrong_lock_fixed` all take the same.
//!
//! Threads: of each kind. Work: changes of each.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "wrong_lock",
    about: "a counter is guarded by one lock here and by another there",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("wrong_lock.rs") },
    run: |size| run(size, false),
    small: Size::new(1, 2),
    large: Size::new(4, 300_000),
    races: &[
        Race::new("read", "write", Harm::LostUpdate, "a change comes in between"),
        Race::new("write", "write", Harm::LostUpdate, "one of two changes is lost"),
    ],
    goals: &[],
    schedule: "random:4",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "wrong_lock_fixed",
    about: "as `wrong_lock`, with the same lock everywhere",
    run: |size| run(size, true),
    races: &[],
    ..PROGRAM
};

fn run(size: &Size, is_same: bool) {
    let (counter, locks) = (Shared::new(0), [Mutex::new(()), Mutex::new(())]);
    thread::scope(|scope| {
        for id in 0..2 * size.threads {
            let lock = &locks[if is_same { 0 } else { id % 2 }];
            let counter = &counter;
            scope.spawn(move || (0..size.work).for_each(|_| count(counter, lock)));
        }
    });
    let all = 2 * size.threads * size.work;
    racelog::check!(counter.get() == all, "no change is lost");
}

#[racelog::instrument]
fn count(counter: &Shared<usize>, lock: &Mutex<()>) {
    let _guard = lock.lock().unwrap();
    let before = counter.get(); // [read]
    counter.set(before + 1); // [write]
}
