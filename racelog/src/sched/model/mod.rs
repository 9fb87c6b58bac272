//! The scheduler's knowledge of threads: their next operation, their place, how they wait.

pub(super) mod failure;
pub(super) mod intent;
pub(super) mod place;
pub(super) mod slot;
pub(super) mod turn;
