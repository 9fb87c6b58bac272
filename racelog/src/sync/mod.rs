//! Mirrors of [`std::sync`].
//!
//! Each operation is done by std's, or as std does it, and recorded while it is exclusive on its
//! object. Signatures, poisoning, auto traits and layout are std's. See the user guide for what is
//! recorded.

pub mod atomic;
mod barrier;
mod condvar;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod rwlock;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
#[expect(deprecated, reason = "std has it")]
pub use once::ONCE_INIT;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

/// How often a failed attempt is made again before it is given up as not explainable.
const ATTEMPTS: usize = 1000;

/// Tries to take a lock, and to record it if that fails.
///
/// An attempt fails because somebody has the lock. That somebody may not have recorded it yet: then
/// the attempt is made again, until it succeeds or can be recorded as failed. If the holder is not
/// recorded at all, neither is the failure.
fn attempt<T>(
    take: impl Fn() -> Option<T>,
    record_failure: impl Fn() -> Option<bool>,
) -> Option<T> {
    for _ in 0..ATTEMPTS {
        let taken = take();
        if taken.is_some() || record_failure() != Some(false) {
            return taken;
        }
        std::thread::yield_now();
    }
    take()
}
