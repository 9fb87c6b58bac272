//! Two deposits to an account, whose balance a lock guards.
//!
//! Bug: in `lost_update` the balance is read in one critical section and written in another. If
//! both deposits read before one of them writes, one is lost. In `lost_update_fixed` the lock is
//! kept.

use racelog::sync::Mutex;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "lost_update",
    about: "a balance is read in one critical section and written in another",
    origin: Origin::Steps,
    source: Source { file: file!(), text: include_str!("lost_update.rs") },
    run: |_| run(deposit_in_steps),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[
        Goal::new(GoalKind::FailedCheck, &["all-is-there"], "one of the deposits is lost"),
        Goal::new(
            GoalKind::InferredAtomicity,
            &["write-later"],
            "the other deposit comes in between the read and the write",
        ),
    ],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "lost_update_fixed",
    about: "as `lost_update`, but the lock is kept in between",
    run: |_| run(deposit),
    goals: &[],
    ..PROGRAM
};

#[racelog::instrument]
fn deposit_in_steps(balance: &Mutex<u64>, amount: u64) {
    let before = *balance.lock().unwrap();
    *balance.lock().unwrap() = before + amount; // [write-later]
}

#[racelog::instrument]
fn deposit(balance: &Mutex<u64>, amount: u64) {
    *balance.lock().unwrap() += amount;
}

#[racelog::instrument]
fn run(deposit: fn(&Mutex<u64>, u64)) {
    let balance = Mutex::new(100);
    let turns = Turns::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            deposit(&balance, 10);
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            deposit(&balance, 20);
        });
    });
    assert_eq!(*balance.lock().unwrap(), 130); // [all-is-there]
}
