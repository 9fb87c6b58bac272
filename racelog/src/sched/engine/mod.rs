//! One run: whose turn it is.

pub(super) mod looks;
pub(super) mod monitor;
pub(super) mod run;
pub(super) mod state;
pub(super) mod system;
