//! Lines of text.

use std::io::{self, BufRead, Read};

/// No line of a trace is as long as this.
const MAX_LINE: u64 = 1 << 20;

/// Reads lines into one buffer, counting them.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
}

/// What stands at a line's place.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// A line of text, without its line break.
    Text(&'a str),
    /// Bytes that are not text, from this column on.
    NotText(usize),
    TooLong,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0, bytes: 0 }
    }

    /// The number of the last line read, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes were read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of the last line read, if it had no line break.
    pub(super) fn open_line(&self) -> Option<u64> {
        self.buffer.last().filter(|byte| **byte != b'\n').map(|_| self.number)
    }

    /// The next line; `None` after the last.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        self.buffer.clear();
        let got = (&mut self.input).take(MAX_LINE).read_until(b'\n', &mut self.buffer)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_bad_bytes_found() {
        let mut lines = Lines::new(&b"one\n\xfftwo\nthree"[..]);
        assert!(matches!(lines.next(), Ok(Some(Line::Text("one")))));
        assert!(matches!(lines.next(), Ok(Some(Line::NotText(1)))));
        assert_eq!(lines.open_line(), None);
        assert!(matches!(lines.next(), Ok(Some(Line::Text("three")))));
        assert_eq!((lines.number(), lines.open_line()), (3, Some(3)));
        assert!(matches!(lines.next(), Ok(None)));
        // What was said of the last line is still true after it.
        assert_eq!((lines.number(), lines.open_line()), (3, Some(3)));
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
