//! What came of running the program under a witness.

use serde::{Deserialize, Serialize};

use crate::replay::{Cause, ReplayResult, Replayed};

/// What came of running the program under a witness.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Replay {
    /// In short.
    pub status: ReplayStatus,
    /// The same in words, for readers that know no other field, and all there is in reports of a
    /// racelog that had none. Reports are made from the other fields.
    pub lines: Vec<String>,
    /// Why the finding was not brought about, if it was not.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// The runs, and what they say.
    #[serde(default)]
    pub replayed: Option<Replayed>,
}

impl Replay {
    /// What runs of the program say.
    pub fn new(replayed: Replayed) -> Self {
        let status = match replayed.verdict {
            ReplayResult::Confirmed { harmful: true, .. } => ReplayStatus::ConfirmedHarmful,
            ReplayResult::Confirmed { harmful: false, .. } => ReplayStatus::Confirmed,
            ReplayResult::Diverged { .. } | ReplayResult::Unreached { .. } => {
                ReplayStatus::Diverged
            }
        };
        let cause = replayed.cause().cloned();
        Self { status, lines: Vec::new(), cause, replayed: Some(replayed) }
    }

    /// There are no runs, for this reason.
    pub fn failed(cause: Cause) -> Self {
        Self { status: ReplayStatus::Failed, lines: Vec::new(), cause: Some(cause), replayed: None }
    }

    /// Whether the program was run under the schedule, so that a finding that was not brought about
    /// is in doubt.
    pub fn was_tried(&self) -> bool {
        match &self.cause {
            Some(cause) => cause.was_tried(),
            // Reports without causes: what failed there had not been run to an end.
            None => self.status != ReplayStatus::Failed,
        }
    }
}

/// What a replay says in short.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayStatus {
    /// It happened; a race, in both orders.
    Confirmed,
    /// It happened, and is or led to a panic, a failed check, a deadlock or the like.
    ConfirmedHarmful,
    /// The program did something else than predicted.
    Diverged,
    /// It could not be tried.
    Failed,
}

impl ReplayStatus {
    /// Whether it has happened.
    pub const fn is_confirmed(self) -> bool {
        matches!(self, Self::Confirmed | Self::ConfirmedHarmful)
    }
}
