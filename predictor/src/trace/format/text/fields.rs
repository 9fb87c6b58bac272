//! Lines, and the fields of a line.

use std::io::{self, BufRead, Read};

/// No line of a trace is as long as this.
const MAX_LINE: u64 = 1 << 20;

/// Reads lines into one buffer, counting them.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
}

/// What stands at a line's place.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    /// A line of text, without its line break.
    Text(&'a str),
    /// Bytes that are not text, from this column on.
    NotText(usize),
    TooLong,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0, bytes: 0 }
    }

    /// The number of the last line read, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes were read.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the last line read had no line break.
    pub(crate) fn last_was_open(&self) -> bool {
        self.buffer.last().is_some_and(|byte| *byte != b'\n')
    }

    /// The next line; `None` after the last.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut next = Vec::new();
        std::mem::swap(&mut next, &mut self.buffer);
        next.clear();
        let got = (&mut self.input).take(MAX_LINE).read_until(b'\n', &mut next)?;
        if got == 0 {
            return Ok(None);
        }
        self.buffer = next;
        self.number += 1;
        self.bytes += got as u64;
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        if got as u64 == MAX_LINE && line.len() == self.buffer.len() {
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(match str::from_utf8(line) {
            // Some editors mark the start of a text with this, and show nothing.
            Ok(text) if self.number == 1 => Line::Text(text.trim_start_matches('\u{feff}')),
            Ok(text) => Line::Text(text),
            Err(error) => Line::NotText(error.valid_up_to() + 1),
        }))
    }
}

/// Splits a line at blanks and knows where it is.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    /// The column, from 1, at which the next field starts, or the line ends.
    pub(super) fn column(&self) -> usize {
        let rest = &self.line[self.at..];
        self.at + rest.len() - rest.trim_start_matches(is_blank).len() + 1
    }

    /// The column, from 1, just after the last field.
    pub(super) fn end_column(&self) -> usize {
        self.at + 1
    }

    /// All that is left, without the blanks around it.
    pub(super) fn rest(&self) -> &'a str {
        self.line[self.at..].trim_matches(is_blank)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self.column() - 1;
        let rest = &self.line[start..];
        if rest.is_empty() {
            return None;
        }
        let len = rest.find(is_blank).unwrap_or(rest.len());
        self.at = start + len;
        Some(&rest[..len])
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_know_their_columns() {
        let mut fields = Fields::new("  t1\tread   x ");
        assert_eq!((fields.column(), fields.next()), (3, Some("t1")));
        assert_eq!((fields.column(), fields.next()), (6, Some("read")));
        assert_eq!((fields.rest(), fields.column(), fields.next()), ("x", 13, Some("x")));
        assert_eq!((fields.rest(), fields.column(), fields.next()), ("", 15, None));
    }

    #[test]
    fn lines_are_counted_and_bad_bytes_found() {
        let mut lines = Lines::new(&b"one\n\xfftwo\nthree"[..]);
        assert!(matches!(lines.next(), Ok(Some(Line::Text("one")))));
        assert!(matches!(lines.next(), Ok(Some(Line::NotText(1)))));
        assert!(!lines.last_was_open());
        assert!(matches!(lines.next(), Ok(Some(Line::Text("three")))));
        assert_eq!((lines.number(), lines.last_was_open()), (3, true));
        assert!(matches!(lines.next(), Ok(None)));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let mut lines = Lines::new("\u{feff}one\n".as_bytes());
        assert!(matches!(lines.next(), Ok(Some(Line::Text("one")))));
    }

    #[test]
    fn a_line_without_end_is_not_kept_in_memory() {
        let input = vec![b'x'; 3 << 20];
        assert!(matches!(Lines::new(&input[..]).next(), Ok(Some(Line::TooLong))));
    }
}
