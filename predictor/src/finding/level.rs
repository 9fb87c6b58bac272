//! How sure a finding is, and why it is not.

use serde::{Deserialize, Serialize};

use super::{Basis, Kind, Place, Spots};

/// How sure a finding is.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It has happened: in a replay; in a run that was directed to it; or in the recorded run, by the memory model, and the capture
    /// is complete.
    Proven,
    /// The trace proves it, nothing is known to be missing from the capture, and no replay was
    /// tried.
    #[default]
    Predicted,
    /// A replay went elsewhere, or something that was not recorded could order the two accesses.
    Doubtful,
}

impl Level {
    /// How sure a finding of a kind is as long as nothing else is known.
    pub fn of_kind(kind: &Kind) -> Self {
        match kind.basis() {
            Basis::Schedule => Self::Predicted,
            Basis::ObservedRun | Basis::Happened => Self::Proven,
            Basis::Suspicion => Self::Doubtful,
        }
    }

    /// How it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Predicted => "predicted",
            Self::Doubtful => "doubtful",
        }
    }
}

/// Why a finding is doubtful.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Doubt {
    /// Only detectors say so that may be wrong.
    Unsound,
    /// The program did not follow the schedule when it was replayed.
    NotReplayed,
    /// Threads took part that recorded code did not start: nothing is known of what orders them.
    ForeignThreads {
        /// How many, and where they first appear.
        #[serde(flatten)]
        spots: Spots,
    },
    /// Threads took part whose events were not recorded.
    UnattributedThreads {
        /// How many, and where they first appear.
        #[serde(flatten)]
        spots: Spots,
    },
    /// The program uses locks, atomics, channels or threads that are not racelog's.
    Unrecorded {
        /// How many such places there are.
        number: u64,
        /// The first of them.
        uses: Vec<Named>,
    },
    /// The program goes by the counts of std's `Arc`.
    Arc {
        /// How many such places there are.
        number: u64,
        /// The first of them.
        uses: Vec<Named>,
    },
    /// The program links crates that synchronise by themselves.
    Crates {
        /// Their names.
        names: Vec<String>,
    },
    /// A destructor frees the memory. Which owner is the last is in the trace if racelog's `Arc`
    /// counts them, and not if another crate does, whose sources are not read.
    Destructor,
    /// Source files of the program could not be read.
    UnreadFiles {
        /// Which.
        files: Vec<String>,
    },
    /// A doubt that a later version of racelog knows.
    #[serde(other)]
    Other,
}

/// Something that is used, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Named {
    /// What.
    pub name: String,
    /// Where.
    pub place: Place,
}
