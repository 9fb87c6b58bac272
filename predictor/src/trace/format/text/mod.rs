//! The text format (`.rtxt`): one event a line, for people, tests and peers.
//!
//! What the format itself has no word for stands in comments that begin with `#racelog`, so that
//! nothing is lost between text and binary and every other reader may pass over it:
//!
//! | comment | meaning |
//! | --- | --- |
//! | `#racelog program PATH`, `#racelog argument WORD`, `#racelog test NAME`, `#racelog started MS` | the trace's metadata, before the first event |
//! | `#racelog unrecorded THREAD`, `#racelog recorded THREAD` | from here on the thread is in code that does not, or does, record all its branches; it does at first |
//! | `#racelog end cut-off`, `#racelog end full` | the trace was cut off here; for want of room |
//!
//! A variable called `[0x1000+4]`, or any name and then that, stands for four bytes of memory; a
//! location `file:0x12` is a program counter in a module.

mod directive;
mod expression;
mod fields;
mod operands;
mod reader;
mod said;
mod writer;

pub use reader::{TextError, TextProblem, TextReader};
pub(in crate::trace) use said::{print_expression, put_end};
pub use writer::{EventPrinter, SaidPrinter, TextWriter};
