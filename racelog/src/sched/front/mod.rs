//! Where mirrors and recorder meet the scheduler.

pub(super) mod attach;
pub(super) mod child;
pub(super) mod controller;
#[cfg(fibers)]
pub(super) mod fiber;
pub(super) mod life;
#[cfg_attr(not(fibers), expect(dead_code, reason = "there are no fibers"))]
pub(super) mod locals;
pub(super) mod points;
pub(super) mod time;
