//! A spin lock around an `UnsafeCell`.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

use crate::{Program, turns, twice};

pub(crate) const PROGRAMS: &[Program] = &[
    ("spin", instrumented::spin, plain::spin),
    ("spin-bug", instrumented::spin_bug, plain::spin_bug),
];

struct Spin {
    taken: AtomicBool,
    value: UnsafeCell<i32>,
}

// SAFETY: the value is used only by whoever has taken the lock.
unsafe impl Sync for Spin {}

static SPIN: Spin = Spin { taken: AtomicBool::new(false), value: UnsafeCell::new(-1) };

twice! {
    fn take(spin: &Spin) {
        while spin
            .taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::hint::spin_loop();
        }
    }

    fn give_back(spin: &Spin) {
        spin.taken.store(false, Ordering::Release);
    }

    fn add(spin: &Spin, number: i32) {
        take(spin);
        // SAFETY: the lock is taken.
        unsafe { *spin.value.get() += number }; // update
        give_back(spin);
    }

    /// Gives the lock back too early.
    fn add_late(spin: &Spin, number: i32) {
        take(spin);
        give_back(spin);
        // SAFETY: none.
        unsafe { *spin.value.get() += number }; // late update
    }

    pub(crate) fn spin() {
        let second = thread::spawn(second);
        add(&SPIN, 3);
        turns::done();
        second.join().unwrap();
    }

    pub(crate) fn spin_bug() {
        let second = thread::spawn(second);
        add_late(&SPIN, 3);
        turns::done();
        second.join().unwrap();
    }

    fn second() {
        turns::wait_for(1);
        add(&SPIN, 4);
    }
}
