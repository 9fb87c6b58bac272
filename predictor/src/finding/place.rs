//! Places in the source.

use std::fmt;
use std::str::FromStr;

use racelog::contract::place::SourcePlace;
use serde::{Deserialize, Serialize};

/// A place in the source. Lines and columns count from 1; 0 stands for one that is not known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The file, as the compiler was told.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// What no place is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no place: write file:line or file:line:column")]
pub struct NoPlace(String);

impl Place {
    /// The place that a trace names. Where that is a mere name, the place is a file without lines.
    pub fn of_trace(text: &str) -> Self {
        text.parse().unwrap_or_else(|_| Self { file: text.to_owned(), line: 0, column: 0 })
    }

    /// Takes the first of these prefixes that fits off the name of the file.
    pub fn strip(&mut self, prefixes: &[String]) {
        let rest = prefixes.iter().find_map(|prefix| self.file.strip_prefix(prefix.as_str()));
        if let Some(rest) = rest.map(|rest| rest.trim_start_matches('/')) {
            self.file = rest.to_owned();
        }
    }

    /// The same place, with the first of these prefixes that fits taken off its file.
    #[must_use]
    pub fn stripped(mut self, prefixes: &[String]) -> Self {
        self.strip(prefixes);
        self
    }
}

impl From<SourcePlace> for Place {
    fn from(SourcePlace { file, line, column }: SourcePlace) -> Self {
        Self { file, line, column: column.unwrap_or(0) }
    }
}

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let no_place = || NoPlace(text.to_owned());
        let (rest, last) = text.rsplit_once(':').ok_or_else(no_place)?;
        let last: u32 = last.parse().map_err(|_| no_place())?;
        let with_column = rest
            .rsplit_once(':')
            .and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)))
            .filter(|(file, _)| !file.is_empty());
        let (file, line, column) = match with_column {
            Some((file, line)) => (file, line, last),
            None => (rest, last, 0),
        };
        if file.is_empty() || file.starts_with(':') || line == 0 {
            return Err(no_place());
        }
        Ok(Self { file: file.to_owned(), line, column })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().take_while(|number| *number > 0) {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// How many there are, and where the first of them are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Spots {
    /// How many.
    pub number: u64,
    /// The first places, each once.
    pub places: Vec<Place>,
}

impl Spots {
    /// How many places are kept.
    pub const MOST: usize = 5;

    /// Adds what is elsewhere.
    pub fn join(&mut self, other: &Self) {
        self.add(other.number, &other.places);
    }

    /// Adds so many, at these places.
    pub fn add<'a>(&mut self, number: u64, places: impl IntoIterator<Item = &'a Place>) {
        self.number += number;
        for place in places {
            if self.places.len() == Self::MOST {
                return;
            }
            if !self.places.contains(place) {
                self.places.push(place.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_kept() {
        let places: Vec<Place> =
            (1..9).map(|line| Place { file: "a.rs".to_owned(), line, column: 1 }).collect();
        let mut spots = Spots::default();
        spots.add(3, &places[..1]);
        spots.add(8, &places);
        assert_eq!(spots.number, 11);
        assert_eq!(spots.places, places[..Spots::MOST]);
    }

    #[test]
    fn prefixes_go() {
        let place = |text: &str| Place::of_trace(text).stripped(&["/home/me/p".to_owned()]);
        assert_eq!(place("/home/me/p/src/a.rs:3:9").to_string(), "src/a.rs:3:9");
        assert_eq!(place("src/a.rs:3").to_string(), "src/a.rs:3");
        assert_eq!(place("L12").to_string(), "L12");
    }

    #[test]
    fn places_are_what_they_were() {
        for text in ["src/a b.rs:3:9", "src/a.rs:3", "C:/x.rs:1:2"] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        }
        for text in ["", "a", "a.rs:x", ":1:2", "a.rs:0"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
