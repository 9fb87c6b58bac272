//! The condition variable.

use std::fmt;
use std::time::Duration;

use lock_api::RawMutex as _;

use super::{MutexGuard, RawMutex};
use crate::rt::CallSite;
use crate::sched::{self, Action, Deadline};
use crate::sync::waiters::condvar_items;
use crate::time::Instant;

condvar_items!("parking_lot");

impl WaitTimeoutResult {
    /// As [`parking_lot::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// As [`parking_lot::Condvar::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.waiters.notify_one(Some(CallSite::caller()))
    }

    /// As [`parking_lot::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.waiters.notify_all(Some(CallSite::caller()))
    }

    /// As [`parking_lot::Condvar::wait`].
    ///
    /// # Panics
    ///
    /// If others wait with another mutex.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>) {
        self.wait_deadline(mutex_guard, None, Some(CallSite::caller()));
    }

    /// As [`parking_lot::Condvar::wait_until`].
    ///
    /// # Panics
    ///
    /// If others wait with another mutex.
    #[track_caller]
    pub fn wait_until<T: ?Sized>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        timeout: impl Into<Instant>,
    ) -> WaitTimeoutResult {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::at(timeout.into()));
        self.wait_deadline(mutex_guard, Some(deadline), here)
    }

    /// As [`parking_lot::Condvar::wait_for`].
    ///
    /// # Panics
    ///
    /// If others wait with another mutex.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        self.wait_deadline(mutex_guard, Deadline::after(timeout), Some(CallSite::caller()))
    }

    /// As [`parking_lot::Condvar::wait_while`].
    ///
    /// # Panics
    ///
    /// If others wait with another mutex.
    #[track_caller]
    pub fn wait_while<T, F>(&self, mutex_guard: &mut MutexGuard<'_, T>, condition: F)
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_deadline(mutex_guard, condition, None, Some(CallSite::caller()));
    }

    /// As [`parking_lot::Condvar::wait_while_until`].
    ///
    /// # Panics
    ///
    /// If others wait with another mutex.
    #[track_caller]
    pub fn wait_while_until<T, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: impl Into<Instant>,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::at(timeout.into()));
        self.wait_while_deadline(mutex_guard, condition, Some(deadline), here)
    }

    /// As [`parking_lot::Condvar::wait_while_for`].
    ///
    /// # Panics
    ///
    /// If others wait with another mutex.
    #[track_caller]
    pub fn wait_while_for<T: ?Sized, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        let here = Some(CallSite::caller());
        self.wait_while_deadline(mutex_guard, condition, Deadline::after(timeout), here)
    }

    fn wait_while_deadline<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        deadline: Option<Deadline>,
        here: Option<CallSite>,
    ) -> WaitTimeoutResult {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(&mut **guard) {
            result = self.wait_deadline(guard, deadline, here);
        }
        result
    }

    #[track_caller]
    fn wait_deadline<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Option<Deadline>,
        here: Option<CallSite>,
    ) -> WaitTimeoutResult {
        // SAFETY: the lock is given back only while the guard, which is borrowed, is out of use.
        let mutex: &RawMutex = unsafe { MutexGuard::mutex(guard).raw() };
        let raw = &mutex.0;
        let lock = &raw.record.meta.lock;
        self.waiters.about_to_wait(lock, here);
        raw.record.meta.write(here);
        let patience = Deadline::patience(deadline);
        let Some(wait) = self.waiters.begin_with_one_lock(lock, patience, here) else {
            panic!("attempted to use a condition variable with more than one mutex");
        };
        // SAFETY: the guard holds the lock.
        unsafe { raw.inner.unlock() };
        let relock = Relock { mutex, here };
        let relock = || {
            std::mem::forget(relock);
            raw.inner.lock();
        };
        let is_free = || mutex.is_free();
        let ((), notified) = self.waiters.wait(wait, lock, (deadline, here), &is_free, relock);
        raw.entered(here);
        WaitTimeoutResult(!notified)
    }
}

/// Takes the lock again for a guard that outlives a wait which ends by a panic.
struct Relock<'a> {
    mutex: &'a RawMutex,
    here: Option<CallSite>,
}

impl Drop for Relock<'_> {
    fn drop(&mut self) {
        let raw = &self.mutex.0;
        sched::block_on(Action::Lock, raw.record.key(), self.here, || self.mutex.is_free());
        raw.inner.lock();
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
