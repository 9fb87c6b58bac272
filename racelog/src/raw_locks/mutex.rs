//! The raw mutex.

use std::panic::RefUnwindSafe;
use std::time::{Duration, Instant};

use super::{ExclusiveMode, RecordedRaw};
use crate::rt::CallSite;
use crate::sched::Deadline;
use crate::sync::lock::{LockMode, look};

/// A recorded raw mutex: the lock below a [`lock_api::Mutex`].
pub struct RawMutex<R>(pub(crate) RecordedRaw<R, ()>);

impl<R> RefUnwindSafe for RawMutex<R> {}

impl<R: lock_api::RawMutex> RawMutex<R> {
    fn exclusive(&self) -> ExclusiveMode<'_, R, ()> {
        ExclusiveMode(&self.0)
    }

    /// Whether no thread holds the lock, for waits of condvars.
    #[cfg(feature = "parking_lot")]
    pub(crate) fn is_free(&self) -> bool {
        self.exclusive().is_free()
    }
}

// SAFETY: the lock is taken and given back as the inner one is, which is exclusive.
unsafe impl<R: lock_api::RawMutex> lock_api::RawMutex for RawMutex<R> {
    const INIT: Self = Self(RecordedRaw::new(R::INIT));

    type GuardMarker = R::GuardMarker;

    #[track_caller]
    fn lock(&self) {
        self.exclusive().lock(Some(CallSite::caller()), || self.0.inner.lock());
    }

    #[track_caller]
    fn try_lock(&self) -> bool {
        self.exclusive().try_lock(Some(CallSite::caller())).is_some()
    }

    unsafe fn unlock(&self) {
        self.0.exclusive_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock() };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        let lock = &self.0.record.meta.lock;
        look(lock, false, Some(CallSite::caller()), || self.0.inner.is_locked())
    }
}

// SAFETY: as above.
unsafe impl<R: lock_api::RawMutexFair> lock_api::RawMutexFair for RawMutex<R> {
    unsafe fn unlock_fair(&self) {
        self.0.exclusive_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock_fair() };
    }

    #[track_caller]
    unsafe fn bump(&self) {
        self.0.exclusive_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.bump() };
        self.0.exclusive_entered(Some(CallSite::caller()));
    }
}

// SAFETY: as above.
unsafe impl<R> lock_api::RawMutexTimed for RawMutex<R>
where
    R: lock_api::RawMutexTimed<Duration = Duration, Instant = Instant>,
{
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::after(timeout));
        self.exclusive().lock_before(here, deadline, || self.0.inner.try_lock_for(timeout))
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Some(Deadline::at(timeout.into())));
        self.exclusive().lock_before(here, deadline, || self.0.inner.try_lock_until(timeout))
    }
}
