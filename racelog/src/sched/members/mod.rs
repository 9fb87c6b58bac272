//! The threads of a run.

pub(super) mod current;
pub(super) mod member;
