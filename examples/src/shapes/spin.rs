//! A spin lock around a counter.
//!
//! Bug: it is given back with `Relaxed`. Threads take turns all the same, so no schedule shows
//! anything; but what one of them has written need not be there yet for the next. In `spin_fixed`
//! the lock is given back with `Release`.
//!
//! Work: how often each thread adds one.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("spin.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "spin",
    about: "a spin lock that is given back with `Relaxed`",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| count(size, Ordering::Relaxed),
    small: Size::new(2, 2),
    large: Size::new(4, 20_000),
    races: &[Race::new("add", "add", Harm::LostUpdate, "the last count is not there yet").weak()],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "spin_fixed",
    about: "as `spin`, given back with `Release`",
    run: |size| count(size, Ordering::Release),
    races: &[],
    ..PROGRAM
};

struct Spin {
    taken: AtomicBool,
    count: UnsafeCell<usize>,
    /// How it is given back.
    give_back: Ordering,
}

// SAFETY: the count is used only by whoever has taken the lock. With `Relaxed` that is not held to:
// the one who takes it next does not see what was done before.
unsafe impl Sync for Spin {}

fn count(size: &Size, give_back: Ordering) {
    let spin = Spin { taken: AtomicBool::new(false), count: UnsafeCell::new(0), give_back };
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| (0..size.work).for_each(|_| add(&spin)));
        }
    });
    racelog::check!(spin.count.into_inner() == size.threads * size.work, "all are counted");
}

#[racelog::instrument]
fn add(spin: &Spin) {
    while spin.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
        thread::yield_now();
    }
    // SAFETY: the lock is taken; see above for what `Relaxed` makes of that.
    unsafe { *spin.count.get() += 1 }; // [add]
    spin.taken.store(false, spin.give_back);
}
