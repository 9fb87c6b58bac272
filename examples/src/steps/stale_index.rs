//! Four places, and a lock that guards how many of them are used.
//!
//! Bug: in `stale_index` a thread reads the number in one critical section, sees that there is
//! room, and reads it again in another, to look at the next place. If another uses the last place
//! in between there is none. In `stale_index_fixed` it looks there under the lock.

use racelog::sync::Mutex;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "stale_index",
    about: "an index is a length that was looked at before, in another critical section",
    origin: Origin::Steps,
    source: Source { file: file!(), text: include_str!("stale_index.rs") },
    run: |_| run(look_in_steps),
    small: Size::new(2, 1),
    large: Size::new(2, 1),
    races: &[],
    goals: &[Goal::new(GoalKind::Panic, &["look"], "the other has used the last place")],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "stale_index_fixed",
    about: "as `stale_index`, but the lock is kept in between",
    run: |_| run(look),
    goals: &[],
    ..PROGRAM
};

const PLACES: [u8; 4] = [2, 3, 5, 7];

#[racelog::instrument]
fn look_in_steps(used: &Mutex<usize>) -> u8 {
    let mut found = 0;
    let before = *used.lock().unwrap();
    if before < PLACES.len() {
        let places = PLACES;
        let next = *used.lock().unwrap();
        found = places[next]; // [look]
    }
    found
}

#[racelog::instrument]
fn look(used: &Mutex<usize>) -> u8 {
    let mut found = 0;
    let used = used.lock().unwrap();
    let next = *used;
    if next < PLACES.len() {
        let places = PLACES;
        found = places[next];
    }
    found
}

#[racelog::instrument]
fn use_next(used: &Mutex<usize>) {
    let mut used = used.lock().unwrap();
    if *used < PLACES.len() {
        *used += 1;
    }
}

#[racelog::instrument]
fn run(look: fn(&Mutex<usize>) -> u8) {
    let used = Mutex::new(3);
    let turns = Turns::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            look(&used);
            turns.over();
        });
        scope.spawn(|| {
            turns.after(1);
            use_next(&used);
        });
    });
}
