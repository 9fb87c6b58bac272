//! The detectors, by their names.

use std::fmt;
use std::str::FromStr;

use crate::goal::{GoalKind, GoalKinds};

/// A way to find races, deadlocks or more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detector {
    /// The maximal causal model with control flow: ours.
    Mcm,
    /// Happens-before, by the memory model of C++ and Rust.
    Hb,
    /// Causally-precedes.
    Cp,
    /// Weak causal precedence.
    Wcp,
    /// Whole-trace read-write consistency.
    Said,
    /// The formula of the PLDI 2014 paper as printed.
    Paper,
    /// Locksets and a weak happens-before.
    Quick,
    /// Deadlocks of executions that keep the order of critical sections.
    Spd,
    /// Circles in the order in which locks are taken.
    LockOrder,
}

impl Detector {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Quick,
        Self::Hb,
        Self::Cp,
        Self::Wcp,
        Self::Said,
        Self::Paper,
        Self::LockOrder,
        Self::Spd,
        Self::Mcm,
    ];

    /// Those that look for races.
    pub const OF_RACES: [Self; 7] =
        [Self::Quick, Self::Hb, Self::Cp, Self::Wcp, Self::Said, Self::Paper, Self::Mcm];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcm => "mcm",
            Self::Hb => "hb",
            Self::Cp => "cp",
            Self::Wcp => "wcp",
            Self::Said => "said",
            Self::Paper => "paper",
            Self::Quick => "quick",
            Self::Spd => "spd",
            Self::LockOrder => "lock-order",
        }
    }

    /// Which kinds of goals it looks for.
    pub const fn looks_for(self) -> GoalKinds {
        match self {
            Self::Mcm => GoalKinds::ALL,
            Self::Hb | Self::Cp | Self::Wcp | Self::Said | Self::Paper | Self::Quick => {
                GoalKinds::RACES
            }
            // Writers that wait keep nobody out there.
            Self::Spd | Self::LockOrder => GoalKinds::NONE.with(GoalKind::Deadlock),
        }
    }

    /// Whether what it finds may be none.
    pub const fn is_unsound(self) -> bool {
        match self {
            Self::Quick | Self::Paper | Self::Cp | Self::Wcp | Self::LockOrder => true,
            Self::Mcm | Self::Hb | Self::Said | Self::Spd => false,
        }
    }
}

impl fmt::Display for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Detector {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|detector| detector.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|detector| detector.name()).collect();
            format!("no detector is called `{name}`; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_races_are_those_that_look_for_them() {
        let of_races =
            Detector::ALL.into_iter().filter(|it| it.looks_for().contains(GoalKind::Race));
        assert_eq!(of_races.collect::<Vec<_>>(), Detector::OF_RACES);
        assert!(Detector::ALL.iter().all(|it| it.name().parse() == Ok(*it)));
    }
}
