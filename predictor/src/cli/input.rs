//! Traces to read, and what is to be said about them.

use std::io::{BufReader, stdin};
use std::path::{Path, PathBuf};

use racelog::trace::Item;

use super::progress::Progress;
use super::{Failure, args, say};
use crate::render::harmless;
use crate::trace::Trace;
use crate::trace::format::{Format, Source};

/// A trace that is being read.
pub(super) struct Input {
    path: PathBuf,
    source: Source,
    progress: Progress,
    /// The file's length, where there is a file.
    len: Option<u64>,
    damaged: bool,
}

impl Input {
    pub(super) fn open(path: &Path, format: Option<Format>) -> Result<Self, Failure> {
        let standard = path == Path::new("-");
        let source = if standard {
            Source::of_stream(BufReader::with_capacity(1 << 16, stdin()), format)
        } else {
            Source::open(path, format)
        };
        let source = source.map_err(|error| Failure::of(name(path), error))?;
        let len = if standard { None } else { path.metadata().ok().map(|file| file.len()) };
        let progress = Progress::new("reading");
        Ok(Self { path: path.to_owned(), source, progress, len, damaged: false })
    }

    pub(super) fn of_args(args: &args::Input) -> Result<Self, Failure> {
        Self::open(&args.path, args.from.format)
    }

    /// What to call the trace.
    pub(super) fn name(&self) -> String {
        name(&self.path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// The file's length, or how much was read.
    pub(super) fn len(&self) -> Option<u64> {
        self.len.or(self.source.bytes_read())
    }

    /// The next item. Damage ends the trace: it is said, and remembered.
    pub(super) fn next_item(&mut self) -> Option<Item> {
        match self.source.next_item() {
            Ok(Some(item)) => {
                let (source, len) = (&self.source, self.len);
                self.progress.update(|| position(source, len));
                Some(item)
            }
            Ok(None) => {
                if let Some(note) = self.source.note().filter(|_| !self.damaged) {
                    say("warning", format_args!("{}: {note}", self.name()));
                }
                None
            }
            Err(error) => {
                self.damaged = true;
                say("error", format_args!("{}: {error}", self.name()));
                None
            }
        }
    }

    /// Whether the trace was damaged.
    pub(super) fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Loads the whole trace, which must be valid.
    pub(super) fn load(mut self) -> Result<Trace, Failure> {
        let mut progress = self.progress;
        let len = self.len;
        let loaded = Trace::load(&mut self.source, |source| {
            progress.update(|| position(source, len));
        });
        drop(progress);
        let trace = loaded.map_err(|error| Failure::of(name(&self.path), error))?;
        if let Some(note) = self.source.note() {
            say("warning", format_args!("{}: {note}", name(&self.path)));
        }
        Ok(trace)
    }
}

fn position(source: &Source, len: Option<u64>) -> (u64, Option<u64>) {
    match source.bytes_read() {
        Some(read) => (read, len),
        None => (source.events_read(), source.events()),
    }
}

fn name(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => harmless(&path.display().to_string()),
    }
}
