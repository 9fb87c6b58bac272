//! What the formats of one event a line have in common.

use std::io::{self, BufRead};

use racelog::trace::Item;

use super::lines::{Line, Lines};

/// Turns lines into items.
pub(super) trait LineParser {
    /// Why a line cannot be read.
    type Error;

    /// Reads a line, which may hold no item.
    fn parse(&mut self, number: u64, line: Line<'_>) -> Result<Option<Item>, Self::Error>;

    /// The line could not be had at all.
    fn unreadable(number: u64, error: io::Error) -> Self::Error;
}

/// Reads items line by line: everything before the first line that is wrong, then the error.
#[derive(Debug)]
pub(super) struct LineReader<R, P> {
    pub(super) lines: Lines<R>,
    pub(super) parser: P,
    done: bool,
}

impl<R: BufRead, P: LineParser> LineReader<R, P> {
    pub(super) fn new(input: R, parser: P) -> Self {
        Self { lines: Lines::new(input), parser, done: false }
    }

    /// The next item; `None` after the last. After an error there are no more.
    pub(super) fn next_item(&mut self) -> Result<Option<Item>, P::Error> {
        while !self.done {
            let number = self.lines.number() + 1;
            let item = match self.lines.next() {
                Ok(Some(line)) => self.parser.parse(number, line),
                Ok(None) => {
                    self.done = true;
                    break;
                }
                Err(error) => Err(P::unreadable(number, error)),
            };
            self.done = item.is_err();
            if let Some(item) = item? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}
