//! What is known of threads: what they are about to do, where they stand, how they wait.

pub(super) mod failure;
pub(super) mod intent;
pub(super) mod place;
pub(super) mod slot;
pub(super) mod turn;
