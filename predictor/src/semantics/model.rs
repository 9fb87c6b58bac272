//! Which executions are considered: what is made of values, and of synchronisation.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A model of the executions of a trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Model {
    /// Values are computed where the trace says how: as in Fusion, and its concurrent trace
    /// programs.
    #[default]
    Symbolic,
    /// Values are those that were observed; only the conditions of checks are computed.
    Concrete,
    /// Every branch, check and compare-exchange is passed. It is not sound.
    Relaxed,
    /// The same, and of synchronisation only locks, forks and joins count. It is not sound.
    Nested,
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Symbolic, Self::Concrete, Self::Relaxed, Self::Nested];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symbolic => "symbolic",
            Self::Concrete => "concrete",
            Self::Relaxed => "relaxed",
            Self::Nested => "nested",
        }
    }

    /// Whether every execution of it is one of the program.
    pub const fn is_sound(self) -> bool {
        self.has_values()
    }

    /// What is to be said along with all that is found in it.
    pub fn warning(self) -> Option<String> {
        let warning =
            || format!("the model `{self}` is not sound: this may be none of the program");
        (!self.is_sound()).then(warning)
    }

    /// Whether it matters what was read.
    pub const fn has_values(self) -> bool {
        matches!(self, Self::Symbolic | Self::Concrete)
    }

    /// Whether what is written is computed, and the conditions of branches are.
    pub const fn has_expressions(self) -> bool {
        matches!(self, Self::Symbolic)
    }

    /// Whether all synchronisation counts, and not only locks, forks and joins.
    pub const fn has_all_synchronisation(self) -> bool {
        !matches!(self, Self::Nested)
    }
}

/// By its name.
impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|model| model.name() == name);
        known.ok_or_else(|| {
            format!("`{name}` is no model: use symbolic, concrete, relaxed or nested")
        })
    }
}
