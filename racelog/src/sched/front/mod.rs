//! Where mirrors and recorder meet the scheduler.

pub(super) mod attach;
pub(super) mod child;
pub(super) mod controller;
#[cfg(feature = "fibers")]
pub(super) mod fiber;
pub(super) mod life;
pub(super) mod points;
pub(super) mod time;
