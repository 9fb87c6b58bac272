//! A hand-written `Arc`: the value is in a box, with the number of those who share it; the last of
//! them takes the box apart.
//!
//! Bug: the number is counted down with `Relaxed`. The last one knows that it is the last, but need
//! not see what the others have done to the value. In `arc_fixed` it is counted down with
//! `Release`, and the last one has an `Acquire` fence.
//!
//! Work: how often each owner looks at the value.

use std::ptr::NonNull;

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicUsize, Ordering, fence};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("arc.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "arc",
    about: "a hand-written `Arc` that counts down with `Relaxed`",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| share::<false>(size),
    small: Size::new(2, 1),
    large: Size::new(4, 20_000),
    races: &[
        Race::new("look", "bury", Harm::BrokenInvariant, "the value goes while one still looks")
            .weak(),
        Race::new("look", "free", Harm::BrokenInvariant, "the box goes while one still looks")
            .weak(),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "arc_fixed",
    about: "as `arc`, counted down with `Release`, and `Acquire` for the last",
    run: |size| share::<true>(size),
    races: &[],
    ..PROGRAM
};

const ALIVE: u64 = 1;
const DEAD: u64 = 0;

struct Inner {
    owners: AtomicUsize,
    value: UnsafeCell<u64>,
}

/// One owner of a shared value. Whether it orders what the owners do is the difference.
struct Counted<const ORDERED: bool>(NonNull<Inner>);

// SAFETY: owners only read the value, and the last of them is alone with it; if `ORDERED`, it is so
// also by the memory model. If not, this is not held to.
unsafe impl<const ORDERED: bool> Send for Counted<ORDERED> {}

impl<const ORDERED: bool> Counted<ORDERED> {
    fn new() -> Self {
        let inner = Inner { owners: AtomicUsize::new(1), value: UnsafeCell::new(ALIVE) };
        Self(NonNull::from(Box::leak(Box::new(inner))))
    }

    fn inner(&self) -> &Inner {
        // SAFETY: the box lives as long as there are owners, and this is one.
        unsafe { self.0.as_ref() }
    }
}

#[racelog::instrument]
impl<const ORDERED: bool> Counted<ORDERED> {
    fn look(&self) -> u64 {
        let inner = self.inner();
        // SAFETY: there is an owner, so nobody writes.
        unsafe { *inner.value.get() } // [look]
    }
}

impl<const ORDERED: bool> Clone for Counted<ORDERED> {
    fn clone(&self) -> Self {
        self.inner().owners.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

#[racelog::instrument]
impl<const ORDERED: bool> Drop for Counted<ORDERED> {
    fn drop(&mut self) {
        let inner = self.inner();
        let ordering = if ORDERED { Ordering::Release } else { Ordering::Relaxed };
        let owners = inner.owners.fetch_sub(1, ordering);
        if owners == 1 {
            if ORDERED {
                fence(Ordering::Acquire);
            }
            // SAFETY: this is the last owner; if not `ORDERED`, others may still look.
            unsafe { *inner.value.get() = DEAD }; // [bury]
            // SAFETY: it came from a box, and is used no more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) }); // [free]
        }
    }
}

fn share<const ORDERED: bool>(size: &Size) {
    let first = Counted::<ORDERED>::new();
    thread::scope(|scope| {
        for _ in 0..size.threads {
            let owner = first.clone();
            scope.spawn(move || {
                for _ in 0..size.work {
                    racelog::check!(owner.look() == ALIVE, "what is owned is alive");
                }
            });
        }
        drop(first);
    });
}
