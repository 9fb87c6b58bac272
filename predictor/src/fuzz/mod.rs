//! Many runs of a program under random schedules: the seed of each, and the tally of their
//! outcomes.
//!
//! After Sen, "Race Directed Random Testing of Concurrent Programs" (PLDI 2008): for each pair of
//! places that may race, runs are directed to it; some of them make the race real, and the rest of
//! the run shows whether it does harm. The scheduling itself is in `racelog::sched`. This module
//! runs nothing.
//!
//! Claim: a race that is called real has happened. One that is not reached may be real all the
//! same.

mod tally;

use std::str::FromStr;

use racelog::contract::seed::Seed;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub use self::tally::{Example, Tally, write_text};

/// How the next thread is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// At random, but threads wait before the two places.
    Race,
    /// At random.
    Random,
    /// By priorities with a few changes.
    Pct,
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "race" => Ok(Self::Race),
            "random" => Ok(Self::Random),
            "pct" => Ok(Self::Pct),
            _ => Err(format!("no strategy is called `{name}`; there are race, random, pct")),
        }
    }
}

/// Many runs.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// How the next thread is chosen.
    pub strategy: Strategy,
    /// How many runs there are.
    pub runs: usize,
    /// The seed of the first; the others have seeds that follow from it.
    pub seed: u64,
    /// For [`Strategy::Pct`]: its depth.
    pub depth: u32,
    /// For [`Strategy::Pct`]: how many steps a run has, about.
    pub length: u64,
}

impl Campaign {
    /// The seeds of all runs. The first is the campaign's own, so that any of these runs is a
    /// campaign of one.
    pub fn seeds(&self) -> Vec<u64> {
        let mut numbers = ChaCha8Rng::seed_from_u64(self.seed);
        let following = std::iter::repeat_with(|| numbers.next_u64());
        std::iter::once(self.seed).chain(following).take(self.runs).collect()
    }

    /// What decides the run with this number.
    pub fn control(&self, number: u64) -> Seed {
        match self.strategy {
            Strategy::Race => Seed::Race { pair: 0, number },
            Strategy::Random => Seed::Random { number },
            Strategy::Pct => Seed::Pct { depth: self.depth, length: self.length, number },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAMPAIGN: Campaign =
        Campaign { strategy: Strategy::Pct, runs: 4, seed: 7, depth: 3, length: 50 };

    #[test]
    fn every_run_is_a_campaign_of_one() {
        let seeds = CAMPAIGN.seeds();
        assert_eq!((seeds.len(), seeds[0]), (4, 7));
        for seed in &seeds {
            assert_eq!(Campaign { runs: 1, seed: *seed, ..CAMPAIGN }.seeds(), [*seed]);
        }
        assert_eq!(CAMPAIGN.seeds(), seeds);
        assert_eq!(CAMPAIGN.control(9).to_string(), "pct:3:50:9");
    }
}
