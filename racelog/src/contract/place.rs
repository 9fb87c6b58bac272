//! Places in the source, as commands and programs name them to each other.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// A line of a source file, and a column if there are several statements on it: `src/lib.rs:12:5`.
///
/// The file's path may lack its beginning.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourcePlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, if it is given.
    pub column: Option<u32>,
}

impl SourcePlace {
    /// This line of this file.
    pub fn new(file: impl Into<String>, line: u32) -> Self {
        Self { file: file.into(), line, column: None }
    }

    /// This column of the line.
    #[must_use]
    pub fn column(self, column: u32) -> Self {
        Self { column: Some(column), ..self }
    }

    /// Whether it means the place that the compiler knows by this path, line and column.
    #[must_use]
    pub fn means(&self, path: &str, line: u32, column: u32) -> bool {
        let rest = path.strip_suffix(self.file.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
            && line == self.line
            && self.column.is_none_or(|own| own == column)
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// A text that names no place in a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidPlace(String);

impl fmt::Display for InvalidPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no place in a source: write FILE:LINE or FILE:LINE:COLUMN", self.0)
    }
}

impl Error for InvalidPlace {}

impl FromStr for SourcePlace {
    type Err = InvalidPlace;

    fn from_str(text: &str) -> Result<Self, InvalidPlace> {
        let invalid = || InvalidPlace(text.to_owned());
        let (rest, last) = text.rsplit_once(':').ok_or_else(invalid)?;
        let last: u32 = last.parse().map_err(|_| invalid())?;
        let with_column = rest.rsplit_once(':').and_then(|(file, line)| {
            line.parse().ok().map(|line| Self::new(file, line).column(last))
        });
        let place = with_column.unwrap_or_else(|| Self::new(rest, last));
        if place.file.is_empty() { Err(invalid()) } else { Ok(place) }
    }
}

/// Two places that may race, with a comma between: `src/a.rs:12,src/b.rs:40`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlacePair(pub [SourcePlace; 2]);

impl fmt::Display for PlacePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.0[0], self.0[1])
    }
}

/// Any number of places, with commas between.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlaceList(pub Vec<SourcePlace>);

impl fmt::Display for PlaceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, place) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{place}")?;
        }
        Ok(())
    }
}

impl FromStr for PlaceList {
    type Err = InvalidPlace;

    fn from_str(text: &str) -> Result<Self, InvalidPlace> {
        text.split(',').map(|place| place.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

/// A text that is not two places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidPair(String);

impl fmt::Display for InvalidPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` are not two places: write FILE:LINE or FILE:LINE:COLUMN twice, with a comma \
             between",
            self.0
        )
    }
}

impl Error for InvalidPair {}

impl FromStr for PlacePair {
    type Err = InvalidPair;

    fn from_str(text: &str) -> Result<Self, InvalidPair> {
        let pair = text.split_once(',').and_then(|(first, second)| {
            // A third place would be taken for a part of a file's name.
            let is_pair = !second.contains(',');
            is_pair.then(|| Some([first.trim().parse().ok()?, second.trim().parse().ok()?]))?
        });
        pair.map(Self).ok_or_else(|| InvalidPair(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{Numbers, ROUNDS};
    use super::*;

    #[test]
    fn places_are_read_and_matched() {
        let place: SourcePlace = "b/c.rs:7".parse().unwrap();
        assert!(place.means("a/b/c.rs", 7, 1) && place.means("b/c.rs", 7, 9));
        assert!(place.means("a\\b/c.rs", 7, 1));
        assert!(!place.means("ab/c.rs", 7, 1) && !place.means("b/c.rs", 8, 1));
        let place = place.column(3);
        assert!(place.means("b/c.rs", 7, 3) && !place.means("b/c.rs", 7, 4));
        for wrong in ["", "a.rs", "a.rs:x", ":3", "a.rs:", ":3:4", "a.rs:99999999999"] {
            let error = wrong.parse::<SourcePlace>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
        }
    }

    #[test]
    fn places_are_text_and_back() {
        let mut numbers = Numbers::new(2);
        for _ in 0..ROUNDS {
            let [first, second] = [numbers.place(), numbers.place()];
            assert_eq!(first.to_string().parse(), Ok(first.clone()));
            let pair = PlacePair([first, second]);
            assert_eq!(pair.to_string().parse(), Ok(pair.clone()));
            let list = PlaceList(pair.0.to_vec());
            assert_eq!(list.to_string().parse(), Ok(list));
        }
    }

    #[test]
    fn a_list_is_any_number_of_places() {
        let list: PlaceList = "a.rs:1, b.rs:2:3,c.rs:4".parse().unwrap();
        assert_eq!((list.0.len(), list.to_string().as_str()), (3, "a.rs:1,b.rs:2:3,c.rs:4"));
        assert!("".parse::<PlaceList>().is_err() && "a.rs:1,,b.rs:1".parse::<PlaceList>().is_err());
    }

    #[test]
    fn a_pair_is_two_places() {
        let pair: PlacePair = "a.rs:1, b.rs:2:3".parse().unwrap();
        assert_eq!(pair.to_string(), "a.rs:1,b.rs:2:3");
        for wrong in ["", "a.rs:1", "a.rs:1,b.rs", "a.rs:1,b.rs:2,c.rs:3", ":1,b.rs:2"] {
            let error = wrong.parse::<PlacePair>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
        }
    }
}
