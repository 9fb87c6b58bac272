//! The events that make up a finding.

use serde::{Deserialize, Serialize};

use super::Place;

/// An event of a finding, and what surrounds it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// What it has to do with the finding.
    #[serde(default, skip_serializing_if = "Role::is_next")]
    pub role: Role,
    /// What it does, as the source has it.
    #[serde(flatten)]
    pub source: SourceOp,
    /// The number of the event.
    pub event: u64,
    /// Its thread.
    pub thread: String,
    /// Where that thread was spawned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawned: Option<Place>,
    /// What the trace calls the thing that it is done to, if that is not the finding's subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The value that was read, or written if it only writes; `_` if it was not recorded.
    pub value: String,
    /// The value that a read-modify-write wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_value: Option<String>,
    /// The locks that the thread holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<Lock>,
}

/// What an event has to do with a finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Role {
    /// It is the next event of its thread when the schedule ends: the accesses of a race.
    #[default]
    Next,
    /// It has happened when the schedule ends.
    Happened,
    /// A role that a later version of racelog knows.
    Other(String),
}

impl Role {
    /// How it is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Next => "next",
            Self::Happened => "happened",
            Self::Other(name) => name,
        }
    }

    fn is_next(&self) -> bool {
        *self == Self::Next
    }
}

impl Serialize for Role {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = [Self::Next, Self::Happened].into_iter().find(|role| role.name() == name);
        Ok(known.unwrap_or(Self::Other(name)))
    }
}

/// An operation as the source has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SourceOp {
    /// Where it stands; `None` if that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The operation, as the text format calls it: `read`, `write`, `load`, `acquire` and so on;
    /// and `free`.
    pub operation: String,
    /// Whether it is an atomic access.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub atomic: bool,
}

/// What a finding is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Subject {
    /// What the trace calls it.
    pub name: String,
    /// What it is: `atomic` or `memory`.
    pub what: String,
    /// Where it was first used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_use: Option<Place>,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lock {
    /// What the trace calls it.
    pub name: String,
    /// Whether others may share it.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub shared: bool,
    /// Where it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Place>,
}
