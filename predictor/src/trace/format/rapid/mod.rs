//! The STD format of the RAPID framework: `thread|operation(operand)|location`, one event a line.
//!
//! It knows reads, writes, locks, forks and joins, no values and no branches. So on import every
//! value is opaque and no code counts as recorded; on export other operations have no line.
//!
//! A location is a number, kept as line `N` of a file `std`, or, when no line can be so large, as
//! that program counter in a module `std`.

mod reader;
mod writer;

pub use reader::{StdError, StdProblem, StdReader};
pub use writer::{ExportError, LeftOut, StdWriter};

/// The file, or module, of imported locations.
const FILE: &str = "std";
