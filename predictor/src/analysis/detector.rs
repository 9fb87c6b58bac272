//! The detectors, by their names.

use std::fmt;
use std::str::FromStr;

/// A way to find races.
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
}

impl Detector {
    /// All of them.
    pub const ALL: [Self; 7] =
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
        }
    }

    /// Whether what it finds may be no race.
    pub const fn is_unsound(self) -> bool {
        matches!(self, Self::Quick | Self::Paper | Self::Cp | Self::Wcp)
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
