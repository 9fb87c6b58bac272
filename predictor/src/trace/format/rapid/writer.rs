//! Writes the STD format.

use std::io::{self, Write};

use racelog::trace::{Dictionary, Event, Item, LocId, Location, Object, Op};
use thiserror::Error;

use super::FILE;
use crate::trace::format::names::Names;

/// Why an event cannot be exported.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ExportError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(
        "event {number}: STD has no `{keyword}`, and without it the trace means something else: \
         export with --lossy to leave such events out"
    )]
    Inexpressible { number: u64, keyword: &'static str },
    #[error(
        "event {number}: STD cannot say that nobody who is recorded has started the thread `{name}`, \
         and without that the trace means something else: export with --lossy to leave its events out"
    )]
    ForeignThread { number: u64, name: String },
    #[error("event {number}: STD cannot hold the thread `{name}`: it has `|` in its name")]
    ThreadName { number: u64, name: String },
}

/// What an export left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeftOut {
    /// Events that say nothing to a tool without values and branches: `begin`, `end`, `branch`,
    /// `assert`, `check`, atomic regions, where values come from, and initial values.
    pub harmless: u64,
    /// Events that would have said something.
    pub meaningful: u64,
}

/// Writes a trace in the STD format.
#[derive(Debug)]
pub struct StdWriter<W> {
    out: W,
    lossy: bool,
    names: Names,
    left_out: LeftOut,
    events: u64,
}

impl<W: Write> StdWriter<W> {
    /// Starts a trace. If `lossy`, events that STD cannot express are left out and counted;
    /// otherwise they are errors.
    pub fn new(out: W, lossy: bool) -> Self {
        Self { out, lossy, names: Names::new(), left_out: LeftOut::default(), events: 0 }
    }

    /// Writes an item.
    pub fn write(&mut self, dictionary: &Dictionary, item: &Item) -> Result<(), ExportError> {
        match item {
            Item::Init { .. } | Item::Request(_) | Item::Said { .. } => self.left_out.harmless += 1,
            Item::Event(event) => {
                self.events += 1;
                self.event(dictionary, event)?;
            }
        }
        Ok(())
    }

    /// Writes the end, and says what was left out.
    pub fn finish(mut self) -> io::Result<(W, LeftOut)> {
        self.out.flush()?;
        Ok((self.out, self.left_out))
    }

    fn event(&mut self, dictionary: &Dictionary, event: &Event) -> Result<(), ExportError> {
        if dictionary.is_foreign(event.thread) {
            if self.lossy {
                self.left_out.meaningful += 1;
                return Ok(());
            }
            let name = self.names.name(dictionary, Object::Thread(event.thread)).to_owned();
            return Err(ExportError::ForeignThread { number: self.events, name });
        }
        let (keyword, operand) = match event.op {
            Op::Read { var, .. } => ("r", Object::Var(var)),
            Op::Write { var, .. } => ("w", Object::Var(var)),
            Op::Acquire(lock) => ("acq", Object::Lock(lock)),
            Op::Release(lock) => ("rel", Object::Lock(lock)),
            Op::Fork(thread) => ("fork", Object::Thread(thread)),
            Op::Join(thread) => ("join", Object::Thread(thread)),
            Op::Begin
            | Op::End
            | Op::Branch
            | Op::Assert(_)
            | Op::Check { .. }
            | Op::AtomicBegin(_)
            | Op::AtomicEnd => {
                self.left_out.harmless += 1;
                return Ok(());
            }
            _ if self.lossy => {
                self.left_out.meaningful += 1;
                return Ok(());
            }
            op => {
                let keyword = op.keyword();
                return Err(ExportError::Inexpressible { number: self.events, keyword });
            }
        };
        let thread = self.names.name(dictionary, Object::Thread(event.thread)).to_owned();
        if thread.contains('|') {
            return Err(ExportError::ThreadName { number: self.events, name: thread });
        }
        let operand = self.names.name(dictionary, operand);
        let location = event.location.map_or(0, |id| location_number(dictionary, id));
        writeln!(self.out, "{thread}|{keyword}({operand})|{location}")?;
        Ok(())
    }
}

/// The number that an imported location had; any other location's number in its dictionary.
fn location_number(dictionary: &Dictionary, id: LocId) -> u64 {
    match dictionary.get_location(id) {
        Some(Location::Source { file, line, column: None })
            if dictionary.get_string(file) == Some(FILE) =>
        {
            line.into()
        }
        Some(Location::Code { module, pc }) if dictionary.get_string(module) == Some(FILE) => pc,
        // 0 says that there is none.
        _ => u64::from(id.get()) + 1,
    }
}
