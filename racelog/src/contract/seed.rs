//! Seeds: what a run is made from, and all that is needed to run it again.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// All that decides a run of a deterministic program. As text it is what `RACELOG_SEED` and
/// `RACELOG_CONTROL` take.
///
/// ```
/// use racelog::contract::seed::Seed;
///
/// let seed: Seed = "pct:3:120:42".parse().unwrap();
/// assert_eq!(seed, Seed::Pct { depth: 3, length: 120, number: 42 });
/// assert_eq!(seed.to_string(), "pct:3:120:42");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Seed {
    /// `random:NUMBER`: the next thread is chosen at random.
    Random {
        /// The seed of the random numbers.
        number: u64,
    },
    /// `pct:DEPTH:LENGTH:NUMBER`: by priorities, with a few changes.
    Pct {
        /// One more than there are changes.
        depth: u32,
        /// How many steps a run has, about.
        length: u64,
        /// The seed of the random numbers.
        number: u64,
    },
    /// `race:PAIR:NUMBER`: at random, but threads wait before the two places of a pair.
    Race {
        /// The number of the pair, from 0.
        pair: usize,
        /// The seed of the random numbers.
        number: u64,
    },
    /// `circle:NUMBER`, `between:NUMBER`, `wait:NUMBER` and `late:NUMBER`: at random, but threads wait
    /// before places that are given besides.
    Held {
        /// Which threads wait, and until when.
        manoeuvre: Manoeuvre,
        /// The seed of the random numbers.
        number: u64,
    },
    /// `path:0x3.1.2x2`: the choices of a search, as numbers of threads. `0x3` is three times 0.
    Path(Vec<usize>),
}

/// Which threads wait before which places, and until when.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Manoeuvre {
    /// Who holds a lock waits before it asks for the next one, at any of the places, until there is a
    /// thread at each.
    Circle,
    /// Of three places: who has done the first waits before the third, until another thread has done
    /// the second with the same object.
    Between,
    /// Of three places: before it takes the lock, at the first, or before it waits, at the second, a
    /// thread waits until another has notified at the third.
    Wait,
    /// At one of the places a thread waits for as long as others can go on.
    Late,
}

impl Manoeuvre {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Circle, Self::Between, Self::Wait, Self::Late];

    /// The kind of its seeds.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Circle => "circle",
            Self::Between => "between",
            Self::Wait => "wait",
            Self::Late => "late",
        }
    }

    /// Whether it can go by so many places.
    #[must_use]
    pub const fn takes(self, places: usize) -> bool {
        match self {
            Self::Circle => places >= 2,
            Self::Between | Self::Wait => places == 3,
            Self::Late => places >= 1,
        }
    }
}

/// The longest run of one choice in a path that is read.
const MOST_TIMES: usize = 1 << 24;

/// A text that is no seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSeed(String);

impl fmt::Display for InvalidSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no seed: write one as a failing run has printed it", self.0)
    }
}

impl Error for InvalidSeed {}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random { number } => write!(f, "random:{number}"),
            Self::Pct { depth, length, number } => write!(f, "pct:{depth}:{length}:{number}"),
            Self::Race { pair, number } => write!(f, "race:{pair}:{number}"),
            Self::Held { manoeuvre, number } => write!(f, "{}:{number}", manoeuvre.name()),
            Self::Path(choices) => {
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
        parse(text).ok_or_else(|| InvalidSeed(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Seed> {
    let (kind, rest) = text.split_once(':')?;
    let mut numbers = rest.split(':');
    let mut next = || numbers.next()?.parse::<u64>().ok();
    let seed = match kind {
        "random" => Seed::Random { number: next()? },
        "pct" => {
            Seed::Pct { depth: u32::try_from(next()?).ok()?, length: next()?, number: next()? }
        }
        "race" => Seed::Race { pair: usize::try_from(next()?).ok()?, number: next()? },
        "path" => return path(rest).map(Seed::Path),
        _ => {
            let manoeuvre = Manoeuvre::ALL.into_iter().find(|it| it.name() == kind)?;
            Seed::Held { manoeuvre, number: next()? }
        }
    };
    numbers.next().is_none().then_some(seed)
}

fn path(text: &str) -> Option<Vec<usize>> {
    let mut choices = Vec::new();
    for part in text.split('.').filter(|part| !part.is_empty()) {
        let (slot, times) = part.split_once('x').unwrap_or((part, "1"));
        let times: usize = times.parse().ok()?;
        // A short text must not take all memory.
        if choices.len().saturating_add(times) > MOST_TIMES {
            return None;
        }
        choices.extend(std::iter::repeat_n(slot.parse::<usize>().ok()?, times));
    }
    Some(choices)
}

#[cfg(test)]
mod tests {
    use super::super::random::{Numbers, ROUNDS};
    use super::*;

    #[test]
    fn seeds_have_their_texts() {
        for (seed, text) in [
            (Seed::Random { number: u64::MAX }, "random:18446744073709551615"),
            (Seed::Pct { depth: 3, length: 120, number: 7 }, "pct:3:120:7"),
            (Seed::Race { pair: 1, number: 9 }, "race:1:9"),
            (Seed::Held { manoeuvre: Manoeuvre::Circle, number: 4 }, "circle:4"),
            (Seed::Held { manoeuvre: Manoeuvre::Between, number: 5 }, "between:5"),
            (Seed::Held { manoeuvre: Manoeuvre::Wait, number: 6 }, "wait:6"),
            (Seed::Held { manoeuvre: Manoeuvre::Late, number: 7 }, "late:7"),
            (Seed::Path(vec![0, 0, 0, 1, 2, 2]), "path:0x3.1.2x2"),
            (Seed::Path(Vec::new()), "path:"),
        ] {
            assert_eq!(seed.to_string(), text);
            assert_eq!(text.parse(), Ok(seed));
        }
        for wrong in ["", "7", "random", "random:x", "random:1:2", "pct:3:7", "path:0y3", "walk:1"]
        {
            let error = wrong.parse::<Seed>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
        }
        // Two long runs would be more than one may be. Miri takes an hour for one.
        if cfg!(miri) {
            return;
        }
        assert!("path:0x16777216".parse::<Seed>().is_ok());
        assert!("path:0x16777216.1x16777216".parse::<Seed>().is_err());
    }

    #[test]
    fn seeds_are_text_and_back() {
        let mut numbers = Numbers::new(3);
        for _ in 0..ROUNDS {
            let (number, length) = (numbers.next(), numbers.below(1_000));
            let (depth, pair) = (numbers.below(9) as u32, numbers.below(9) as usize);
            let path = numbers.some(|numbers| vec![numbers.below(3) as usize; 2]).concat();
            for seed in [
                Seed::Random { number },
                Seed::Pct { depth, length, number },
                Seed::Race { pair, number },
                Seed::Path(path),
            ] {
                assert_eq!(seed.to_string().parse(), Ok(seed));
            }
        }
    }
}
