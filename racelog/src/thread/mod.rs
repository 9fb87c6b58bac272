//! Mirrors of [`std::thread`].
//!
//! A thread that a recorded thread spawns is recorded into the same trace. Thread-locals are no
//! shared memory, and leave no events.

mod builder;
#[cfg(fibers)]
mod fiber;
mod handle;
mod inner;
mod local;
mod parking;
mod pause;
mod scoped;

pub use builder::{Builder, spawn};
pub use handle::JoinHandle;
pub use local::{AccessError, LocalKey};
pub use parking::{Thread, current, park, park_timeout};
pub use pause::{sleep, yield_now};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use std::thread::{Result, ThreadId, available_parallelism, panicking};

#[allow(deprecated, reason = "what std has deprecated is still there")]
pub use parking::park_timeout_ms;
#[allow(deprecated, reason = "what std has deprecated is still there")]
pub use pause::sleep_ms;
