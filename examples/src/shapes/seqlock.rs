//! A sequence lock: the writer makes a version odd, writes, and makes it even again; readers read
//! without waiting, and once more if the version was odd or has changed.
//!
//! Bug: the two numbers are plain memory, so they are read while they are written. What was read so
//! is thrown away, but to read it is undefined behaviour. In `seqlock_fixed` the numbers are
//! atomic.
//!
//! Work: how often the writer writes. There are `threads` readers, who read once each.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicUsize, Ordering, fence};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("seqlock.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "seqlock",
    about: "a sequence lock around plain memory",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| exchange(size, &Seqlock::default(), read, write),
    small: Size::new(1, 1),
    large: Size::new(4, 10_000),
    races: &[
        Race::new("write-left", "read-left", Harm::Benign, "what was read is thrown away"),
        Race::new("write-right", "read-right", Harm::Benign, "what was read is thrown away"),
    ],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "seqlock_fixed",
    about: "a sequence lock around atomics",
    run: |size| exchange(size, &SeqlockFixed::default(), read_fixed, write_fixed),
    races: &[],
    ..PROGRAM
};

#[derive(Default)]
struct Seqlock {
    version: AtomicUsize,
    left: UnsafeCell<usize>,
    right: UnsafeCell<usize>,
}

// SAFETY: not held to: readers do not keep the writer away.
unsafe impl Sync for Seqlock {}

/// For one writer.
#[racelog::instrument]
fn write(lock: &Seqlock, value: usize) {
    let version = lock.version.load(Ordering::Relaxed);
    lock.version.store(version + 1, Ordering::Relaxed);
    fence(Ordering::Release);
    // SAFETY: none, there may be readers.
    unsafe { *lock.left.get() = value }; // [write-left]
    // SAFETY: none, as above.
    unsafe { *lock.right.get() = value }; // [write-right]
    lock.version.store(version + 2, Ordering::Release);
}

/// What was read, if nobody wrote meanwhile.
#[racelog::instrument]
fn read(lock: &Seqlock) -> Option<(usize, usize)> {
    let before = lock.version.load(Ordering::Acquire);
    if before % 2 == 1 {
        return None;
    }
    // SAFETY: none, the writer may come at any time.
    let left = unsafe { *lock.left.get() }; // [read-left]
    // SAFETY: none, as above.
    let right = unsafe { *lock.right.get() }; // [read-right]
    fence(Ordering::Acquire);
    let after = lock.version.load(Ordering::Relaxed);
    (before == after).then_some((left, right))
}

#[derive(Default)]
struct SeqlockFixed {
    version: AtomicUsize,
    left: AtomicUsize,
    right: AtomicUsize,
}

#[racelog::instrument]
fn write_fixed(lock: &SeqlockFixed, value: usize) {
    let version = lock.version.load(Ordering::Relaxed);
    lock.version.store(version + 1, Ordering::Relaxed);
    fence(Ordering::Release);
    lock.left.store(value, Ordering::Relaxed);
    lock.right.store(value, Ordering::Relaxed);
    lock.version.store(version + 2, Ordering::Release);
}

#[racelog::instrument]
fn read_fixed(lock: &SeqlockFixed) -> Option<(usize, usize)> {
    let before = lock.version.load(Ordering::Acquire);
    if before % 2 == 1 {
        return None;
    }
    let left = lock.left.load(Ordering::Relaxed);
    let right = lock.right.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    let after = lock.version.load(Ordering::Relaxed);
    (before == after).then_some((left, right))
}

fn exchange<L: Sync>(
    size: &Size,
    lock: &L,
    read: fn(&L) -> Option<(usize, usize)>,
    write: fn(&L, usize),
) {
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| {
                let (left, right) = loop {
                    match read(lock) {
                        Some(both) => break both,
                        None => thread::yield_now(),
                    }
                };
                racelog::check!(left == right, "both numbers are of one write");
            });
        }
        (1..=size.work).for_each(|value| write(lock, value));
    });
}
