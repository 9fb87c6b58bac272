//! The one way for text to leave: nothing in it moves a cursor, or turns the direction of writing.
//!
//! Names, messages and sources come from programs and files of others. Formats escape what they
//! show; this is the last place that all of it passes, so what one of them forgot stays here.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use crate::render::acts_on_terminals;

/// What is written, which says how a character is escaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Text for people.
    Text,
    /// The same, with colours: sequences that only choose a colour or style pass.
    Coloured,
    /// JSON: the escaped character is the same one to all readers.
    Json,
    /// XML, likewise.
    Xml,
    /// What must stay as it is, and is no text: only a terminal gets it escaped.
    Data,
}

/// Standard output.
pub(super) fn stdout(kind: Kind) -> BufWriter<Guarded<StdoutLock<'static>>> {
    let out = io::stdout().lock();
    let kind = match kind {
        Kind::Data if out.is_terminal() => Some(Kind::Text),
        Kind::Data => None,
        kind => Some(kind),
    };
    BufWriter::with_capacity(1 << 16, Guarded::new(out, kind))
}

/// Writes a line to standard error. There is nobody left to tell if that fails.
pub(super) fn complain(line: impl fmt::Display) {
    let mut out = Guarded::new(io::stderr().lock(), Some(Kind::Text));
    let _ = out.write_all(format!("{line}\n").as_bytes());
}

/// Shows what is wrong with a command line, or the help that was asked for.
pub(super) fn show_usage(error: &clap::Error) {
    let text = error.render();
    let is_terminal =
        if error.use_stderr() { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    let text = if colours { text.ansi().to_string() } else { text.to_string() };
    // A reader that has gone away needs no message.
    let _ = if error.use_stderr() {
        Guarded::new(io::stderr().lock(), Some(Kind::Coloured)).write_all(text.as_bytes())
    } else {
        let mut out = stdout(Kind::Coloured);
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    };
}

/// Escapes what goes through it.
pub(super) struct Guarded<W: Write> {
    out: W,
    /// Nothing is escaped if there is none.
    kind: Option<Kind>,
    /// The beginning of a character whose end is still to come.
    begun: Vec<u8>,
}

impl<W: Write> Guarded<W> {
    pub(super) fn new(out: W, kind: Option<Kind>) -> Self {
        Self { out, kind, begun: Vec::new() }
    }

    fn text(&mut self, kind: Kind, mut text: &str) -> io::Result<()> {
        while let Some(at) = text.find(|c| acts_on_terminals(c) && !matches!(c, '\n' | '\t')) {
            let (before, rest) = text.split_at(at);
            self.out.write_all(before.as_bytes())?;
            let len = if kind == Kind::Coloured { style(rest) } else { 0 };
            if len > 0 {
                self.out.write_all(&rest.as_bytes()[..len])?;
                text = &rest[len..];
                continue;
            }
            let mut chars = rest.chars();
            let c = chars.next().unwrap_or_default();
            text = chars.as_str();
            match kind {
                Kind::Json if c == '\r' => write!(self.out, "\r")?,
                Kind::Json => write!(self.out, "\\u{:04x}", u32::from(c))?,
                Kind::Xml => write!(self.out, "&#x{:x};", u32::from(c))?,
                _ => write!(self.out, "{}", c.escape_default())?,
            }
        }
        self.out.write_all(text.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.iter().try_for_each(|byte| write!(self.out, "\\x{byte:02x}"))
    }
}

/// How long the sequence is that a text starts with, if it only chooses a colour or style.
fn style(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(rest.len());
    if rest[end..].starts_with('m') { "\u{1b}[".len() + end + 1 } else { 0 }
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(kind) = self.kind else { return self.out.write(bytes) };
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        for chunk in all.utf8_chunks() {
            self.text(kind, chunk.valid())?;
            let invalid = chunk.invalid();
            match std::str::from_utf8(invalid) {
                Err(error) if error.error_len().is_none() => self.begun = invalid.to_owned(),
                _ => self.bytes(invalid)?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for Guarded<W> {
    fn drop(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        // A caller that wanted to know has flushed.
        let _ = self.bytes(&begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(kind: Kind, parts: &[&[u8]]) -> String {
        let mut bytes = Vec::new();
        let mut out = Guarded::new(&mut bytes, Some(kind));
        parts.iter().for_each(|part| out.write_all(part).unwrap());
        drop(out);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn nothing_acts_on_the_terminal() {
        let text = "a\u{1b}[31m\u{202e}b\r\u{9b}\n\tö\u{61c}";
        let escaped = "a\\u{1b}[31m\\u{202e}b\\r\\u{9b}\n\tö\\u{61c}";
        assert_eq!(guarded(Kind::Text, &[text.as_bytes()]), escaped);
        let coloured = "a\u{1b}[31m\\u{202e}b\\r\\u{9b}\n\tö\\u{61c}";
        assert_eq!(guarded(Kind::Coloured, &[text.as_bytes()]), coloured);
        assert_eq!(
            guarded(Kind::Coloured, &[b"\x1b[2J\x1b]0;x\x07"]),
            "\\u{1b}[2J\\u{1b}]0;x\\u{7}"
        );
        assert_eq!(guarded(Kind::Json, &["\"\u{202e}\u{7f}\"".as_bytes()]), "\"\\u202e\\u007f\"");
        assert_eq!(guarded(Kind::Xml, &["\u{202e}".as_bytes()]), "&#x202e;");
    }

    #[test]
    fn characters_may_come_in_parts() {
        let text = "ä\u{202e}日";
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(guarded(Kind::Text, &bytes), "ä\\u{202e}日");
        assert_eq!(guarded(Kind::Text, &[b"a\x9b\xff", b"b\xe6"]), "a\\x9b\\xffb\\xe6");
    }
}
