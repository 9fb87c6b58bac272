//! Mirrors of [`std::thread`].
//!
//! A thread that a recorded thread spawns is recorded into the same trace. Thread-locals are no
//! shared memory: [`LocalKey`] and `thread_local!` are std's.

mod builder;
mod handle;
mod parking;
mod scoped;

pub use builder::{Builder, spawn};
pub use handle::JoinHandle;
pub use parking::{Thread, current, park, park_timeout};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use std::thread::{
    AccessError, LocalKey, Result, ThreadId, available_parallelism, panicking, sleep, yield_now,
};

#[allow(deprecated, reason = "what std has deprecated is still there")]
pub use parking::park_timeout_ms;
#[allow(deprecated, reason = "what std has deprecated is still there")]
pub use std::thread::sleep_ms;
