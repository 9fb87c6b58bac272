//! Reads the text format.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use racelog::trace::{
    Definition, Dictionary, DictionaryError, End, Event, Item, Metadata, Stamp, ThreadId, VarId,
};
use rustc_hash::FxHashSet;
use thiserror::Error;

use super::directive::Directive;
use super::fields::Fields;
use super::operands::{self, Operands};
use super::said::ValueNames;
use crate::trace::format::ids::Ids;
use crate::trace::format::line_reader::{LineParser, LineReader};
use crate::trace::format::lines::Line;

/// Why a text trace cannot be read further.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum TextError {
    #[error("line {line}: {error}")]
    Io { line: u64, error: io::Error },
    #[error("line {line}, column {column}: {problem}")]
    Line { line: u64, column: usize, problem: TextProblem },
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum TextProblem {
    #[error("not text in UTF-8: is this a text trace?")]
    NotText,
    #[error("the line is longer than a mebibyte: is this a text trace?")]
    TooLong,
    #[error("`{word}` is no operation{}", suggest(word))]
    UnknownOperation { word: String },
    #[error("{operation} needs {operand}")]
    Missing { operation: String, operand: &'static str },
    #[error("{operation} takes no `{word}`")]
    Superfluous { operation: String, word: String },
    #[error("`{word}` is no {what}")]
    Unfit { word: String, what: &'static str },
    #[error("`{word}` is no location: write `@ file:line` or `@ file:line:column`")]
    Location { word: String },
    #[error("`{thread}` is said to be foreign after its first event: say so before")]
    ForeignLate { thread: String },
    #[error("an expression needs {wanted} here")]
    Expression { wanted: &'static str },
    #[error("the expression takes more than 10 values, or nests too deep: write `since` instead")]
    LongExpression,
    #[error("`{variable}` has an initial value already")]
    InitTwice { variable: String },
    #[error("{0}")]
    Dictionary(#[from] DictionaryError),
}

fn suggest(word: &str) -> String {
    let distance = |operation: &&str| strsim::damerau_levenshtein(operation, word);
    match operands::OPERATIONS.iter().copied().min_by_key(distance) {
        Some(closest) if distance(&closest) <= 2 => format!(": did you mean `{closest}`?"),
        _ => String::new(),
    }
}

/// Reads a trace from text, event by event.
///
/// Everything before the first line that is wrong is yielded; then comes the error.
#[derive(Debug)]
pub struct TextReader<R> {
    reader: LineReader<R, Parser>,
    /// The first item, read ahead: all metadata stands before it.
    ahead: Option<Item>,
}

impl<R: BufRead> TextReader<R> {
    /// Starts to read; metadata is known from then on.
    pub fn open(input: R) -> Result<Self, TextError> {
        let mut reader = LineReader::new(input, Parser::default());
        let ahead = reader.next_item()?;
        Ok(Self { reader, ahead })
    }

    /// What the trace says of itself.
    pub fn metadata(&self) -> &Metadata {
        &self.reader.parser.metadata
    }

    /// All that the items so far refer to.
    pub fn dictionary(&self) -> &Dictionary {
        &self.reader.parser.ids.dictionary
    }

    /// How the trace ends, once it has been read to its end.
    pub fn end(&self) -> End {
        self.reader.parser.end.unwrap_or(End::Clean)
    }

    /// How many events are known to be missing, once the trace has been read to its end.
    pub fn lost_events(&self) -> u64 {
        self.reader.parser.lost
    }

    /// The number of the last line read if it lacks its line break, as that of a file that was cut
    /// would.
    pub fn open_line(&self) -> Option<u64> {
        self.reader.lines.open_line()
    }

    /// How many bytes were read.
    pub fn bytes_read(&self) -> u64 {
        self.reader.lines.bytes()
    }

    /// The next item; `None` after the last. After an error there are no more.
    pub fn next_item(&mut self) -> Result<Option<Item>, TextError> {
        match self.ahead.take().or_else(|| self.reader.parser.more.pop_front()) {
            Some(item) => Ok(Some(item)),
            None => self.reader.next_item(),
        }
    }
}

impl LineParser for Parser {
    type Error = TextError;

    fn parse(&mut self, number: u64, line: Line<'_>) -> Result<Option<Item>, TextError> {
        let parsed = match line {
            Line::Text(text) => self.line(text),
            Line::NotText(column) => Err((column, TextProblem::NotText)),
            Line::TooLong => Err((1, TextProblem::TooLong)),
        };
        parsed.map_err(|(column, problem)| TextError::Line { line: number, column, problem })
    }

    fn unreadable(number: u64, error: io::Error) -> TextError {
        TextError::Io { line: number, error }
    }
}

/// A problem and its column.
pub(super) type Problem = (usize, TextProblem);

/// Turns lines into items.
#[derive(Debug, Default)]
pub(super) struct Parser {
    pub(super) ids: Ids,
    metadata: Metadata,
    /// Which threads are in recorded code; those not listed are.
    unrecorded: FxHashSet<ThreadId>,
    /// Which threads have had an event.
    begun: Vec<bool>,
    pub(super) initialised: FxHashSet<VarId>,
    pub(super) values: ValueNames,
    /// What a line says besides its first item.
    more: VecDeque<Item>,
    /// How many events there were before each request.
    requests: Vec<u64>,
    /// The stamp of the last event or request.
    stamp: u64,
    items: u64,
    end: Option<End>,
    lost: u64,
}

/// Whether a line says something of a channel or a lock: `channel NAME MESSAGES`, `fair LOCK`.
/// Threads may have these names, too; their lines have an operation next.
fn is_declaration(first: &str, fields: &Fields<'_>) -> bool {
    let next = || fields.clone().next();
    matches!(first, "channel" | "fair")
        && next().is_some_and(|word| !operands::OPERATIONS.contains(&word))
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<Option<Item>, Problem> {
        if line.starts_with('#') {
            if let Some(directive) = Directive::parse(line.trim_end_matches('\r')) {
                self.directive(directive)?;
            }
            return Ok(None);
        }
        let code = line.split_once('#').map_or(line, |(code, _)| code);
        let mut fields = Fields::new(code);
        let Some(first) = fields.next() else { return Ok(None) };
        self.items += 1;
        if first == "init" {
            return Operands::new(self, fields, "init").init().map(Some);
        }
        if is_declaration(first, &fields) {
            let operands = Operands::new(self, fields, first);
            match first {
                "fair" => operands.fair()?,
                _ => operands.capacity()?,
            }
            return Ok(None);
        }
        let thread = self.ids.thread(first).map_err(|error| (1, error.into()))?;
        let mut column = fields.column();
        let missing = |column| {
            let operation = format!("`{first}`");
            (column, TextProblem::Missing { operation, operand: "an operation" })
        };
        let mut operation = fields.next().ok_or_else(|| missing(column))?;
        let is_request = operation == "request";
        if is_request {
            column = fields.column();
            operation = fields.next().ok_or_else(|| missing(column))?;
        }
        let mut operands = Operands::new(self, fields, operation);
        let mut op = operands
            .op()?
            .ok_or_else(|| (column, TextProblem::UnknownOperation { word: operation.into() }))?;
        let patience = operands.patience(&op);
        let said = match is_request {
            true => Vec::new(),
            false => operands.said(thread, &mut op)?,
        };
        let location = operands.location()?;
        if is_request {
            self.requests.push(self.stamp - self.requests.len() as u64);
        }
        self.stamp += 1;
        if self.begun.len() <= thread.index() {
            self.begun.resize(thread.index() + 1, false);
        }
        self.begun[thread.index()] = true;
        let recorded = !self.unrecorded.contains(&thread);
        let stamp = Stamp::new(self.stamp);
        let event = Event { thread, stamp, op, location, recorded, patience };
        self.more.extend(said.into_iter().map(|said| Item::Said { thread, said }));
        self.more.push_back(match is_request {
            true => Item::Request(event),
            false => Item::Event(event),
        });
        Ok(self.more.pop_front())
    }

    /// The stamp of the event with this number, if there was one.
    pub(super) fn stamp_of(&self, number: u64) -> Option<Stamp> {
        let events = self.stamp - self.requests.len() as u64;
        let requests = self.requests.partition_point(|before| *before < number) as u64;
        (1..=events).contains(&number).then(|| Stamp::new(number + requests))
    }

    fn directive(&mut self, directive: Directive<'_>) -> Result<(), Problem> {
        match directive {
            Directive::Recorded(thread, recorded) => {
                let thread = self.ids.thread(thread).map_err(|error| (1, error.into()))?;
                if recorded {
                    self.unrecorded.remove(&thread);
                } else {
                    self.unrecorded.insert(thread);
                }
            }
            Directive::Foreign(name) => {
                let thread = self.ids.thread(name).map_err(|error| (1, error.into()))?;
                if self.begun.get(thread.index()).is_some_and(|begun| *begun) {
                    return Err((1, TextProblem::ForeignLate { thread: name.to_owned() }));
                }
                let defined = self.ids.dictionary.define(Definition::Foreign { thread });
                defined.map_err(|error| (1, error.into()))?;
            }
            Directive::Freed(name) => {
                let var = self.ids.var(name).map_err(|error| (1, error.into()))?;
                let defined = self.ids.dictionary.define(Definition::Freed { var });
                defined.map_err(|error| (1, error.into()))?;
            }
            Directive::Unattributed(place) => {
                let location =
                    place.map(|place| self.ids.location(place, operands::parse_location));
                let location = location.transpose().map_err(|problem| (1, problem))?;
                let defined = self.ids.dictionary.define(Definition::Unattributed { location });
                defined.map_err(|error| (1, error.into()))?;
            }
            Directive::End(end) => self.end = Some(end),
            Directive::Lost(events) => self.lost = events,
            // A reader of the items has the metadata by then.
            _ if self.items > 0 => {}
            Directive::Program(program) => self.metadata.program = Some(program),
            Directive::Argument(argument) => self.metadata.arguments.push(argument),
            Directive::Test(test) => self.metadata.test = Some(test),
            Directive::Started(time) => self.metadata.started = Some(time),
        }
        Ok(())
    }
}
