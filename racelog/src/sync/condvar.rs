//! Mirror of [`std::sync::Condvar`].
//!
//! It does not wrap std's: the trace says which thread was notified, so the mirror has to choose
//! it. See [`Waiters`](super::waiters::Waiters). There are no spurious wake-ups.

use std::fmt;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::mutex::MutexGuard;
use super::poisoning::{ExclusiveGuard, map_guard};
use super::waiters::condvar_items;
use crate::rt::CallSite;
use crate::sched::{Action, Deadline};

condvar_items!("std::sync");

impl WaitTimeoutResult {
    /// As [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// As [`std::sync::Condvar::wait`].
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let here = Some(CallSite::caller());
        match self.wait_until(guard, None, here) {
            Ok((guard, _)) => Ok(guard),
            Err(poison) => Err(PoisonError::new(poison.into_inner().0)),
        }
    }

    /// As [`std::sync::Condvar::wait_while`].
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`std::sync::Condvar::wait_timeout_ms`].
    #[deprecated(since = "1.6.0", note = "replaced by `std::sync::Condvar::wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(poison) => {
                let (guard, result) = poison.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// As [`std::sync::Condvar::wait_timeout`].
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        self.wait_until(guard, Deadline::after(dur), Some(CallSite::caller()))
    }

    /// As [`std::sync::Condvar::wait_timeout_while`].
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let here = Some(CallSite::caller());
        let deadline = Deadline::after(dur);
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if deadline.is_some_and(|deadline| deadline.has_passed(Action::Wait, here)) {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            guard = self.wait_until(guard, deadline, here)?.0;
        }
    }

    /// As [`std::sync::Condvar::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) {
        self.waiters.notify_one(Some(CallSite::caller()));
    }

    /// As [`std::sync::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) {
        self.waiters.notify_all(Some(CallSite::caller()));
    }

    fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Option<Deadline>,
        here: Option<CallSite>,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let mutex = guard.0.lock();
        guard.0.end_loan();
        let lock = &mutex.record.meta.lock;
        self.waiters.about_to_wait(lock, here);
        let wait = self.waiters.begin(lock, Deadline::patience(deadline), here);
        // The guard knows that it has nothing to give back any more.
        drop(guard.0.into_inner());
        let (is_free, relock) = (|| mutex.is_free(), || mutex.inner.lock());
        let (inner, notified) = self.waiters.wait(wait, lock, (deadline, here), &is_free, relock);
        let result = WaitTimeoutResult(!notified);
        mutex.record.meta.found(inner.is_err(), here);
        map_guard(inner, |inner| (MutexGuard(ExclusiveGuard::new(mutex, inner, here)), result))
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
