//! The raw reader-writer lock.
//!
//! In the trace it is two locks: `l` for the data, and `u` for the right to become a writer, which
//! is the writers' own lock. A reader has `l` shared, a writer has `u` and `l`; see
//! [`upgrade`](super::upgrade) for the readers that can become writers. Of the two, `u` is taken
//! first and given back last.

use std::panic::RefUnwindSafe;
use std::time::{Duration, Instant};

use super::{ExclusiveMode, RecordedRaw};
use crate::rt::{CallSite, LockMeta, ThreadLog};
use crate::sched::{self, Action, Deadline};
use crate::sync::lock::{LockMode, look};
use crate::trace::{Op, Patience};

/// A recorded raw reader-writer lock: the lock below a [`lock_api::RwLock`].
pub struct RawRwLock<R>(pub(super) RecordedRaw<R, LockMeta>);

impl<R> RefUnwindSafe for RawRwLock<R> {}

impl<R: lock_api::RawRwLock> RawRwLock<R> {
    fn exclusive(&self) -> ExclusiveMode<'_, R, LockMeta> {
        ExclusiveMode(&self.0)
    }

    fn shared(&self) -> SharedMode<'_, R, impl Fn(&R) -> bool> {
        SharedMode { lock: &self.0, try_lock: R::try_lock_shared }
    }
}

impl<R: lock_api::RawRwLockRecursive> RawRwLock<R> {
    fn recursive(&self) -> SharedMode<'_, R, impl Fn(&R) -> bool> {
        SharedMode { lock: &self.0, try_lock: R::try_lock_shared_recursive }
    }
}

impl<R> RecordedRaw<R, LockMeta> {
    /// The calling thread, which would have waited that long, has taken the lock shared.
    #[inline]
    fn reader_entered(&self, patience: Patience, here: Option<CallSite>) {
        self.record.read_acquired(patience, here);
        self.record.meta.read(here);
    }

    /// The calling thread is about to give the lock back, which it holds shared.
    fn reader_leaves(&self, here: Option<CallSite>) {
        sched::point(Action::ReadUnlock, self.record.key(), here);
        self.record.read_releasing(here);
    }

    /// The writer is about to become a reader, and keeps `u` so far.
    pub(super) fn downgrading(&self, here: Option<CallSite>) {
        sched::point(Action::Downgrade, self.record.key(), here);
        self.record.meta.write(here);
        self.record.downgrading(here);
    }
}

/// Taking the lock shared, by `try_lock` if it has to be at once.
struct SharedMode<'a, R, F> {
    lock: &'a RecordedRaw<R, LockMeta>,
    try_lock: F,
}

impl<R: lock_api::RawRwLock, F: Fn(&R) -> bool> LockMode for SharedMode<'_, R, F> {
    type Token = ();
    type Held = ();

    const LOCK: Action = Action::ReadLock;
    const TRY_LOCK: Action = Action::TryReadLock;

    fn key(&self) -> usize {
        self.lock.record.key()
    }

    fn is_free(&self) -> bool {
        !self.lock.inner.is_locked_exclusive()
    }

    fn try_inner(&self) -> Option<()> {
        (self.try_lock)(&self.lock.inner).then_some(())
    }

    #[inline]
    fn record(&self, (): &(), patience: Patience, here: Option<CallSite>) {
        self.lock.reader_entered(patience, here);
    }

    fn record_failure(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        self.lock.record.meta.lock.failed(log, here, true)
    }

    fn operation(&self) -> Op {
        Op::ReadAcquire(self.lock.record.meta.lock.id())
    }

    fn hold(&self, (): (), _: Option<CallSite>) {}
}

// SAFETY: the lock is taken and given back as the inner one is, which keeps writers alone.
unsafe impl<R: lock_api::RawRwLock> lock_api::RawRwLock for RawRwLock<R> {
    const INIT: Self = Self(RecordedRaw::new(R::INIT));

    type GuardMarker = R::GuardMarker;

    #[track_caller]
    fn lock_shared(&self) {
        self.shared().lock(Some(CallSite::caller()), || self.0.inner.lock_shared());
    }

    #[track_caller]
    fn try_lock_shared(&self) -> bool {
        self.shared().try_lock(Some(CallSite::caller())).is_some()
    }

    unsafe fn unlock_shared(&self) {
        self.0.reader_leaves(None);
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock_shared() };
    }

    #[track_caller]
    fn lock_exclusive(&self) {
        self.exclusive().lock(Some(CallSite::caller()), || self.0.inner.lock_exclusive());
    }

    #[track_caller]
    fn try_lock_exclusive(&self) -> bool {
        self.exclusive().try_lock(Some(CallSite::caller())).is_some()
    }

    unsafe fn unlock_exclusive(&self) {
        self.0.exclusive_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock_exclusive() };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        let lock = &self.0.record.meta.lock;
        look(lock, false, Some(CallSite::caller()), || self.0.inner.is_locked())
    }

    #[track_caller]
    fn is_locked_exclusive(&self) -> bool {
        let lock = &self.0.record.meta.lock;
        look(lock, true, Some(CallSite::caller()), || self.0.inner.is_locked_exclusive())
    }
}

// SAFETY: as above.
unsafe impl<R: lock_api::RawRwLockFair> lock_api::RawRwLockFair for RawRwLock<R> {
    #[track_caller]
    unsafe fn unlock_shared_fair(&self) {
        self.0.reader_leaves(Some(CallSite::caller()));
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock_shared_fair() };
    }

    unsafe fn unlock_exclusive_fair(&self) {
        self.0.exclusive_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock_exclusive_fair() };
    }

    #[track_caller]
    unsafe fn bump_shared(&self) {
        let here = Some(CallSite::caller());
        self.0.reader_leaves(here);
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.bump_shared() };
        self.0.reader_entered(Patience::Forever, here);
    }

    #[track_caller]
    unsafe fn bump_exclusive(&self) {
        self.0.exclusive_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.bump_exclusive() };
        self.0.exclusive_entered(Some(CallSite::caller()));
    }
}

// SAFETY: as above.
unsafe impl<R: lock_api::RawRwLockDowngrade> lock_api::RawRwLockDowngrade for RawRwLock<R> {
    #[track_caller]
    unsafe fn downgrade(&self) {
        let here = Some(CallSite::caller());
        self.0.downgrading(here);
        self.0.record.writers_releasing(here);
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.downgrade() };
    }
}

// SAFETY: as above.
unsafe impl<R> lock_api::RawRwLockTimed for RawRwLock<R>
where
    R: lock_api::RawRwLockTimed<Duration = Duration, Instant = Instant>,
{
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::after(timeout));
        self.shared().lock_before(here, deadline, || self.0.inner.try_lock_shared_for(timeout))
    }

    #[track_caller]
    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Some(Deadline::at(timeout.into())));
        self.shared().lock_before(here, deadline, || self.0.inner.try_lock_shared_until(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::after(timeout));
        self.exclusive()
            .lock_before(here, deadline, || self.0.inner.try_lock_exclusive_for(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Some(Deadline::at(timeout.into())));
        self.exclusive()
            .lock_before(here, deadline, || self.0.inner.try_lock_exclusive_until(timeout))
    }
}

// SAFETY: as above.
unsafe impl<R: lock_api::RawRwLockRecursive> lock_api::RawRwLockRecursive for RawRwLock<R> {
    #[track_caller]
    fn lock_shared_recursive(&self) {
        let lock = || self.0.inner.lock_shared_recursive();
        self.recursive().lock(Some(CallSite::caller()), lock);
    }

    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        self.recursive().try_lock(Some(CallSite::caller())).is_some()
    }
}

// SAFETY: as above.
unsafe impl<R> lock_api::RawRwLockRecursiveTimed for RawRwLock<R>
where
    R: lock_api::RawRwLockRecursiveTimed<Duration = Duration, Instant = Instant>,
{
    #[track_caller]
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::after(timeout));
        let lock = || self.0.inner.try_lock_shared_recursive_for(timeout);
        self.recursive().lock_before(here, deadline, lock)
    }

    #[track_caller]
    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Some(Deadline::at(timeout.into())));
        let lock = || self.0.inner.try_lock_shared_recursive_until(timeout);
        self.recursive().lock_before(here, deadline, lock)
    }
}
