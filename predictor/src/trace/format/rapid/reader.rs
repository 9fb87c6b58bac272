//! Reads the STD format.

use std::io::{self, BufRead};

use racelog::trace::{
    Dictionary, DictionaryError, Event, Item, Location, Op, Patience, Stamp, Value,
};
use thiserror::Error;

use super::FILE;
use crate::trace::format::ids::Ids;
use crate::trace::format::line_reader::{LineParser, LineReader};
use crate::trace::format::lines::Line;

/// Why an STD trace cannot be read further.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum StdError {
    #[error("line {line}: {error}")]
    Io { line: u64, error: io::Error },
    #[error("line {line}: {problem}")]
    Line { line: u64, problem: StdProblem },
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum StdProblem {
    #[error("not text in UTF-8: is this an STD trace?")]
    NotText,
    #[error("the line is longer than a mebibyte: is this an STD trace?")]
    TooLong,
    #[error("`{line}` is no event: write `thread|operation(operand)|location`")]
    Shape { line: String },
    #[error("`{word}` is no operation: r, w, acq, rel, fork and join are")]
    Operation { word: String },
    #[error("`{word}` is no location: a number is")]
    Location { word: String },
    #[error("{0}")]
    Dictionary(#[from] DictionaryError),
}

/// Reads a trace in the STD format, event by event.
///
/// Everything before the first line that is wrong is yielded; then comes the error.
#[derive(Debug)]
pub struct StdReader<R>(LineReader<R, Parser>);

impl<R: BufRead> StdReader<R> {
    /// Starts to read.
    pub fn new(input: R) -> Self {
        Self(LineReader::new(input, Parser::default()))
    }

    /// All that the items so far refer to.
    pub fn dictionary(&self) -> &Dictionary {
        &self.0.parser.ids.dictionary
    }

    /// The number of the last line read if it lacks its line break, as that of a file that was cut
    /// would.
    pub fn open_line(&self) -> Option<u64> {
        self.0.lines.open_line()
    }

    /// How many bytes were read.
    pub fn bytes_read(&self) -> u64 {
        self.0.lines.bytes()
    }

    /// The next item; `None` after the last. After an error there are no more.
    pub fn next_item(&mut self) -> Result<Option<Item>, StdError> {
        self.0.next_item()
    }
}

/// Turns lines into events.
#[derive(Debug, Default)]
struct Parser {
    ids: Ids,
    events: u64,
}

impl LineParser for Parser {
    type Error = StdError;

    fn parse(&mut self, number: u64, line: Line<'_>) -> Result<Option<Item>, StdError> {
        let event = match line {
            Line::Text(text) if text.trim().is_empty() => return Ok(None),
            Line::Text(text) => parse(&mut self.ids, text.trim(), self.events + 1),
            Line::NotText(_) => Err(StdProblem::NotText),
            Line::TooLong => Err(StdProblem::TooLong),
        };
        let event = event.map_err(|problem| StdError::Line { line: number, problem })?;
        self.events += 1;
        Ok(Some(Item::Event(event)))
    }

    fn unreadable(number: u64, error: io::Error) -> StdError {
        StdError::Io { line: number, error }
    }
}

fn parse(ids: &mut Ids, line: &str, stamp: u64) -> Result<Event, StdProblem> {
    let shape = || StdProblem::Shape { line: line.into() };
    let (thread, rest) = line.split_once('|').ok_or_else(shape)?;
    let (operation, location) = rest.rsplit_once('|').ok_or_else(shape)?;
    let (keyword, operand) = operation
        .strip_suffix(')')
        .and_then(|operation| operation.split_once('('))
        .ok_or_else(shape)?;
    let thread = ids.thread(thread)?;
    let value = Value::Opaque;
    let op = match keyword {
        "r" => Op::Read { var: ids.var(operand)?, value },
        "w" => Op::Write { var: ids.var(operand)?, value },
        "acq" => Op::Acquire(ids.lock(operand)?),
        "rel" => Op::Release(ids.lock(operand)?),
        "fork" => Op::Fork(ids.thread(operand)?),
        "join" => Op::Join(ids.thread(operand)?),
        _ => return Err(StdProblem::Operation { word: keyword.into() }),
    };
    let location = match location {
        // Where other tools write that they do not know.
        "0" => None,
        number => Some(ids.location(number, parse_location)?),
    };
    let (stamp, patience) = (Stamp::new(stamp), Patience::Forever);
    Ok(Event { thread, stamp, op, location, recorded: false, patience })
}

fn parse_location(dictionary: &mut Dictionary, word: &str) -> Result<Location, StdProblem> {
    let number: u64 = word.parse().map_err(|_| StdProblem::Location { word: word.into() })?;
    let file = dictionary.string(FILE)?;
    Ok(match u32::try_from(number) {
        Ok(line) => Location::Source { file, line, column: None },
        Err(_) => Location::Code { module: file, pc: number },
    })
}
