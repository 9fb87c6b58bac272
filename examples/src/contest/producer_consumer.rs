//! A producer hands values to a consumer through one place and a flag that says whether it is full.
//!
//! The flag is plain memory, and both poll it.
//!
//! Bugs: looking at the flag races with changing it. Through the flag, every schedule orders the
//! accesses of the place, but not for the compiler and the processor: by the memory model they race
//! as well. In `producer_consumer_fixed` the flag is an atomic with `Release` and `Acquire`.
//!
//! Work: values. There is always one producer and one consumer.

use racelog::cell::Shared;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "producer_consumer",
    about: "a value is handed over by a flag that is plain memory",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("producer_consumer.rs") },
    run: |size| run(size, &Plain(Shared::new(false))),
    small: Size::new(1, 2),
    large: Size::new(1, 1_000_000),
    races: &[
        Race::new("look", "change", Harm::Benign, "the other looks again"),
        Race::new("change", "change", Harm::Benign, "only the flag itself orders these").weak(),
        Race::new("put", "take", Harm::StaleRead, "the flag may overtake the value").weak(),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "producer_consumer_fixed",
    about: "as `producer_consumer`, with an atomic flag that is released and acquired",
    run: |size| run(size, &AtomicBool::new(false)),
    races: &[],
    ..PROGRAM
};

/// Whether the place is full.
trait Flag: Sync {
    fn is_set(&self) -> bool;
    fn set(&self, full: bool);
}

struct Plain(Shared<bool>);

impl Flag for Plain {
    fn is_set(&self) -> bool {
        self.0.get() // [look]
    }

    fn set(&self, full: bool) {
        self.0.set(full); // [change]
    }
}

impl Flag for AtomicBool {
    fn is_set(&self) -> bool {
        self.load(Ordering::Acquire)
    }

    fn set(&self, full: bool) {
        self.store(full, Ordering::Release);
    }
}

fn run(size: &Size, flag: &impl Flag) {
    let place = Shared::new(0);
    let wrong = thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1..=size.work {
                wait_until(flag, false);
                place.set(value); // [put]
                flag.set(true);
            }
        });
        let wrong = (1..=size.work).filter(|value| {
            wait_until(flag, true);
            let found = place.get(); // [take]
            flag.set(false);
            found != *value
        });
        wrong.count()
    });
    racelog::check!(wrong == 0, "each value arrives once");
}

fn wait_until(flag: &impl Flag, full: bool) {
    while flag.is_set() != full {
        thread::yield_now();
    }
}
