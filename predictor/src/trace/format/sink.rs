//! One way to write them all.

use std::io::{self, Write};

use racelog::trace::binary::{WriteError, Writer};
use racelog::trace::{Dictionary, End, Item, Metadata};
use thiserror::Error;

use super::Format;
use super::rapid::{ExportError, LeftOut, StdWriter};
use super::text::TextWriter;

/// Why a trace cannot be written.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SinkError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Binary(WriteError),
    #[error("{0}")]
    Std(ExportError),
}

impl From<WriteError> for SinkError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io(error) => Self::Io(error),
            other @ WriteError::StampOrder { .. } => Self::Binary(other),
        }
    }
}

impl From<ExportError> for SinkError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Io(error) => Self::Io(error),
            other => Self::Std(other),
        }
    }
}

/// A trace that is being written, in whatever format.
#[derive(Debug)]
pub struct Sink<W>(Inner<W>);

#[derive(Debug)]
enum Inner<W> {
    Text(TextWriter<W>),
    Std(StdWriter<W>),
    Binary(Writer<W>),
}

impl<W: Write> Sink<W> {
    /// Starts a trace. `lossy` lets an export to STD leave out what STD cannot express.
    pub fn new(out: W, format: Format, metadata: &Metadata, lossy: bool) -> io::Result<Self> {
        Ok(Self(match format {
            Format::Text => Inner::Text(TextWriter::new(out, metadata)?),
            Format::Std => Inner::Std(StdWriter::new(out, lossy)),
            Format::Binary => Inner::Binary(Writer::new(out, metadata)?),
        }))
    }

    /// Writes an item. `dictionary` holds all that the item refers to; it may have grown since the
    /// last call, and must not have changed otherwise.
    pub fn write(&mut self, dictionary: &Dictionary, item: &Item) -> Result<(), SinkError> {
        match &mut self.0 {
            Inner::Text(writer) => writer.write(dictionary, item)?,
            Inner::Std(writer) => writer.write(dictionary, item)?,
            Inner::Binary(writer) => writer.write(dictionary, item)?,
        }
        Ok(())
    }

    /// So many events are known to be missing in the trace. STD has no word for that.
    pub fn set_lost_events(&mut self, lost: u64) {
        match &mut self.0 {
            Inner::Text(writer) => writer.set_lost_events(lost),
            Inner::Std(_) => {}
            Inner::Binary(writer) => writer.set_lost_events(lost),
        }
    }

    /// Writes the end, and says what had to be left out.
    pub fn finish(self, dictionary: &Dictionary, end: End) -> io::Result<(W, LeftOut)> {
        match self.0 {
            Inner::Text(writer) => Ok((writer.finish(dictionary, end)?, LeftOut::default())),
            Inner::Std(writer) => writer.finish(),
            Inner::Binary(writer) => Ok((writer.finish(dictionary, end)?, LeftOut::default())),
        }
    }
}
