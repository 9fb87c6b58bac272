//! The formats in which traces are kept: text, STD, and the contract's own binary one.

mod ids;
mod line_reader;
mod lines;
mod names;
pub mod rapid;
mod sink;
mod source;
pub mod text;

pub use names::Names;
pub use sink::{Sink, SinkError};
pub use source::{Format, Source, SourceError};
