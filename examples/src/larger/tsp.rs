//! The travelling salesman, by branch and bound.
//!
//! Threads take the first steps of tours from a queue under its lock, and follow each as long as it
//! is shorter than the best that is known. The best is written under a lock, after another look at
//! it.
//!
//! Bugs: the bounding test reads the best without the lock. The race is harmless: who reads an old
//! one does more than it had to. In `tsp_fixed` the best is an atomic.
//!
//! Work: cities.

use std::collections::VecDeque;

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicUsize, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "tsp",
    about: "the best tour is written under a lock and read without it: harmless",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("tsp.rs") },
    run: |size| run(size, &Guarded::new()),
    small: Size::new(2, 3),
    large: Size::new(4, 11),
    races: &[Race::new("bound", "improve", Harm::Benign, "an old bound only costs work")],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "tsp_fixed",
    about: "as `tsp`, with an atomic for the best tour",
    run: |size| run(size, &AtomicUsize::new(usize::MAX)),
    races: &[],
    ..PROGRAM
};

/// The length of the best tour that is known.
trait Best: Sync {
    fn bound(&self) -> usize;
    fn improve(&self, length: usize);
}

struct Guarded {
    lock: Mutex<()>,
    length: Shared<usize>,
}

impl Guarded {
    fn new() -> Self {
        Self { lock: Mutex::new(()), length: Shared::new(usize::MAX) }
    }
}

#[racelog::instrument]
impl Best for Guarded {
    fn bound(&self) -> usize {
        self.length.get() // [bound]
    }

    fn improve(&self, length: usize) {
        let _guard = self.lock.lock().unwrap();
        let best = self.length.get();
        if length < best {
            self.length.set(length); // [improve]
        }
    }
}

impl Best for AtomicUsize {
    fn bound(&self) -> usize {
        self.load(Ordering::Relaxed)
    }

    fn improve(&self, length: usize) {
        self.fetch_min(length, Ordering::Relaxed);
    }
}

/// The way between two cities. No two tours are alike.
fn distance(from: usize, to: usize) -> usize {
    100 + (from * 37 + to * 59) % 83
}

fn run(size: &Size, best: &impl Best) {
    // All start in city 0; the first step makes a piece of work.
    let queue: Mutex<VecDeque<usize>> = Mutex::new((1..size.work).collect());
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| {
                while let Some(second) = next(&queue) {
                    let mut tour = vec![0, second];
                    follow(&mut tour, distance(0, second), size.work, best);
                }
            });
        }
    });
    racelog::check!(size.work < 2 || best.bound() < usize::MAX, "there is a tour");
}

fn next(queue: &Mutex<VecDeque<usize>>) -> Option<usize> {
    queue.lock().unwrap().pop_front()
}

/// Tries all ways to go on.
fn follow(tour: &mut Vec<usize>, length: usize, cities: usize, best: &impl Best) {
    if length >= best.bound() {
        return;
    }
    let last = tour[tour.len() - 1];
    if tour.len() == cities {
        best.improve(length + distance(last, 0));
        return;
    }
    for city in 1..cities {
        if !tour.contains(&city) {
            tour.push(city);
            follow(tour, length + distance(last, city), cities, best);
            tour.pop();
        }
    }
}
