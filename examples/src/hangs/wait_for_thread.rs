//! A thread is waited for under a lock that it needs itself.
//!
//! Nearly always it has taken the lock long ago. In `join_under_lock_fixed` the lock is given back
//! first.

use racelog::sync::Mutex;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "join_under_lock",
    about: "a thread is waited for under a lock that it needs",
    origin: Origin::Hangs,
    source: Source { file: file!(), text: include_str!("wait_for_thread.rs") },
    run: |_| run(true),
    small: Size::new(1, 1),
    large: Size::new(1, 1),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["work", "join"],
        "the thread waits for the lock, and its end is waited for under it",
    )],
    schedule: "random:4",
    hangs: Some("the thread waits for the lock, and its end is waited for under it"),
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "join_under_lock_fixed",
    about: "as `join_under_lock`, but the lock is given back first",
    run: |_| run(false),
    goals: &[],
    hangs: None,
    ..PROGRAM
};

fn run(under_lock: bool) {
    let (lock, turns) = (Mutex::new(()), Turns::new());
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            drop(lock.lock().unwrap()); // [work]
            turns.over();
        });
        turns.after(1);
        let guard = lock.lock().unwrap();
        let guard = under_lock.then_some(guard);
        worker.join().unwrap(); // [join]
        drop(guard);
    });
}
