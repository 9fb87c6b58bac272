//! Where in the program an event happened.

use super::StrId;

/// A place in the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    /// A place in a source file.
    Source {
        /// The file, as the compiler names it.
        file: StrId,
        /// The line, from 1.
        line: u32,
        /// The column, from 1, where known.
        column: Option<u32>,
    },
    /// A place in a binary module, to be resolved to a source line by its debug information.
    Code {
        /// The module: the program or a library.
        module: StrId,
        /// The program counter, relative to the start of the module.
        pc: u64,
    },
}
