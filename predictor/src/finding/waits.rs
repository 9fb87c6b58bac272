//! What a thread waits for.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a thread waits for, and which threads can end that. The thing itself is the object of the
/// part that says so.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Waits {
    /// What has to come.
    #[serde(rename = "for")]
    pub what: WaitKind,
    /// The threads that can bring it; none if it is not known which those are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

/// What has to come before a thread goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WaitKind {
    /// A lock, which others hold.
    Lock,
    /// A lock, for which others wait that come first: writers that wait keep readers out.
    WaitingWriters,
    /// The end of the initialiser of a once.
    Initialiser,
    /// The end of a thread.
    ThreadEnd,
    /// A notification of a condvar.
    Notification,
    /// An `unpark`.
    Unpark,
    /// A message, or the end of its channel.
    Message,
    /// Room in a bounded channel.
    Room,
    /// Other threads at a barrier.
    Arrivals,
    /// The threads of a scope, at its end.
    EndOfScope,
    /// Something that a later version of racelog knows.
    Other(String),
}

impl WaitKind {
    const KNOWN: [Self; 10] = [
        Self::Lock,
        Self::WaitingWriters,
        Self::Initialiser,
        Self::ThreadEnd,
        Self::Notification,
        Self::Unpark,
        Self::Message,
        Self::Room,
        Self::Arrivals,
        Self::EndOfScope,
    ];

    /// How it is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Lock => "lock",
            Self::WaitingWriters => "waiting-writers",
            Self::Initialiser => "initialiser",
            Self::ThreadEnd => "thread-end",
            Self::Notification => "notification",
            Self::Unpark => "unpark",
            Self::Message => "message",
            Self::Room => "room",
            Self::Arrivals => "arrivals",
            Self::EndOfScope => "end-of-scope",
            Self::Other(name) => name,
        }
    }
}

impl Serialize for WaitKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for WaitKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::KNOWN.into_iter().find(|known| known.name() == name);
        Ok(known.unwrap_or(Self::Other(name)))
    }
}
