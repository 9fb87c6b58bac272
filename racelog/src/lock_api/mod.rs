//! Recorded raw locks, for every lock that is built on the crate [`lock_api`], 0.4:
//! `parking_lot`, whose mirror is made of them, `spin`, or one of your own.
//!
//! `RawMutex<R>` and `RawRwLock<R>` are the raw lock `R`, recorded: `R` does the locking, and the
//! wrapper has the traits of `lock_api` that `R` has. Put them where `R` would stand:
//!
//! ```
//! use racelog::lock_api::{RawMutex, lock_api};
//!
//! /// A lock that spins.
//! pub struct Spinning(std::sync::atomic::AtomicBool);
//!
//! // SAFETY: who sets the flag holds the lock.
//! unsafe impl lock_api::RawMutex for Spinning {
//!     const INIT: Self = Self(std::sync::atomic::AtomicBool::new(false));
//!     type GuardMarker = lock_api::GuardSend;
//! #   fn lock(&self) { while !self.try_lock() { std::hint::spin_loop(); } }
//! #   fn try_lock(&self) -> bool {
//! #       !self.0.swap(true, std::sync::atomic::Ordering::Acquire)
//! #   }
//! #   unsafe fn unlock(&self) { self.0.store(false, std::sync::atomic::Ordering::Release) }
//!     // …
//! }
//!
//! type Mutex<T> = lock_api::Mutex<RawMutex<Spinning>, T>;
//!
//! let sum = Mutex::new(1);
//! *sum.lock() += 1;
//! assert_eq!(sum.into_inner(), 2);
//! ```
//!
//! For `spin`, with its feature `lock_api`: `lock_api::Mutex<RawMutex<spin::Mutex<()>>, T>`. Without
//! the feature `record`, `RawMutex<R>` *is* `R`.
//!
//! An inner lock that uses racelog's atomics is recorded with all that it does; one that uses
//! `core`'s is recorded as the lock that it is, and so waits instead of spinning under control, and
//! takes part in deadlocks. The second is what you want. What is recorded is said at
//! the mirror of `parking_lot`.

pub use ::lock_api;

#[cfg(feature = "record")]
pub use crate::raw_locks::{RawMutex, RawRwLock};

/// The raw mutex itself: nothing is recorded.
#[cfg(not(feature = "record"))]
pub type RawMutex<R> = R;

/// The raw reader-writer lock itself: nothing is recorded.
#[cfg(not(feature = "record"))]
pub type RawRwLock<R> = R;

#[cfg(test)]
mod tests;
