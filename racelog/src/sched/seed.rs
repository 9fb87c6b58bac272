//! Seeds: what a run is made from, and all that is needed to run it again.

use std::fmt;
use std::str::FromStr;

/// All that decides a run of a deterministic program. As text it is what `RACELOG_SEED` takes.
///
/// ```
/// use racelog::sched::Seed;
///
/// let seed: Seed = "pct:3:120:42".parse().unwrap();
/// assert_eq!(seed.to_string(), "pct:3:120:42");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seed(pub(super) Kind);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Random {
        seed: u64,
    },
    Pct {
        depth: u32,
        length: u64,
        seed: u64,
    },
    /// Of the pair with this number.
    Race {
        pair: usize,
        seed: u64,
    },
    /// The choices of a search, as slots.
    Path(Vec<usize>),
}

/// A text that is no seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSeed(String);

impl fmt::Display for InvalidSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no seed: write one as a failing run has printed it", self.0)
    }
}

impl std::error::Error for InvalidSeed {}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Random { seed } => write!(f, "random:{seed}"),
            Kind::Pct { depth, length, seed } => write!(f, "pct:{depth}:{length}:{seed}"),
            Kind::Race { pair, seed } => write!(f, "race:{pair}:{seed}"),
            Kind::Path(choices) => {
                f.write_str("path:")?;
                // Threads mostly take several steps in a row.
                for (at, same) in choices.chunk_by(|a, b| a == b).enumerate() {
                    let separator = if at == 0 { "" } else { "." };
                    write!(f, "{separator}{}", same[0])?;
                    if same.len() > 1 {
                        write!(f, "x{}", same.len())?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Seed {
    type Err = InvalidSeed;

    fn from_str(text: &str) -> Result<Self, InvalidSeed> {
        parse(text).map(Self).ok_or_else(|| InvalidSeed(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Kind> {
    let (kind, rest) = text.split_once(':')?;
    let mut numbers = rest.split(':');
    let mut next = || numbers.next()?.parse::<u64>().ok();
    let kind = match kind {
        "random" => Kind::Random { seed: next()? },
        "pct" => Kind::Pct { depth: u32::try_from(next()?).ok()?, length: next()?, seed: next()? },
        "race" => Kind::Race { pair: usize::try_from(next()?).ok()?, seed: next()? },
        "path" => return path(rest).map(Kind::Path),
        _ => return None,
    };
    numbers.next().is_none().then_some(kind)
}

fn path(text: &str) -> Option<Vec<usize>> {
    let mut choices = Vec::new();
    for part in text.split('.').filter(|part| !part.is_empty()) {
        let (slot, times) = part.split_once('x').unwrap_or((part, "1"));
        let times: usize = times.parse().ok().filter(|times| *times <= 1 << 24)?;
        choices.extend(std::iter::repeat_n(slot.parse::<usize>().ok()?, times));
    }
    Some(choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_text_and_back() {
        let path = Kind::Path(vec![0, 0, 0, 1, 2, 2]);
        let seeds = [
            (Kind::Random { seed: u64::MAX }, "random:18446744073709551615"),
            (Kind::Pct { depth: 3, length: 120, seed: 7 }, "pct:3:120:7"),
            (Kind::Race { pair: 1, seed: 9 }, "race:1:9"),
            (path, "path:0x3.1.2x2"),
        ];
        for (kind, text) in seeds {
            assert_eq!(Seed(kind.clone()).to_string(), text);
            assert_eq!(text.parse::<Seed>().unwrap().0, kind);
        }
        for wrong in ["", "7", "random", "random:x", "random:1:2", "pct:3:7", "path:0y3", "walk:1"]
        {
            let error = wrong.parse::<Seed>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
        }
    }
}
