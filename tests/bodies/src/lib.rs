//! Function bodies of all kinds. With the feature `instrumented` they are, else they are plain: the
//! tests build both and compare what the compiler and clippy say, and run both.

pub mod accepted;
pub mod control;
pub mod forms;
pub mod memory;
pub mod short;
