//! Mirror of [`std::sync::RwLock`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockResult};

use super::lock::LockMode;
use super::poisoning::{
    ExclusiveGuard, RecordedLock, SharedGuard, data_of, guard_items, lock_items, map_guard,
    map_try_guard, try_result, without_waiting,
};
use crate::rt::{CallSite, LockMeta, ThreadLog};
#[cfg(std_since = "1.92")]
use crate::sched;
use crate::sched::Action;
use crate::trace::{Op, Patience};

/// Whether a thread that waits to write keeps new readers out. On Linux it does; std promises
/// neither.
const WRITERS_FIRST: bool = cfg!(target_os = "linux");

type Lock<T> = RecordedLock<std::sync::RwLock<T>, LockMeta>;

/// A reader-writer lock, as [`std::sync::RwLock`].
///
/// What it guards is one variable of the trace. Writers take two locks there: one that all share
/// with readers, and before it one of their own.
pub struct RwLock<T: ?Sized>(Lock<T>);

/// Holds the lock shared, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized>(
    SharedGuard<'a, std::sync::RwLock<T>, std::sync::RwLockReadGuard<'a, T>>,
);

/// Holds the lock exclusively, as [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized>(
    ExclusiveGuard<'a, std::sync::RwLock<T>, LockMeta, std::sync::RwLockWriteGuard<'a, T>>,
);

lock_items!(RwLock);
guard_items!(RwLockReadGuard);
guard_items!(mut RwLockWriteGuard);

impl<T: ?Sized> RwLock<T> {
    /// As [`std::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        Reading(&self.0).lock(Some(CallSite::caller()), || self.0.inner.read())
    }

    /// As [`std::sync::RwLock::try_read`].
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        try_result(Reading(&self.0).try_lock(Some(CallSite::caller())))
    }

    /// As [`std::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        map_guard(self.0.lock(Some(CallSite::caller())), RwLockWriteGuard)
    }

    /// As [`std::sync::RwLock::try_write`].
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        map_try_guard(self.0.try_lock(Some(CallSite::caller())), RwLockWriteGuard)
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// As [`std::sync::RwLockWriteGuard::downgrade`].
    #[cfg(std_since = "1.92")]
    #[clippy::msrv = "1.92"]
    #[track_caller]
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let here = Some(CallSite::caller());
        let lock = guard.0.lock();
        guard.0.end_loan();
        sched::point(Action::Downgrade, lock.record.key(), here);
        let inner = guard.0.into_inner();
        lock.record.downgrading(here);
        lock.record.writers_releasing(here);
        let inner = std::sync::RwLockWriteGuard::downgrade(inner);
        RwLockReadGuard(SharedGuard::new(lock, inner, here))
    }
}

/// Taking the lock shared.
struct Reading<'a, T: ?Sized>(&'a Lock<T>);

impl<'a, T: ?Sized> LockMode for Reading<'a, T> {
    type Token = LockResult<std::sync::RwLockReadGuard<'a, T>>;
    type Held = LockResult<RwLockReadGuard<'a, T>>;

    const LOCK: Action = Action::ReadLock;
    const TRY_LOCK: Action = Action::TryReadLock;
    const AFTER_WRITERS: bool = WRITERS_FIRST;

    fn key(&self) -> usize {
        self.0.record.key()
    }

    fn is_free(&self) -> bool {
        self.try_inner().is_some()
    }

    fn try_inner(&self) -> Option<Self::Token> {
        without_waiting(self.0.inner.try_read())
    }

    #[inline]
    fn record(&self, token: &Self::Token, patience: Patience, here: Option<CallSite>) {
        if WRITERS_FIRST {
            self.0.record.read_acquired_fairly(patience, here);
        } else {
            self.0.record.read_acquired(patience, here);
        }
        self.0.record.meta.found(token.is_err(), here);
    }

    fn record_failure(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        self.0.record.meta.lock.failed(log, here, true)
    }

    fn operation(&self) -> Op {
        Op::ReadAcquire(self.0.record.meta.lock.id())
    }

    #[inline]
    fn hold(&self, token: Self::Token, here: Option<CallSite>) -> Self::Held {
        map_guard(token, |inner| RwLockReadGuard(SharedGuard::new(self.0, inner, here)))
    }
}
