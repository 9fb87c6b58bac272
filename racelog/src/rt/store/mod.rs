//! The trace file, and how chunks and tables get into it.

pub(in crate::rt) mod chunks;
pub(in crate::rt) mod file;
pub(in crate::rt) mod lost;
pub(in crate::rt) mod mapping;
pub(in crate::rt) mod slot;
pub(in crate::rt) mod tables;
