//! Threads sit on a seat, of which a lock says who has it, and get up again.
//!
//! Bug: in `check_then_act` a thread looks in one critical section whether the seat is free, and
//! takes it in another. Two may find it free, and then the one finds the other where it sits. In
//! `check_then_act_fixed` the lock is kept.

use std::num::NonZeroU32;

use racelog::sync::Mutex;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "check_then_act",
    about: "whether a seat is free is asked in one critical section, and it is taken in another",
    origin: Origin::Steps,
    source: Source { file: file!(), text: include_str!("check_then_act.rs") },
    run: |_| run(sit_in_steps),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[
        Goal::new(GoalKind::FailedCheck, &["still-mine"], "the seat was taken by the other"),
        Goal::new(
            GoalKind::InferredAtomicity,
            &["take"],
            "the other takes the seat after it was found free",
        ),
    ],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "check_then_act_fixed",
    about: "as `check_then_act`, but the lock is kept in between",
    run: |_| run(sit),
    goals: &[],
    ..PROGRAM
};

type Seat = Mutex<Option<NonZeroU32>>;

#[racelog::instrument]
fn sit_in_steps(seat: &Seat, who: NonZeroU32) {
    let holder = *seat.lock().unwrap();
    if holder.is_none() {
        *seat.lock().unwrap() = Some(who); // [take]
        let holder = *seat.lock().unwrap();
        assert_eq!(holder, Some(who)); // [still-mine]
        *seat.lock().unwrap() = None;
    }
}

#[racelog::instrument]
fn sit(seat: &Seat, who: NonZeroU32) {
    let mut seat = seat.lock().unwrap();
    let holder = *seat;
    if holder.is_none() {
        *seat = Some(who);
        let holder = *seat;
        assert_eq!(holder, Some(who));
        *seat = None;
    }
}

#[racelog::instrument]
fn run(sit: fn(&Seat, NonZeroU32)) {
    let seat = Mutex::new(None);
    let turns = Turns::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            sit(&seat, NonZeroU32::MIN);
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            sit(&seat, NonZeroU32::MAX);
        });
    });
}
