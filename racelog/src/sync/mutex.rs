//! Mirror of [`std::sync::Mutex`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockResult};

use super::poisoning::{
    ExclusiveGuard, RecordedLock, data_of, guard_items, lock_items, map_guard, map_try_guard,
};
use crate::rt::CallSite;

/// A mutual exclusion primitive, as [`std::sync::Mutex`].
///
/// What it guards is one variable of the trace: reading through the guard is a read, and writing
/// through it a read and a write.
pub struct Mutex<T: ?Sized>(pub(super) RecordedLock<std::sync::Mutex<T>, ()>);

/// Holds the lock, as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized>(
    pub(super) ExclusiveGuard<'a, std::sync::Mutex<T>, (), std::sync::MutexGuard<'a, T>>,
);

lock_items!(Mutex);
guard_items!(mut MutexGuard);

impl<T: ?Sized> Mutex<T> {
    /// As [`std::sync::Mutex::lock`].
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        map_guard(self.0.lock(Some(CallSite::caller())), MutexGuard)
    }

    /// As [`std::sync::Mutex::try_lock`].
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        map_try_guard(self.0.try_lock(Some(CallSite::caller())), MutexGuard)
    }
}
