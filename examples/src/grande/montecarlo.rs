//! Paths of a price are tried at random, and their ends collected.
//!
//! Each thread takes its share of the paths, with numbers that depend on nothing but the path, and
//! appends the results to a list under its lock. The rate of interest is set up by the thread that
//! comes first.
//!
//! Bugs: who comes first is found out without a lock, so several set it up, while others read it.
//! All write the same value: harmless but for undefined behaviour. In `montecarlo_fixed` it is a
//! `OnceLock`.
//!
//! Work: paths of each thread.

use racelog::cell::Shared;
use racelog::sync::{Mutex, OnceLock};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// Steps of a path.
const STEPS: usize = 20;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "montecarlo",
    about: "what is the same for all is set up by several at once",
    origin: Origin::JavaGrande,
    source: Source { file: file!(), text: include_str!("montecarlo.rs") },
    run: |size| {
        let setup = Setup::default();
        run(size, &|| set_up(&setup));
    },
    small: Size::new(2, 1),
    large: Size::new(8, 160_000),
    races: &[
        Race::new("ready-read", "ready-write", Harm::Benign, "it is set up twice"),
        Race::new("ready-write", "ready-write", Harm::Benign, "both say that it is ready"),
        Race::new("rate-write", "rate-write", Harm::Benign, "both write the same"),
        Race::new("rate-write", "rate-read", Harm::Benign, "the same is written once more"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "montecarlo_fixed",
    about: "as `montecarlo`, with a `OnceLock`",
    run: |size| {
        let rate = OnceLock::new();
        run(size, &|| *rate.get_or_init(rate_of_interest));
    },
    races: &[],
    ..PROGRAM
};

#[derive(Default)]
struct Setup {
    is_ready: Shared<bool>,
    rate: Shared<f64>,
}

fn rate_of_interest() -> f64 {
    1.0 / 1024.0
}

fn run(size: &Size, rate: &(dyn Fn() -> f64 + Sync)) {
    let ends = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for me in 0..size.threads {
            let ends = &ends;
            scope.spawn(move || {
                for path in 0..size.work {
                    let end = walk(me * size.work + path, rate());
                    ends.lock().unwrap().push(end);
                }
            });
        }
    });
    let ends = ends.into_inner().unwrap();
    racelog::check!(ends.len() == size.threads * size.work, "all paths have an end");
}

#[racelog::instrument]
fn set_up(setup: &Setup) -> f64 {
    let is_ready = setup.is_ready.get(); // [ready-read]
    if !is_ready {
        setup.rate.set(rate_of_interest()); // [rate-write]
        setup.is_ready.set(true); // [ready-write]
    }
    setup.rate.get() // [rate-read]
}

/// Where a path ends.
fn walk(path: usize, rate: f64) -> f64 {
    let mut state = path as u64 + 1;
    (0..STEPS).fold(1.0, |price, _| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let up = if state >> 63 == 0 { 1.01 } else { 0.99 };
        price * up * (1.0 + rate)
    })
}
