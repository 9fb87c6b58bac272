//! The example of the PLDI 2014 paper, its Figure 1: one thread writes `x` and `y` under a lock;
//! the other reads `y` under the lock and then `x` without it, and is satisfied if they are the
//! same.
//!
//! Bug: `x` is read without the lock. In the run the lock happens to put the write before the read.
//! Since nothing depends on `y` before `x` is read, the second thread may as well come first. In
//! `figure1_switched` it is started by who holds the lock, so it cannot.
//!
//! Work: how often that is done. There are always two threads.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "figure1",
    about: "two variables that belong together, one of them read without the lock",
    origin: Origin::Fusion,
    source: Source { file: file!(), text: include_str!("figure1.rs") },
    run: |size| (0..size.work).for_each(|_| meet()),
    small: Size::new(1, 1),
    large: Size::new(1, 1_000),
    races: &[Race::new("write-x", "read-x", Harm::BrokenInvariant, "`x` and `y` are of two times")],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its twin, in which the second thread comes later.
pub static SWITCHED: Program = Program {
    name: "figure1_switched",
    about: "as `figure1`, but the second thread is started under the lock",
    run: |size| (0..size.work).for_each(|_| meet_switched()),
    races: &[],
    ..PROGRAM
};

#[derive(Default)]
struct Figure {
    lock: Mutex<()>,
    x: Shared<u32>,
    y: Shared<u32>,
    is_authenticated: Shared<bool>,
}

#[racelog::instrument]
fn meet() {
    let figure = Figure::default();
    thread::scope(|scope| {
        scope.spawn(|| authenticate(&figure));
        let _guard = figure.lock.lock().unwrap();
        set(&figure);
    });
    if !figure.is_authenticated.get() {
        println!("an error");
    }
}

#[racelog::instrument]
fn meet_switched() {
    let figure = Figure::default();
    thread::scope(|scope| {
        let _guard = figure.lock.lock().unwrap();
        scope.spawn(|| authenticate(&figure));
        set(&figure);
    });
    if !figure.is_authenticated.get() {
        println!("an error");
    }
}

#[racelog::instrument]
fn set(figure: &Figure) {
    figure.x.set(1); // [write-x]
    figure.y.set(1);
}

#[racelog::instrument]
fn authenticate(figure: &Figure) {
    let first = {
        let _guard = figure.lock.lock().unwrap();
        figure.y.get()
    };
    let second = figure.x.get(); // [read-x]
    if first == second {
        figure.is_authenticated.set(true);
    }
}
