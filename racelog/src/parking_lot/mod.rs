//! Mirror of the crate [`parking_lot`], version 0.12.
//!
//! The raw locks are ours: each holds one of `parking_lot`'s, which does the locking, and records
//! what is done to it. Around them stand the same types of [`lock_api`] as in `parking_lot`, so
//! that all that it offers is there. Without the feature `record` this module is `parking_lot`
//! itself.
//!
//! # What is recorded
//!
//! - `lock_api`'s guards do not tell what they are used for. So a thread that takes a lock, in any
//!   way, is recorded as reading the data at once. A thread that gives an exclusive lock back is
//!   recorded as reading and writing the data right before. The data is one variable with opaque
//!   values. That is never too little, but holders that touch nothing are kept in order as if they
//!   did.
//! - In the trace a lock is exclusive or shared. An `RwLock` counts as two: `l` for the data, and
//!   `u` for the right to become a writer. A reader has `l` shared, an upgradable reader has `u`
//!   and `l` shared, a writer has `u` and `l`. Who upgrades or downgrades keeps `u` while `l`
//!   changes, so that no writer comes between.
//! - A failed attempt is recorded if the trace knows who is in the way. It does not if that is a
//!   writer who still waits for readers.
//! - `is_locked` and `is_locked_exclusive` count as failed attempts if they are true, and otherwise
//!   as taking the lock and giving it back.
//! - Only the outermost lock of a `ReentrantMutex` is a lock in the trace.
//!
//! # Limits
//!
//! - `get_mut` and `data_ptr` bypass the raw locks and are not recorded. Destruction and
//!   `into_inner` are.
//! - Events are where the program calls `lock_api`; giving an exclusive lock back is where it was
//!   taken, giving a shared lock back by a guard's drop is nowhere. What `unlocked` takes again
//!   when its closure returns is in `lock_api`.
//! - `{:?}` of a lock takes it, and that is recorded.
//! - What `Condvar::notify_one` and `notify_all` return is not bound in other executions.
//! - Between `u` and `l` a `try_write` that succeeded in the observed run may stop in others, while
//!   a reader has `l`; there it would have failed instead.
//! - A guard that goes to another thread, which `parking_lot`'s feature `send_guard` allows, leaves
//!   a trace in which that thread gives back what it does not have.
//! - Absent are the module `deadlock`, the aliases of the feature `arc_lock`, and what a condition
//!   variable does to a lock's queue: those notified are not requeued, they compete for the lock.
//!
//! Under control, a run that is over while a thread takes a lock again at the end of `unlocked` or
//! `bump` may give that lock back once too often: nothing of such a run counts any more.
//!
//! # Version 0.13
//!
//! It differs in what programs see: `read_recursive` and its kin moved to a type of their own,
//! `RecursiveRwLock`; `const_mutex` and its kin are gone; `lock_api`'s raw traits hand out a state
//! with each lock, and `Condvar` is generic. Programs that use it cannot use this mirror.

mod condvar;
mod once;

#[cfg(test)]
mod controlled_tests;
#[cfg(test)]
mod tests;

use crate::raw_locks;

pub use ::lock_api;
pub use ::parking_lot::{OnceState, RawThreadId};

pub use condvar::{Condvar, WaitTimeoutResult};
pub use once::Once;

/// The lock below a [`Mutex`], as [`parking_lot::RawMutex`].
pub type RawMutex = raw_locks::RawMutex<::parking_lot::RawMutex>;
/// The lock below a [`FairMutex`], as [`parking_lot::RawFairMutex`].
pub type RawFairMutex = raw_locks::RawMutex<::parking_lot::RawFairMutex>;
/// The lock below an [`RwLock`], as [`parking_lot::RawRwLock`].
pub type RawRwLock = raw_locks::RawRwLock<::parking_lot::RawRwLock>;

/// As [`parking_lot::Mutex`].
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// As [`parking_lot::MutexGuard`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// As [`parking_lot::MappedMutexGuard`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// As [`parking_lot::FairMutex`].
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// As [`parking_lot::FairMutexGuard`].
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// As [`parking_lot::MappedFairMutexGuard`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// As [`parking_lot::ReentrantMutex`].
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// As [`parking_lot::ReentrantMutexGuard`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// As [`parking_lot::MappedReentrantMutexGuard`].
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// As [`parking_lot::RwLock`].
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// As [`parking_lot::RwLockReadGuard`].
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// As [`parking_lot::RwLockWriteGuard`].
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// As [`parking_lot::RwLockUpgradableReadGuard`].
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// As [`parking_lot::MappedRwLockReadGuard`].
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// As [`parking_lot::MappedRwLockWriteGuard`].
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// As [`parking_lot::const_mutex`].
pub const fn const_mutex<T>(val: T) -> Mutex<T> {
    Mutex::const_new(<RawMutex as lock_api::RawMutex>::INIT, val)
}

/// As [`parking_lot::const_fair_mutex`].
pub const fn const_fair_mutex<T>(val: T) -> FairMutex<T> {
    FairMutex::const_new(<RawFairMutex as lock_api::RawMutex>::INIT, val)
}

/// As [`parking_lot::const_reentrant_mutex`].
pub const fn const_reentrant_mutex<T>(val: T) -> ReentrantMutex<T> {
    ReentrantMutex::const_new(
        <RawMutex as lock_api::RawMutex>::INIT,
        <RawThreadId as lock_api::GetThreadId>::INIT,
        val,
    )
}

/// As [`parking_lot::const_rwlock`].
pub const fn const_rwlock<T>(val: T) -> RwLock<T> {
    RwLock::const_new(<RawRwLock as lock_api::RawRwLock>::INIT, val)
}
