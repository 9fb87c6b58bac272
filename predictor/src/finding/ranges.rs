//! Numbers in some order, kept short.

use std::fmt;

use serde::{Serialize, Serializer};

/// Numbers in some order. Those that follow each other without a gap are kept as one range:
/// `1-4 9 10`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges(Vec<[u64; 2]>);

impl Ranges {
    /// The ranges: the first and the last number of each.
    pub fn ranges(&self) -> &[[u64; 2]] {
        &self.0
    }
}

impl FromIterator<u64> for Ranges {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some([_, last]) if *last + 1 == number => *last = number,
                _ => ranges.push([number, number]),
            }
        }
        Self(ranges)
    }
}

/// Writes a range: two numbers are as short as a range of two.
pub(crate) fn write_range([first, last]: [u64; 2]) -> String {
    match last - first {
        0 => first.to_string(),
        1 => format!("{first} {last}"),
        _ => format!("{first}-{last}"),
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, range) in self.0.iter().enumerate() {
            let gap = if at > 0 { " " } else { "" };
            write!(f, "{gap}{}", write_range(*range))?;
        }
        Ok(())
    }
}

impl Serialize for Ranges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_short() {
        let ranges: Ranges = [1, 2, 3, 4, 9, 10, 6, 5].into_iter().collect();
        assert_eq!(ranges.to_string(), "1-4 9 10 6 5");
        assert_eq!(Ranges::default().to_string(), "");
    }
}
