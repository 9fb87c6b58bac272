//! One way to read them all.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;
use std::str::FromStr;

use racelog::trace::binary::{self, Damage};
use racelog::trace::{Dictionary, End, Item, Metadata, Value, VarId};
use thiserror::Error;

use super::rapid::{StdError, StdReader};
use super::text::{TextError, TextReader};

/// A format of traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// The text format, `.rtxt`.
    Text,
    /// The binary format, `.rlog`.
    Binary,
    /// RAPID's STD format, `.std`.
    Std,
}

impl Format {
    /// The format that the name of a file stands for.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "rtxt" => Some(Self::Text),
            "rlog" => Some(Self::Binary),
            "std" => Some(Self::Std),
            _ => None,
        }
    }

    /// The format that a trace looks to be in, by its first bytes.
    pub fn of_start(start: &[u8]) -> Self {
        let line = start.split(|byte| *byte == b'\n').find(|line| !line.is_empty());
        match start.first() {
            // The first byte of a recording is written last.
            Some(0x89 | 0) => Self::Binary,
            // The separator of STD, where the text format would have a blank before long.
            _ if line.is_some_and(|line| line.contains(&b'|') && !line.starts_with(b"#")) => {
                Self::Std
            }
            _ => Self::Text,
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "text" | "rtxt" => Ok(Self::Text),
            "binary" | "rlog" => Ok(Self::Binary),
            "std" => Ok(Self::Std),
            _ => Err(format!("`{name}` is no format: text, binary and std are")),
        }
    }
}

/// Why a trace cannot be read, or not further.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SourceError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Text(#[from] TextError),
    #[error("{0}")]
    Std(#[from] StdError),
    #[error("{0}")]
    Open(#[from] binary::OpenError),
    #[error("{0}")]
    Binary(#[from] binary::ReadError),
    #[error("{0}")]
    Damage(Damage),
}

/// A trace that is being read, in whatever format.
///
/// Everything before the first thing that is wrong is yielded; then comes the error.
#[derive(Debug)]
pub struct Source {
    inner: Inner,
    events_read: u64,
    done: bool,
    /// The last item that was read, of what is read from its start to its end.
    item: Item,
}

/// Stands where no item has been read yet.
const NO_ITEM: Item = Item::Init { var: VarId::new(0), value: Value::Opaque };

#[derive(Debug)]
enum Inner {
    Text(Box<TextReader<Box<dyn Input>>>),
    Std(Box<StdReader<Box<dyn Input>>>),
    Binary(Box<binary::Reader<Box<dyn SeekableInput>>>),
    /// A recording that did not come to anything: an empty trace, and what is to be said of it.
    Nothing(Box<Nothing>),
}

/// What there is of a recording that did not come to anything.
#[derive(Debug)]
struct Nothing {
    why: String,
    /// Empty.
    dictionary: Dictionary,
}

trait Input: BufRead + std::fmt::Debug {}

impl<T: BufRead + std::fmt::Debug> Input for T {}

trait SeekableInput: Read + Seek + std::fmt::Debug {}

impl<T: Read + Seek + std::fmt::Debug> SeekableInput for T {}

impl Source {
    /// Opens a file. Without `format` the file's name tells it, or else its first bytes.
    pub fn open(path: &Path, format: Option<Format>) -> Result<Self, SourceError> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let format = format.or_else(|| Format::of_path(path));
        // Only a plain file can be read out of order.
        if file.metadata()?.is_file() {
            Self::of_file(file, format)
        } else {
            Self::of_stream(BufReader::new(file), format)
        }
    }

    /// Reads a stream. Without `format` its first bytes tell it.
    pub fn of_stream(
        mut stream: impl BufRead + std::fmt::Debug + 'static,
        format: Option<Format>,
    ) -> Result<Self, SourceError> {
        let format = match format {
            Some(format) => format,
            None => Format::of_start(stream.fill_buf()?),
        };
        if format == Format::Binary {
            // The threads' chunks are merged, so they must be read out of order.
            let mut spool = tempfile::tempfile()?;
            io::copy(&mut stream, &mut spool)?;
            spool.flush()?;
            return Self::of_binary(Box::new(buffered(spool)));
        }
        Self::of_text(Box::new(stream), format)
    }

    /// Reads a trace in memory. Without `format` its first bytes tell it.
    pub fn of_bytes(bytes: Vec<u8>, format: Option<Format>) -> Result<Self, SourceError> {
        let format = format.unwrap_or_else(|| Format::of_start(&bytes));
        let input = io::Cursor::new(bytes);
        match format {
            Format::Binary => Self::of_binary(Box::new(input)),
            Format::Text | Format::Std => Self::of_text(Box::new(input), format),
        }
    }

    fn of_file(mut file: File, format: Option<Format>) -> Result<Self, SourceError> {
        let format = match format {
            Some(format) => format,
            None => {
                let mut start = [0; 512];
                let len = file.read(&mut start)?;
                file.rewind()?;
                Format::of_start(&start[..len])
            }
        };
        match format {
            Format::Binary => Self::of_binary(Box::new(buffered(file))),
            Format::Text | Format::Std => Self::of_text(Box::new(buffered(file)), format),
        }
    }

    fn of_text(input: Box<dyn Input>, format: Format) -> Result<Self, SourceError> {
        let inner = match format {
            Format::Std => Inner::Std(Box::new(StdReader::new(input))),
            _ => Inner::Text(Box::new(TextReader::open(input)?)),
        };
        Ok(Self { inner, events_read: 0, done: false, item: NO_ITEM })
    }

    fn of_binary(input: Box<dyn SeekableInput>) -> Result<Self, SourceError> {
        let inner = match binary::Reader::open(input) {
            Ok(reader) => Inner::Binary(Box::new(reader)),
            Err(error @ binary::OpenError::NothingRecorded { .. }) => {
                Inner::Nothing(Box::new(Nothing {
                    why: error.to_string(),
                    dictionary: Dictionary::new(),
                }))
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { inner, events_read: 0, done: false, item: NO_ITEM })
    }

    /// What the trace says of itself.
    pub fn metadata(&self) -> Metadata {
        match &self.inner {
            Inner::Text(reader) => reader.metadata().clone(),
            Inner::Std(_) | Inner::Nothing(_) => Metadata::default(),
            Inner::Binary(reader) => reader.metadata().clone(),
        }
    }

    /// All that the items so far refer to.
    pub fn dictionary(&self) -> &Dictionary {
        match &self.inner {
            Inner::Text(reader) => reader.dictionary(),
            Inner::Std(reader) => reader.dictionary(),
            Inner::Binary(reader) => reader.dictionary(),
            Inner::Nothing(nothing) => &nothing.dictionary,
        }
    }

    /// How many events there are, where that is known from the start.
    pub fn events(&self) -> Option<u64> {
        match &self.inner {
            Inner::Text(_) | Inner::Std(_) => None,
            Inner::Binary(reader) => Some(reader.events()),
            Inner::Nothing(_) => Some(0),
        }
    }

    /// How many events were read.
    pub fn events_read(&self) -> u64 {
        self.events_read
    }

    /// How many bytes were read, where a trace is read from its start to its end.
    pub fn bytes_read(&self) -> Option<u64> {
        match &self.inner {
            Inner::Text(reader) => Some(reader.bytes_read()),
            Inner::Std(reader) => Some(reader.bytes_read()),
            Inner::Binary(_) | Inner::Nothing(_) => None,
        }
    }

    /// How the trace ends, once it has been read to its end.
    pub fn end(&self) -> End {
        match &self.inner {
            Inner::Text(reader) => reader.end(),
            Inner::Std(_) => End::Clean,
            Inner::Binary(reader) => reader.end(),
            Inner::Nothing(_) => End::CutOff,
        }
    }

    /// How many events are known to be missing, once the trace has been read to its end.
    pub fn lost_events(&self) -> u64 {
        match &self.inner {
            Inner::Text(reader) => reader.lost_events(),
            Inner::Std(_) | Inner::Nothing(_) => 0,
            Inner::Binary(reader) => reader.lost_events(),
        }
    }

    /// What a reader of the trace should know, once it has been read to its end.
    pub fn note(&self) -> Option<String> {
        let notes: Vec<String> = self.old_version().into_iter().chain(self.early_end()).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// What is not looked for in the trace because its format has no word for it.
    fn old_version(&self) -> Option<String> {
        let Inner::Binary(reader) = &self.inner else { return None };
        let version = reader.version();
        (!reader.says_patience()).then(|| {
            format!(
                "version {version} of the format does not say who would have waited for ever, so \
                 no deadlock or stall is found: record anew"
            )
        })
    }

    /// How the trace may have lost its end.
    fn early_end(&self) -> Option<String> {
        let open_line = match &self.inner {
            Inner::Text(reader) => reader.open_line(),
            Inner::Std(reader) => reader.open_line(),
            Inner::Binary(_) => None,
            Inner::Nothing(nothing) => return Some(nothing.why.clone()),
        };
        if let Some(line) = open_line {
            let note = "the last line has no line break: the file may be cut off there";
            return Some(format!("line {line}: {note}"));
        }
        let lost = self.lost_events();
        let why = match self.end() {
            // What threads do after the end is no part of the trace.
            End::Clean => return None,
            End::CutOff => "recording stopped before the program did",
            End::Full => "it had reached its greatest size, or the disk was full",
        };
        let lost = match lost {
            0 => String::new(),
            1 => "; 1 event is known to be missing".to_owned(),
            _ => format!("; {lost} events are known to be missing"),
        };
        let what = match self.events_read {
            0 => "nothing was recorded",
            _ => "the trace is cut off",
        };
        Some(format!("{what}: {why}{lost}"))
    }

    /// The next item; `None` after the last. After an error there are no more.
    pub fn next_item(&mut self) -> Result<Option<Item>, SourceError> {
        Ok(self.advance()?.then(|| *self.item()))
    }

    /// Goes to the next item, which [`Source::item`] then is; false after the last. After an error
    /// there are no more. It does what [`Source::next_item`] does, and moves less memory.
    pub fn advance(&mut self) -> Result<bool, SourceError> {
        if self.done {
            return Ok(false);
        }
        let found = self.read_item();
        self.done = !matches!(found, Ok(true));
        if !self.done {
            self.events_read += u64::from(matches!(self.item(), Item::Event(_)));
        }
        found
    }

    /// The item that [`Source::advance`] has gone to; it says nothing before.
    pub fn item(&self) -> &Item {
        match &self.inner {
            Inner::Text(_) | Inner::Std(_) | Inner::Nothing(_) => &self.item,
            Inner::Binary(reader) => reader.item(),
        }
    }

    fn read_item(&mut self) -> Result<bool, SourceError> {
        let item = match &mut self.inner {
            Inner::Text(reader) => reader.next_item()?,
            Inner::Std(reader) => reader.next_item()?,
            Inner::Nothing(_) => None,
            Inner::Binary(reader) => {
                let found = reader.advance()?;
                return match reader.damage() {
                    Some(damage) if !found => Err(SourceError::Damage(damage.clone())),
                    _ => Ok(found),
                };
            }
        };
        if let Some(item) = item {
            self.item = item;
        }
        Ok(item.is_some())
    }
}

fn buffered(file: File) -> BufReader<File> {
    BufReader::with_capacity(1 << 16, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        assert_eq!(Format::of_start(b"\x89RLOG\r\n"), Format::Binary);
        assert_eq!(Format::of_start(b"\nT0|r(V1)|3\n"), Format::Std);
        assert_eq!(Format::of_start(b"# a | comment\nt0 fork t1\n"), Format::Text);
        assert_eq!(Format::of_start(b""), Format::Text);
    }
}
