//! Which log a thread has: how threads get into sessions, and out of them.

pub(in crate::rt) mod attach;
pub(in crate::rt) mod child;
pub(in crate::rt) mod current;
pub(in crate::rt) mod foreign;
pub(in crate::rt) mod open;
pub(in crate::rt) mod owned;
pub(in crate::rt) mod panics;
pub(in crate::rt) mod test;
