//! Two threads count in an atomic counter.
//!
//! Bug: in `counter` they load the number and store one more. If both load before one of them
//! stores, one is not counted. In `counter_fixed` they add in one step.

use racelog::sync::atomic::{AtomicU32, Ordering};
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "counter",
    about: "a counter is loaded, and one more is stored",
    origin: Origin::Steps,
    source: Source { file: file!(), text: include_str!("counter.rs") },
    run: |_| run(count_in_steps),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[
        Goal::new(GoalKind::FailedCheck, &["all-counted"], "one of the two is not counted"),
        Goal::new(
            GoalKind::InferredAtomicity,
            &["store"],
            "the other counts between the load and the store",
        ),
    ],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "counter_fixed",
    about: "as `counter`, but it is added to in one step",
    run: |_| run(count),
    goals: &[],
    ..PROGRAM
};

#[racelog::instrument]
fn count_in_steps(counter: &AtomicU32) {
    let seen = counter.load(Ordering::SeqCst);
    counter.store(seen + 1, Ordering::SeqCst); // [store]
}

#[racelog::instrument]
fn count(counter: &AtomicU32) {
    counter.fetch_add(1, Ordering::SeqCst);
}

#[racelog::instrument]
fn run(count: fn(&AtomicU32)) {
    let counter = AtomicU32::new(0);
    let turns = Turns::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            count(&counter);
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            count(&counter);
        });
    });
    let counted = counter.load(Ordering::SeqCst);
    racelog::check!(counted == 2, "both are counted"); // [all-counted]
}
