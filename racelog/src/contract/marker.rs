//! What the text of an `assert` event means.
//!
//! Most are labels of `check!`. Others are left by the recorder itself: where memory goes out of
//! its sight, and where a thread panics. They order nothing.
//!
//! | text | meaning |
//! | --- | --- |
//! | `raw pointer of a cell` | [`Marker::CellPointer`] |
//! | `reference made from a raw pointer` | [`Marker::RawReference`] |
//! | `code within a macro: NAME` | [`Marker::Macro`] |
//! | `panicked at FILE:LINE:COLUMN: MESSAGE` | [`Marker::Panic`] |
//! | anything else | [`Marker::Label`] |

use std::borrow::Cow;

const CELL_POINTER: &str = "raw pointer of a cell";
const RAW_REFERENCE: &str = "reference made from a raw pointer";
const MACRO: &str = "code within a macro:";
const PANIC: &str = "panicked at ";

/// What the message of a panic starts with that a failed `check!` makes; its label follows.
pub const CHECK_FAILED: &str = "check failed: ";

/// What an `assert` event says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marker<'a> {
    /// A raw pointer to the contents of a cell was given away.
    CellPointer,
    /// A reference was made from a raw pointer, to something that may have interior mutability or
    /// by a method call: what is done through it is not recorded.
    RawReference,
    /// Unsafe code stands within a macro of this name, which is not instrumented.
    Macro(&'a str),
    /// A thread panicked.
    Panic {
        /// Where: `FILE:LINE:COLUMN`, or nothing if that is not known.
        place: &'a str,
        /// With which message.
        message: &'a str,
    },
    /// A `check!` of the program with this label held.
    Label(&'a str),
}

impl<'a> Marker<'a> {
    /// What a text means. A label of the program that reads like another marker is taken for it.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        match text {
            CELL_POINTER => return Self::CellPointer,
            RAW_REFERENCE => return Self::RawReference,
            _ => {}
        }
        if let Some(name) = text.strip_prefix(MACRO) {
            return Self::Macro(name.trim_start());
        }
        let panic = text.strip_prefix(PANIC).and_then(|rest| rest.split_once(": "));
        panic.map_or(Self::Label(text), |(place, message)| Self::Panic { place, message })
    }

    /// The text that means it.
    #[must_use]
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::CellPointer => Cow::Borrowed(CELL_POINTER),
            Self::RawReference => Cow::Borrowed(RAW_REFERENCE),
            Self::Macro(name) => Cow::Owned(format!("{MACRO} {name}")),
            Self::Panic { place, message } => Cow::Owned(format!("{PANIC}{place}: {message}")),
            Self::Label(text) => Cow::Borrowed(text),
        }
    }
}

/// The label of the `check!` that has failed, if this is the message of such a panic.
#[must_use]
pub fn failed_check(message: &str) -> Option<&str> {
    message.strip_prefix(CHECK_FAILED)
}

#[cfg(test)]
mod tests {
    use super::super::random::{Numbers, ROUNDS};
    use super::*;

    #[test]
    fn the_texts_stay_what_they_are() {
        for (marker, text) in [
            (Marker::CellPointer, "raw pointer of a cell"),
            (Marker::RawReference, "reference made from a raw pointer"),
            (Marker::Macro("vec"), "code within a macro: vec"),
            (Marker::Panic { place: "a.rs:3:5", message: "a: b" }, "panicked at a.rs:3:5: a: b"),
            (Marker::Panic { place: "", message: "x" }, "panicked at : x"),
            (Marker::Label("the sum is 3"), "the sum is 3"),
            (Marker::Label("panicked at noon"), "panicked at noon"),
        ] {
            assert_eq!(marker.text(), text);
            assert_eq!(Marker::parse(text), marker);
        }
        assert_eq!(failed_check("check failed: the sum"), Some("the sum"));
        assert_eq!(failed_check("the check failed: x"), None);
    }

    #[test]
    fn markers_are_text_and_back() {
        let mut numbers = Numbers::new(1);
        for _ in 0..ROUNDS {
            let (name, message) = (numbers.word(), numbers.line());
            let place = format!("{}.rs:{}:1", numbers.word(), numbers.below(99));
            for marker in [
                Marker::Macro(&name),
                Marker::Panic { place: &place, message: &message },
                Marker::Label(&message),
            ] {
                assert_eq!(Marker::parse(&marker.text()), marker);
            }
        }
    }
}
