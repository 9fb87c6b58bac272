//! Spin locks, for sections that are short and run no code of the program.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A spin lock around the little that an operation does while it takes its stamp.
///
/// The sections that it guards are short and run no code of the program, so waiting is spinning.
#[derive(Debug)]
pub(crate) struct Spin<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through the guard, which one thread has at a time.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub(crate) fn lock(&self) -> SpinGuard<'_, T> {
        let mut tries = 0u32;
        while self.locked.swap(true, Ordering::Acquire) {
            while self.locked.load(Ordering::Relaxed) {
                wait_a_little(&mut tries);
            }
        }
        SpinGuard { spin: self }
    }

    /// The guard, if it can be had without waiting.
    pub(crate) fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        (!self.locked.swap(true, Ordering::Acquire)).then(|| SpinGuard { spin: self })
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// Waits for another thread, which will not be long unless it does not run.
pub(crate) fn wait_a_little(tries: &mut u32) {
    *tries += 1;
    if *tries % 64 == 0 {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

pub(crate) struct SpinGuard<'a, T> {
    spin: &'a Spin<T>,
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only way to the value while it lives.
        unsafe { &*self.spin.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only way to the value while it lives.
        unsafe { &mut *self.spin.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.spin.locked.store(false, Ordering::Release);
    }
}
