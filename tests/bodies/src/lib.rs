//! Function bodies of all kinds. With the feature `instrumented` they are, else they are plain: the
//! tests build both and compare what the compiler and clippy say, and run both.

// As a crate has it that depends on racelog in some builds only: see the user guide.
#[cfg(not(feature = "instrumented"))]
macro_rules! instrument_items {
    ($($items:tt)*) => { $($items)* };
}
#[cfg(not(feature = "instrumented"))]
pub(crate) use instrument_items;
#[cfg(feature = "instrumented")]
pub(crate) use racelog::instrument_items;

pub mod accepted;
pub mod control;
pub mod forms;
pub mod memory;
pub mod short;
pub mod whole_file;
