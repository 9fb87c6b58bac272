//! A ring buffer for one producer and one consumer: two counters say how many places were ever
//! filled and emptied.
//!
//! Bug: the producer counts a place as filled before it fills it, so the consumer may read what is
//! not there yet. In `ring_fixed` it fills first.
//!
//! Work: how many numbers go through. There are always two threads.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicUsize, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("ring.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "ring",
    about: "a ring buffer whose places count as filled before they are",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| pass(size, push_early),
    small: Size::new(2, 3),
    large: Size::new(2, 50_000),
    races: &[Race::new(
        "fill-late",
        "take",
        Harm::StaleRead,
        "the place is read before it is filled",
    )],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "ring_fixed",
    about: "as `ring`, but places are filled before they count",
    run: |size| pass(size, push),
    races: &[],
    ..PROGRAM
};

const PLACES: usize = 2;

#[derive(Default)]
struct Ring {
    places: [UnsafeCell<usize>; PLACES],
    filled: AtomicUsize,
    emptied: AtomicUsize,
}

// SAFETY: the counters say whose turn each place is; for one producer and one consumer.
unsafe impl Sync for Ring {}

#[racelog::instrument]
fn push(ring: &Ring, value: usize) -> bool {
    let filled = ring.filled.load(Ordering::Relaxed);
    if filled - ring.emptied.load(Ordering::Acquire) == PLACES {
        return false;
    }
    // SAFETY: the place is empty, and only this thread fills places.
    unsafe { *ring.places[filled % PLACES].get() = value };
    ring.filled.store(filled + 1, Ordering::Release);
    true
}

#[racelog::instrument]
fn push_early(ring: &Ring, value: usize) -> bool {
    let filled = ring.filled.load(Ordering::Relaxed);
    if filled - ring.emptied.load(Ordering::Acquire) == PLACES {
        return false;
    }
    ring.filled.store(filled + 1, Ordering::Release);
    // SAFETY: none, the place counts as filled: the consumer may be there.
    unsafe { *ring.places[filled % PLACES].get() = value }; // [fill-late]
    true
}

#[racelog::instrument]
fn pop(ring: &Ring) -> Option<usize> {
    let emptied = ring.emptied.load(Ordering::Relaxed);
    if emptied == ring.filled.load(Ordering::Acquire) {
        return None;
    }
    // SAFETY: the place is filled, if `push` filled it, and only this thread empties places.
    let value = unsafe { *ring.places[emptied % PLACES].get() }; // [take]
    ring.emptied.store(emptied + 1, Ordering::Release);
    Some(value)
}

fn pass(size: &Size, push: fn(&Ring, usize) -> bool) {
    let ring = Ring::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1..=size.work {
                while !push(&ring, value) {
                    thread::yield_now();
                }
            }
        });
        for expected in 1..=size.work {
            let value = loop {
                match pop(&ring) {
                    Some(value) => break value,
                    None => thread::yield_now(),
                }
            };
            racelog::check!(value == expected, "what comes out is what went in");
        }
    });
}
