//! The events of objects: locks, cells, bare memory.

pub(crate) mod borrow;
mod cell_events;
pub(in crate::rt) mod cells;
pub(in crate::rt) mod free;
pub(in crate::rt) mod guarded;
mod guarded_word;
pub(crate) mod held;
pub(in crate::rt) mod lock;
pub(in crate::rt) mod ownership;
pub(in crate::rt) mod poison;
pub(crate) mod raw;
