//! An amount and its double, each with its own lock.
//!
//! A writer changes the one under its lock, then the other under its own. A reader takes them in
//! the same way.
//!
//! Bugs: every access is guarded, so there is no data race; and yet a reader may find an amount
//! with the double of another. That is an atomicity violation, which race prediction must not
//! report. In `two_stage_fixed` one lock is held for both.
//!
//! Threads: writers; there is one reader. Work: rounds of each.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "two_stage",
    about: "two values that belong together are guarded one by one: no data race, and yet wrong",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("two_stage.rs") },
    run: |size| run(size, visit_in_two_stages),
    small: Size::new(2, 1),
    large: Size::new(8, 200_000),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "two_stage_fixed",
    about: "as `two_stage`, with one lock for both values",
    run: |size| run(size, visit_at_once),
    ..PROGRAM
};

#[derive(Default)]
struct Pair {
    lock: Mutex<()>,
    amount: Shared<usize>,
    double_lock: Mutex<()>,
    double: Shared<usize>,
}

/// Writes an amount and its double, or reads the two.
type Visit = fn(&Pair, Option<usize>) -> [usize; 2];

fn run(size: &Size, visit: Visit) {
    let pair = Pair::default();
    thread::scope(|scope| {
        for id in 1..=size.threads {
            let pair = &pair;
            scope.spawn(move || {
                for round in 0..size.work {
                    visit(pair, Some(round * size.threads + id));
                }
            });
        }
        let wrong = (0..size.work).filter(|_| {
            let [amount, double] = visit(&pair, None);
            double != 2 * amount
        });
        racelog::check!(wrong.count() == 0, "the values belong together");
    });
}

#[racelog::instrument]
fn visit_in_two_stages(pair: &Pair, new: Option<usize>) -> [usize; 2] {
    let amount = {
        let _guard = pair.lock.lock().unwrap();
        exchange(&pair.amount, new)
    };
    let double = {
        let _guard = pair.double_lock.lock().unwrap();
        exchange(&pair.double, new.map(|new| 2 * new))
    };
    [amount, double]
}

#[racelog::instrument]
fn visit_at_once(pair: &Pair, new: Option<usize>) -> [usize; 2] {
    let _guard = pair.lock.lock().unwrap();
    [exchange(&pair.amount, new), exchange(&pair.double, new.map(|new| 2 * new))]
}

/// Writes a value, or reads it.
#[racelog::instrument]
fn exchange(place: &Shared<usize>, new: Option<usize>) -> usize {
    match new {
        Some(new) => {
            place.set(new);
            new
        }
        None => place.get(),
    }
}
