//! The events that make up a finding.

use serde::{Deserialize, Serialize};

use super::{Place, Waits};

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
    /// What the thread waits for there, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
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
    /// Its thread waited after it when the recorded run was given up: the last event of the thread.
    Stuck,
    /// It took a lock that another part waits for.
    Taken,
    /// A notification that came before the wait that it was meant for.
    TooEarly,
    /// A notification that came during the wait, and went to another waiter.
    Elsewhere,
    /// An `unpark` of a thread whose token was set already.
    Merged,
    /// It dropped a receiver.
    Dropped,
    /// It is the next event of a thread that waits for one of the finding's, and is no cause of it.
    WaitsToo,
    /// A role that a later version of racelog knows.
    Other(String),
}

impl Role {
    const KNOWN: [Self; 9] = [
        Self::Next,
        Self::Happened,
        Self::Stuck,
        Self::Taken,
        Self::WaitsToo,
        Self::TooEarly,
        Self::Elsewhere,
        Self::Merged,
        Self::Dropped,
    ];

    /// Whether the finding is this event, and no mere circumstance: a report points there first.
    pub fn is_primary(&self) -> bool {
        match self {
            Self::Next | Self::Happened | Self::Stuck | Self::Other(_) => true,
            Self::Taken
            | Self::WaitsToo
            | Self::TooEarly
            | Self::Elsewhere
            | Self::Merged
            | Self::Dropped => false,
        }
    }

    /// Whether findings that differ in this event are different ones. Where the locks of a deadlock
    /// were taken is part of what it is; who else waits differs from schedule to schedule.
    pub fn tells_apart(&self) -> bool {
        self.is_primary() || *self == Self::Taken
    }

    /// How it is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Next => "next",
            Self::Happened => "happened",
            Self::Stuck => "stuck",
            Self::Taken => "taken",
            Self::WaitsToo => "waits-too",
            Self::TooEarly => "too-early",
            Self::Elsewhere => "elsewhere",
            Self::Merged => "merged",
            Self::Dropped => "dropped",
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
        let known = Self::KNOWN.into_iter().find(|role| role.name() == name);
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
