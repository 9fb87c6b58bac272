//! Sessions, and the logs that their threads write events to.

pub(in crate::rt) mod clocks;
mod define;
mod emit;
pub(in crate::rt) mod entries;
mod held;
pub(in crate::rt) mod kept;
pub(in crate::rt) mod kept_log;
mod looks;
pub(in crate::rt) mod owner;
pub(in crate::rt) mod pending;
mod repeated;
mod say;
pub(in crate::rt) mod saying;
pub(in crate::rt) mod session;
pub(in crate::rt) mod thread_log;
mod write;
