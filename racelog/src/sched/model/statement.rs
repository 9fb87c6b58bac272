//! Statements of the program, as a person names them.

use std::fmt;
use std::str::FromStr;

use crate::rt::CallSite;

/// A statement: a line of the source, and a column if there are several on it. `src/lib.rs:12:5`.
///
/// The file's path may lack its beginning.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    file: String,
    line: u32,
    column: Option<u32>,
}

impl Site {
    /// The statement on this line of this file.
    pub fn new(file: impl Into<String>, line: u32) -> Self {
        Self { file: file.into(), line, column: None }
    }

    /// The statement at this column of its line.
    #[must_use]
    pub fn column(self, column: u32) -> Self {
        Self { column: Some(column), ..self }
    }

    pub(in crate::sched) fn is_at(&self, here: Option<CallSite>) -> bool {
        let Some(here) = here.and_then(CallSite::location) else { return false };
        let path = here.file();
        let file = path.strip_suffix(self.file.as_str());
        file.is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
            && here.line() == self.line
            && self.column.is_none_or(|column| column == here.column())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// A text that names no statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSite(String);

impl fmt::Display for InvalidSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no place in a source: write FILE:LINE or FILE:LINE:COLUMN", self.0)
    }
}

impl std::error::Error for InvalidSite {}

impl FromStr for Site {
    type Err = InvalidSite;

    fn from_str(text: &str) -> Result<Self, InvalidSite> {
        let invalid = || InvalidSite(text.to_owned());
        let (rest, last) = text.rsplit_once(':').ok_or_else(invalid)?;
        let last: u32 = last.parse().map_err(|_| invalid())?;
        let site = match rest.rsplit_once(':') {
            Some((file, line)) if line.parse::<u32>().is_ok() => {
                Self::new(file, line.parse().map_err(|_| invalid())?).column(last)
            }
            _ => Self::new(rest, last),
        };
        if site.file.is_empty() { Err(invalid()) } else { Ok(site) }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    #[test]
    fn sites_are_read_and_matched() {
        let here = Location::caller();
        let call_site = Some(CallSite::source(here));
        let line = here.line();
        let site: Site = format!("model/statement.rs:{line}").parse().unwrap();
        assert!(site.is_at(call_site));
        assert!(site.clone().column(here.column()).is_at(call_site));
        assert!(!site.clone().column(here.column() + 1).is_at(call_site));
        assert!(!Site::new("tatement.rs", line).is_at(call_site));
        assert!(!site.is_at(None));
        let text = "a/b.rs:12:5";
        assert_eq!(text.parse::<Site>().unwrap().to_string(), text);
        for wrong in ["", "a.rs", "a.rs:x", ":3", "a.rs:"] {
            let error = wrong.parse::<Site>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
        }
    }
}
