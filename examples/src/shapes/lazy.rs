//! A value that is made when it is first asked for, with double-checked locking: look, and only if
//! it is not there, take the lock, look again, and make it.
//!
//! Bug: the flag that is looked at without the lock is plain memory. It is read while it is
//! written; and who finds it set need not find the value. In `lazy_fixed` the flag is atomic, set
//! with `Release` and read with `Acquire`.
//!
//! Work: how often each thread asks.

use racelog::cell::UnsafeCell;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("lazy.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "lazy",
    about: "double-checked locking with a plain flag",
    origin: Origin::Shapes,
    source: SOURCE,
    run,
    small: Size::new(2, 2),
    large: Size::new(4, 20_000),
    races: &[
        Race::new("first-look", "say", Harm::StaleRead, "the flag is set while one looks"),
        Race::new("make", "use", Harm::BrokenInvariant, "the flag is there before the value")
            .weak(),
    ],
    goals: &[],
    schedule: "pct:3:60:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "lazy_fixed",
    about: "as `lazy`, with an atomic flag",
    run: run_fixed,
    races: &[],
    ..PROGRAM
};

/// What is made.
const VALUE: u64 = 42;

struct Lazy {
    lock: Mutex<()>,
    is_made: UnsafeCell<bool>,
    value: UnsafeCell<u64>,
}

// SAFETY: not held to: the flag is read without the lock that it is written under.
unsafe impl Sync for Lazy {}

#[racelog::instrument]
fn get(lazy: &Lazy) -> u64 {
    // SAFETY: none, it may be written at the same time.
    let is_made = unsafe { *lazy.is_made.get() }; // [first-look]
    if !is_made {
        let _guard = lazy.lock.lock().unwrap();
        // SAFETY: who writes the flag has the lock.
        let is_made = unsafe { *lazy.is_made.get() };
        if !is_made {
            // SAFETY: the flag is not set, so nobody reads; the lock is held, so nobody writes.
            unsafe { *lazy.value.get() = VALUE }; // [make]
            // SAFETY: none, others look at it without the lock.
            unsafe { *lazy.is_made.get() = true }; // [say]
        }
    }
    // SAFETY: the value is made, and from then on only read; but nothing says that it can be seen.
    unsafe { *lazy.value.get() } // [use]
}

fn run(size: &Size) {
    let (is_made, value) = (UnsafeCell::new(false), UnsafeCell::new(0));
    let lazy = Lazy { lock: Mutex::new(()), is_made, value };
    all_ask(size, || get(&lazy));
}

struct LazyFixed {
    lock: Mutex<()>,
    is_made: AtomicBool,
    value: UnsafeCell<u64>,
}

// SAFETY: the value is written once, by whoever has the lock and has not found the flag set, and
// read only by those who have found it set.
unsafe impl Sync for LazyFixed {}

#[racelog::instrument]
fn get_fixed(lazy: &LazyFixed) -> u64 {
    if !lazy.is_made.load(Ordering::Acquire) {
        let _guard = lazy.lock.lock().unwrap();
        if !lazy.is_made.load(Ordering::Relaxed) {
            // SAFETY: the flag is not set, so nobody reads; the lock is held, so nobody writes.
            unsafe { *lazy.value.get() = VALUE };
            lazy.is_made.store(true, Ordering::Release);
        }
    }
    // SAFETY: the flag was found set, or the lock was held after it was: the value is made, and
    // only read from now on.
    unsafe { *lazy.value.get() }
}

fn run_fixed(size: &Size) {
    let (is_made, value) = (AtomicBool::new(false), UnsafeCell::new(0));
    let lazy = LazyFixed { lock: Mutex::new(()), is_made, value };
    all_ask(size, || get_fixed(&lazy));
}

fn all_ask(size: &Size, get: impl Fn() -> u64 + Sync) {
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| {
                for _ in 0..size.work {
                    racelog::check!(get() == VALUE, "the value is made before it is used");
                }
            });
        }
    });
}
