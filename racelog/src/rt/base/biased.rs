//! A spin lock that costs the thread which made it next to nothing.
//!
//! That thread says that it is busy, and looks whether others have come, without a fence. The first
//! other that comes makes the fence for both ([`fence`](super::fence)): from then on it is a spin
//! lock as any other. After Dice, Moir and Scherer, "Quickly Reacquirable Locks" (2003), without
//! their coming back.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

use super::fence;
use super::spin::wait_a_little;

/// A spin lock, as [`Spin`](super::spin::Spin), that may belong to a thread.
#[derive(Debug)]
pub(crate) struct Biased<T> {
    /// The thread that it belongs to, until others come.
    owner: usize,
    /// The owner is within, as long as no others have come.
    is_busy: AtomicBool,
    /// Others have come, or it never belonged to anybody. Never taken back.
    is_shared: AtomicBool,
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through the guard, which one thread has at a time.
unsafe impl<T: Send> Sync for Biased<T> {}

/// What tells the calling thread from all others that live.
#[inline(never)]
fn own_address() -> usize {
    std::thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl<T> Biased<T> {
    /// A lock that belongs to the calling thread, if it is to and the system can.
    pub(crate) fn new(value: T, belongs: bool) -> Self {
        let belongs = belongs && fence::is_available();
        Self {
            owner: if belongs { own_address() } else { 0 },
            is_busy: AtomicBool::new(false),
            is_shared: AtomicBool::new(!belongs),
            is_locked: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> BiasedGuard<'_, T> {
        if self.owner != 0 && self.enter() {
            return BiasedGuard { lock: self, belongs: true };
        }
        let mut tries = 0;
        while self.is_locked.swap(true, Ordering::Acquire) {
            while self.is_locked.load(Ordering::Relaxed) {
                wait_a_little(&mut tries);
            }
        }
        self.share();
        BiasedGuard { lock: self, belongs: false }
    }

    /// The guard, if it can be had without waiting.
    pub(crate) fn try_lock(&self) -> Option<BiasedGuard<'_, T>> {
        if self.is_busy.load(Ordering::Relaxed) {
            return None;
        }
        if self.owner != 0 && self.enter() {
            return Some(BiasedGuard { lock: self, belongs: true });
        }
        if self.is_locked.swap(true, Ordering::Acquire) {
            return None;
        }
        self.share();
        Some(BiasedGuard { lock: self, belongs: false })
    }

    /// Whether the calling thread is the owner and within, for no others have come.
    #[inline]
    fn enter(&self) -> bool {
        if self.owner != own_address() {
            return false;
        }
        self.is_busy.store(true, Ordering::Relaxed);
        // For the processor, others make the fence that is needed here.
        compiler_fence(Ordering::SeqCst);
        let enters = !self.is_shared.load(Ordering::Relaxed);
        if !enters {
            self.is_busy.store(false, Ordering::Release);
        }
        enters
    }

    /// The calling thread, which has the spin lock, waits until the owner is not within.
    fn share(&self) {
        if !self.is_shared.load(Ordering::Relaxed) {
            self.is_shared.store(true, Ordering::SeqCst);
            // Now either the owner sees that, or it is seen here that it is busy.
            fence::everywhere();
        }
        let mut tries = 0;
        while self.is_busy.load(Ordering::Acquire) {
            wait_a_little(&mut tries);
        }
    }
}

pub(crate) struct BiasedGuard<'a, T> {
    lock: &'a Biased<T>,
    /// The calling thread is the owner, and no others had come.
    belongs: bool,
}

impl<T> Deref for BiasedGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only way to the value while it lives.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for BiasedGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only way to the value while it lives.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for BiasedGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let flag = if self.belongs { &self.lock.is_busy } else { &self.lock.is_locked };
        flag.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// The owner is busy when the others come, at some moment or other.
    #[test]
    fn one_at_a_time() {
        for round in 0..200 {
            let lock = Biased::new((0, 0), true);
            let add = |times: u32| {
                for _ in 0..times {
                    let mut value = lock.lock();
                    value.0 += 1;
                    assert_eq!(value.0, value.1 + 1);
                    value.1 += 1;
                }
            };
            thread::scope(|scope| {
                scope.spawn(|| {
                    (0..round * 20).for_each(|_| std::hint::spin_loop());
                    add(50);
                });
                add(2000);
            });
            assert_eq!(*lock.lock(), (2050, 2050));
        }
    }

    #[test]
    fn who_has_it_does_not_get_it_again() {
        for belongs in [true, false] {
            let lock = Biased::new(7, belongs);
            let guard = lock.lock();
            assert!(lock.try_lock().is_none());
            drop(guard);
            assert_eq!(lock.try_lock().map(|guard| *guard), Some(7));
            thread::scope(|scope| {
                let other = scope.spawn(|| lock.try_lock().map(|guard| *guard));
                assert_eq!(other.join().unwrap(), Some(7));
            });
            let guard = lock.lock();
            thread::scope(|scope| {
                assert!(scope.spawn(|| lock.try_lock().is_none()).join().unwrap());
            });
            drop(guard);
        }
    }
}
