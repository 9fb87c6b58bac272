//! Labels: lines of a program that are known by a name, so that edits do not move them.
//!
//! A label is a comment at the end of a line of code, its name in brackets: `// [sold-read]`. Names
//! are of lower-case letters, digits and hyphens.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use crate::program::Source;

/// A line of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file, as the recorder names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The labels of a file.
#[derive(Debug)]
pub struct Labels {
    file: &'static str,
    lines: BTreeMap<&'static str, u32>,
}

/// What is wrong with labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LabelError {
    /// Nobody has it.
    Unknown {
        /// The label.
        label: String,
        /// The file.
        file: &'static str,
    },
    /// Two lines have it.
    Duplicate {
        /// The label.
        label: &'static str,
        /// The second line that has it.
        place: Place,
    },
}

impl fmt::Display for LabelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { label, file } => {
                write!(f, "{file}: no line ends in the label `// [{label}]`: add it")
            }
            Self::Duplicate { label, place } => {
                write!(
                    f,
                    "{place}: the label `{label}` is that of a line above: rename one of them"
                )
            }
        }
    }
}

impl Error for LabelError {}

impl Labels {
    /// Finds the labels of a file.
    pub fn of(source: &Source) -> Result<Self, LabelError> {
        let mut lines = BTreeMap::new();
        for (line, text) in (1..).zip(source.text.lines()) {
            let Some(label) = label(text) else { continue };
            if lines.insert(label, line).is_some() {
                let place = Place { file: source.file, line };
                return Err(LabelError::Duplicate { label, place });
            }
        }
        Ok(Self { file: source.file, lines })
    }

    /// Where a label is.
    pub fn place(&self, label: &str) -> Result<Place, LabelError> {
        let unknown = || LabelError::Unknown { label: label.to_owned(), file: self.file };
        let line = *self.lines.get(label).ok_or_else(unknown)?;
        Ok(Place { file: self.file, line })
    }

    /// All labels, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.lines.keys().copied()
    }
}

/// The label at the end of a line of code.
fn label(line: &'static str) -> Option<&'static str> {
    let (code, comment) = line.rsplit_once("// [")?;
    let name = comment.strip_suffix(']')?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = !code.trim().is_empty() && !name.is_empty() && name.chars().all(is_name);
    is_label.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &'static str) -> Result<Labels, LabelError> {
        Labels::of(&Source { file: "src/x.rs", text })
    }

    #[test]
    fn labels_are_comments_behind_code() {
        let found =
            labels("a(); // [one]\n// [two]\nb(); // [three] four\nc(); // [Five]\n{ // [six-7]");
        let found = found.unwrap();
        assert_eq!(found.names().collect::<Vec<_>>(), ["one", "six-7"]);
        assert_eq!(found.place("six-7"), Ok(Place { file: "src/x.rs", line: 5 }));
    }

    #[test]
    fn mistakes_are_told() {
        let error = labels("a(); // [one]").unwrap().place("two").unwrap_err();
        assert_eq!(error.to_string(), "src/x.rs: no line ends in the label `// [two]`: add it");
        let error = labels("a(); // [one]\nb(); // [one]").unwrap_err();
        assert_eq!(
            error.to_string(),
            "src/x.rs:2: the label `one` is that of a line above: rename one of them"
        );
    }
}
