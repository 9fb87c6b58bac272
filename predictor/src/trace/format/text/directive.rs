//! The comments that say what the text format has no word for.

use std::fmt;

use racelog::trace::{End, Metadata};

const PREFIX: &str = "#racelog ";

/// What such a comment says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Directive<'a> {
    Program(String),
    Argument(String),
    Test(String),
    Started(u64),
    /// Whether the thread is in recorded code from here on.
    Recorded(&'a str, bool),
    /// Nobody who is recorded has started the thread, whose events follow.
    Foreign(&'a str),
    /// The last access of the variable is that its memory was given back.
    Freed(&'a str),
    /// A thread that may belong to the trace and is not in it; the place where it was first met, if
    /// that is known.
    Unattributed(Option<&'a str>),
    End(End),
    /// So many events are known to be missing.
    Lost(u64),
}

impl<'a> Directive<'a> {
    /// Reads a line; `None` if it is anything else, be it another comment.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (keyword, operand) = line.strip_prefix(PREFIX)?.split_once(' ')?;
        Some(match keyword {
            "program" => Self::Program(unescape(operand)),
            "argument" => Self::Argument(unescape(operand)),
            "test" => Self::Test(unescape(operand)),
            "started" => Self::Started(operand.parse().ok()?),
            "recorded" => Self::Recorded(operand, true),
            "unrecorded" => Self::Recorded(operand, false),
            "foreign" => Self::Foreign(operand),
            "freed" => Self::Freed(operand),
            "unattributed" if operand == "-" => Self::Unattributed(None),
            "unattributed" => Self::Unattributed(Some(operand)),
            "end" if operand == "cut-off" => Self::End(End::CutOff),
            "end" if operand == "full" => Self::End(End::Full),
            "lost" => Self::Lost(operand.parse().ok()?),
            _ => return None,
        })
    }

    /// All that `metadata` says.
    pub(super) fn of_metadata(metadata: &Metadata) -> Vec<Self> {
        let program = metadata.program.clone().map(Self::Program);
        let arguments = metadata.arguments.iter().cloned().map(Self::Argument);
        let test = metadata.test.clone().map(Self::Test);
        let started = metadata.started.map(Self::Started);
        program.into_iter().chain(arguments).chain(test).chain(started).collect()
    }
}

impl fmt::Display for Directive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        match self {
            Self::Program(text) => write!(f, "program {}", escape(text)),
            Self::Argument(text) => write!(f, "argument {}", escape(text)),
            Self::Test(text) => write!(f, "test {}", escape(text)),
            Self::Started(time) => write!(f, "started {time}"),
            Self::Recorded(thread, true) => write!(f, "recorded {thread}"),
            Self::Recorded(thread, false) => write!(f, "unrecorded {thread}"),
            Self::Foreign(thread) => write!(f, "foreign {thread}"),
            Self::Freed(var) => write!(f, "freed {var}"),
            Self::Unattributed(place) => write!(f, "unattributed {}", place.unwrap_or("-")),
            Self::End(End::CutOff) => write!(f, "end cut-off"),
            Self::End(End::Full) => write!(f, "end full"),
            Self::End(End::Clean) => write!(f, "end clean"),
            Self::Lost(events) => write!(f, "lost {events}"),
        }
    }
}

/// Keeps text on one line.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_come_back() {
        for directive in [
            Directive::Program("a b/c".into()),
            Directive::Argument("two\nlines \\ and \\n".into()),
            Directive::Argument(String::new()),
            Directive::Test("mod::name".into()),
            Directive::Started(17),
            Directive::Recorded("t1", true),
            Directive::Recorded("t1", false),
            Directive::Foreign("t1"),
            Directive::Freed("x"),
            Directive::Unattributed(None),
            Directive::Unattributed(Some("src/my file.rs:3:4")),
            Directive::End(End::CutOff),
            Directive::End(End::Full),
            Directive::Lost(u64::MAX),
        ] {
            assert_eq!(Directive::parse(&directive.to_string()), Some(directive));
        }
    }

    #[test]
    fn other_comments_are_left_alone() {
        for line in [
            "# racelog program x",
            "#racelog dance now",
            "#racelog started soon",
            "#racelog lost some",
            "#",
        ] {
            assert_eq!(Directive::parse(line), None, "{line}");
        }
    }
}
