//! Wake-ups that get lost.
//!
//! - `wait_without_condition`: a thread waits for a notification and for nothing else. If that
//!   comes before it waits, it waits for ever.
//! - `flag_without_lock`: it looks at a flag before, but the flag is changed without the lock:
//!   right after the look, and before the wait.
//! - `wrong_waiter`: two threads wait on one condition variable, each for something else, and one
//!   of them is woken: perhaps the other one.
//! - `wait_with_condition`: a condition that is changed under the lock, and looked at under the
//!   lock before every wait. Right.

use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::sync::{Condvar, Mutex};
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("condvars.rs") };

/// What is said of the wait without a condition.
pub static NO_CONDITION: Program = Program {
    name: "wait_without_condition",
    about: "a wait for a notification that may have come before",
    origin: Origin::Hangs,
    source: SOURCE,
    run: |_| run_without_condition(),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[Goal::new(GoalKind::Stall, &["wait"], "the notification came before the wait")],
    schedule: "random:1",
    hangs: Some("the notification came before the wait"),
};

/// What is said of the flag.
pub static FLAG_WITHOUT_LOCK: Program = Program {
    name: "flag_without_lock",
    about: "a condition is changed without the lock, between a look at it and the wait",
    run: |_| run_flag_without_lock(),
    goals: &[Goal::new(
        GoalKind::Stall,
        &["wait-for-flag"],
        "the notification came between the look at the flag and the wait",
    )],
    hangs: Some("the notification came between the look at the flag and the wait"),
    ..NO_CONDITION
};

/// What is said of the two that wait.
pub static WRONG_WAITER: Program = Program {
    name: "wrong_waiter",
    about: "of two threads that wait for different things one is woken: perhaps the other one",
    run: |_| run_wrong_waiter(),
    goals: &[
        Goal::new(GoalKind::Stall, &["wait-to-pass-on"], "the other one was woken"),
        Goal::new(GoalKind::Stall, &["wait-for-pass"], "what is passed on came before the wait"),
        Goal::new(
            GoalKind::Stall,
            &["wait-to-pass-on", "wait-for-pass"],
            "the notification came before both",
        ),
    ],
    schedule: "random:2",
    hangs: Some("the one is woken that cannot wake the other"),
    ..NO_CONDITION
};

/// What is said of the right way.
pub static CONDITION: Program = Program {
    name: "wait_with_condition",
    about: "as `wait_without_condition`, with a condition that is changed under the lock",
    run: |_| run_with_condition(),
    goals: &[],
    hangs: None,
    ..NO_CONDITION
};

fn run_without_condition() {
    let (lock, changed, turns) = (Mutex::new(()), Condvar::new(), Turns::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = lock.lock().unwrap();
            turns.over();
            drop(changed.wait(guard).unwrap()); // [wait]
        });
        scope.spawn(|| {
            turns.after(1);
            let _guard = lock.lock().unwrap();
            changed.notify_one();
        });
    });
}

fn run_flag_without_lock() {
    let (lock, changed, turns) = (Mutex::new(()), Condvar::new(), Turns::new());
    let is_ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = lock.lock().unwrap();
            while !is_ready.load(Ordering::Acquire) {
                turns.over();
                guard = changed.wait(guard).unwrap(); // [wait-for-flag]
            }
        });
        scope.spawn(|| {
            turns.after(1);
            // What is made ready is put where it belongs, under the lock.
            drop(lock.lock().unwrap());
            is_ready.store(true, Ordering::Release);
            changed.notify_one();
        });
    });
}

fn run_wrong_waiter() {
    let (lock, changed, turns) = (Mutex::new(()), Condvar::new(), Turns::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = lock.lock().unwrap();
            turns.over();
            let _guard = changed.wait(guard).unwrap(); // [wait-to-pass-on]
            changed.notify_one();
        });
        scope.spawn(|| {
            turns.after(1);
            let guard = lock.lock().unwrap();
            turns.over();
            drop(changed.wait(guard).unwrap()); // [wait-for-pass]
        });
        turns.after(2);
        let guard = lock.lock().unwrap();
        changed.notify_one();
        drop(guard);
    });
}

fn run_with_condition() {
    let (is_ready, changed, turns) = (Mutex::new(false), Condvar::new(), Turns::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = is_ready.lock().unwrap();
            while !*guard {
                turns.over();
                guard = changed.wait(guard).unwrap();
            }
        });
        scope.spawn(|| {
            turns.after(1);
            *is_ready.lock().unwrap() = true;
            changed.notify_one();
        });
    });
}
