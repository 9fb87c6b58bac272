//! An airline sells tickets, each by a thread of its own, until one of them says that the flight is
//! full.
//!
//! `sold` is counted without a lock, and the flag `full` is looked at only before the next seller
//! is sent out.
//!
//! Bugs: sales get lost because `sold` is read and written in two steps by many; `full` is set
//! while it is read; and even if each access were atomic, sellers that are already on their way
//! sell seats that are not there. In `airline_fixed` each sale is one step under a lock, which also
//! says no.
//!
//! Work: seats. There are `threads` more sellers than that.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "airline",
    about: "sellers count sold tickets without a lock, and see too late that the flight is full",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("airline.rs") },
    run,
    small: Size::new(2, 2),
    large: Size::new(100, 10_000),
    races: &[
        Race::new("sold-read", "sold-write", Harm::LostUpdate, "two sales count as one"),
        Race::new("sold-write", "sold-write", Harm::LostUpdate, "two sales count as one"),
        Race::new("full-write", "full-read", Harm::StaleRead, "sellers go out for a full flight"),
        Race::new("full-write", "full-write", Harm::Benign, "both say that the flight is full"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "airline_fixed",
    about: "as `airline`, but a sale is one step under a lock",
    run: run_fixed,
    races: &[],
    ..PROGRAM
};

struct Flight {
    sold: Shared<usize>,
    full: Shared<bool>,
    seats: usize,
}

fn run(size: &Size) {
    let flight = Flight { sold: Shared::new(0), full: Shared::new(false), seats: size.work };
    thread::scope(|scope| send_out(scope, &flight, size.work + size.threads));
    racelog::check!(flight.sold.get() <= flight.seats, "no seat is sold twice");
}

#[racelog::instrument]
fn send_out<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    flight: &'scope Flight,
    sellers: usize,
) {
    for _ in 0..sellers {
        let full = flight.full.get(); // [full-read]
        if full {
            break;
        }
        scope.spawn(|| sell(flight));
    }
}

#[racelog::instrument]
fn sell(flight: &Flight) {
    let sold = flight.sold.get(); // [sold-read]
    flight.sold.set(sold + 1); // [sold-write]
    if sold + 1 >= flight.seats {
        flight.full.set(true); // [full-write]
    }
}

fn run_fixed(size: &Size) {
    let sold = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..size.work + size.threads {
            scope.spawn(|| {
                let mut sold = sold.lock().unwrap();
                if *sold < size.work {
                    *sold += 1;
                }
            });
        }
    });
    let sold = *sold.lock().unwrap();
    racelog::check!(sold <= size.work, "no seat is sold twice");
}
