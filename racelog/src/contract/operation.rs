//! One operation of a thread, as a line of a schedule or an outcome has it.
//!
//! ```text
//! 0.1 acquire l @ src/main.rs:9:5
//! ```
//!
//! That is the thread, the operation, the object and the place. Threads are named by their place in
//! the tree of threads: `0` is the first, and `0.2` its second child. Operations have their names
//! of the text format of traces. Objects have any names; the same name is the same object. `-`
//! stands for no object, and without `@` the place is not known. A `notify_one` may say as a fourth
//! word which thread it wakes.

use std::fmt;
use std::str::FromStr;

use super::place::SourcePlace;
#[cfg(feature = "trace")]
use crate::trace::{AccessKind, Op};

/// The operation whose fourth word is the thread that it wakes.
const NOTIFY_ONE: &str = "notify_one";

/// The operation of a racing access that is the free of a destructor, which has no place.
pub const FREE: &str = "free";

/// What stands for no object, and for a thread that is not known.
pub(super) const NONE: &str = "-";

/// An operation of a thread.
///
/// Threads, operations and objects are words: not empty, without blanks, and none of `-`, `@`, `=`.
///
/// In a report they have the names of the report, and places are of its type, `P`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Operation<P = SourcePlace> {
    /// The thread, by its place in the tree of threads.
    pub thread: String,
    /// The operation, by its name in the text format of traces.
    #[cfg_attr(feature = "serde", serde(rename = "what"))]
    pub op: String,
    /// The object.
    pub object: Option<String>,
    /// The thread that it wakes, if it is a `notify_one` and that is known. Reports do not say it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub woken: Option<String>,
    /// Where it happens.
    pub place: Option<P>,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_words(self, f)?;
        write_place(self.place.as_ref(), f)
    }
}

impl FromStr for Operation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (words, place) = split_place(text)?;
        Self::of_words(words, place)
    }
}

impl Operation {
    /// An operation of its words before the `@`, and its place.
    pub(super) fn of_words(text: &str, place: Option<SourcePlace>) -> Result<Self, String> {
        // What is written of them would be read as something else.
        if let Some(sign) = text.split_whitespace().find(|word| ["@", "="].contains(word)) {
            return Err(format!("nothing follows `{sign}`"));
        }
        let mut words = text.split_whitespace();
        let (Some(thread), Some(op)) = (words.next(), words.next()) else {
            return Err(format!("`{}` names no thread and operation", text.trim()));
        };
        let known = |word: Option<&str>| word.filter(|word| *word != NONE).map(str::to_owned);
        let object = known(words.next());
        let woken = if op == NOTIFY_ONE { known(words.next()) } else { None };
        if let Some(more) = words.next() {
            return Err(format!("`{more}` is too much: write THREAD OPERATION OBJECT"));
        }
        Ok(Self { thread: thread.to_owned(), op: op.to_owned(), object, woken, place })
    }
}

/// All but the place.
pub(super) fn write_words(operation: &Operation, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Operation { thread, op, object, woken, .. } = operation;
    write!(f, "{thread} {op} {}", object.as_deref().unwrap_or(NONE))?;
    woken.as_ref().map_or(Ok(()), |woken| write!(f, " {woken}"))
}

/// ` @ PLACE`, if there is one.
pub(super) fn write_place(place: Option<&SourcePlace>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    place.map_or(Ok(()), |place| write!(f, " @ {place}"))
}

/// A text without its place, and the place.
pub(super) fn split_place(text: &str) -> Result<(&str, Option<SourcePlace>), String> {
    match text.split_once(" @ ") {
        Some((rest, place)) => {
            let place = place.trim().parse::<SourcePlace>();
            Ok((rest, Some(place.map_err(|error| error.to_string())?)))
        }
        None => Ok((text, None)),
    }
}

/// What an access read and wrote: `read 1 wrote 2`. Values are words; `_` is one that is not
/// recorded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AccessValues {
    /// What it read, if it reads.
    pub read: Option<String>,
    /// What it wrote, if it writes.
    pub wrote: Option<String>,
}

#[cfg(feature = "trace")]
impl AccessValues {
    /// What an operation reads and writes, in these words; none if it is no access that others can
    /// come before, or if a word is missing.
    pub fn of<V>(op: &Op<V>, word: impl Fn(&V) -> Option<String>) -> Option<Self> {
        let access = op.access().filter(|access| access.kind != AccessKind::Exclusive)?;
        let said = |value: Option<&V>| match value {
            Some(value) => word(value).map(Some),
            None => Some(None),
        };
        Some(Self { read: said(access.found)?, wrote: said(access.left)? })
    }
}

impl fmt::Display for AccessValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.read, &self.wrote) {
            (Some(read), Some(wrote)) => write!(f, "read {read} wrote {wrote}"),
            (Some(read), None) => write!(f, "read {read}"),
            (None, Some(wrote)) => write!(f, "wrote {wrote}"),
            (None, None) => Ok(()),
        }
    }
}

impl FromStr for AccessValues {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut values = Self::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("`{word}` has no value"))?.to_owned();
            match word {
                "read" => values.read = Some(value),
                "wrote" => values.wrote = Some(value),
                _ => return Err(format!("`{word}` is nothing that is done to a value")),
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{Numbers, ROUNDS};
    use super::*;

    #[test]
    fn operations_are_text_and_back() {
        let mut numbers = Numbers::new(4);
        for _ in 0..ROUNDS {
            let operation = numbers.operation();
            assert_eq!(operation.to_string().parse(), Ok(operation));
            let values = numbers.values();
            assert_eq!(values.to_string().parse(), Ok(values));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| text.parse::<Operation>().unwrap_err();
        assert_eq!(wrong("0.1"), "`0.1` names no thread and operation");
        assert_eq!(wrong("0 notify_all c 0.3"), "`0.3` is too much: write THREAD OPERATION OBJECT");
        assert_eq!(wrong("0 read @"), "nothing follows `@`");
        assert!(wrong("0 read x @ a.rs:x").starts_with("`a.rs:x` is no place"));
        let wrong = |text: &str| text.parse::<AccessValues>().unwrap_err();
        assert_eq!(wrong("read 1 wrote"), "`wrote` has no value");
        assert_eq!(wrong("ate 1"), "`ate` is nothing that is done to a value");
    }
}
