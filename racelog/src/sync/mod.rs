//! Mirrors of [`std::sync`].
//!
//! Each operation is done by std's, or as std does it, and recorded while it is exclusive on its
//! object. Signatures, poisoning, auto traits and layout are std's. See the user guide for what is
//! recorded.
//!
//! # `Arc` and `Weak`
//!
//! By default these are std's own, so that all that programs do with them works. Their counts are
//! then not recorded, and an order that only `Arc` enforces is invisible to the trace: that the
//! contents are dropped, or that `get_mut`, `make_mut`, `try_unwrap` or `into_inner` hand them out,
//! after all other owners are done with them. `cargo racelog` finds in the sources who goes by
//! these counts, and what it predicts there is doubtful until a replay has confirmed it.
//!
//! With the feature `recorded-arc` they are mirrors, and the order is in the trace. The price is an
//! event for each change of a count and each look at one, and what only std's own types can do:
//! above all, an `Arc<T>` does not coerce to an `Arc<dyn Trait>`, and no method takes
//! `self: Arc<Self>`. The type says what else is absent; a program that uses it does not compile.

#[cfg(feature = "recorded-arc")]
mod arc;
pub mod atomic;
mod barrier;
mod condvar;
#[cfg(test)]
mod guarded_tests;
mod lazy_lock;
pub(crate) mod lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
pub(crate) mod once_record;
pub(crate) mod once_value;
#[cfg(test)]
mod patience_tests;
mod poisoning;
#[cfg(all(test, target_os = "linux", not(miri)))]
mod request_tests;
mod rwlock;
pub(crate) mod waiters;

#[cfg(feature = "recorded-arc")]
pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
#[expect(deprecated, reason = "std has it")]
pub use once::ONCE_INIT;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(feature = "recorded-arc"))]
pub use std::sync::{Arc, Weak};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
