//! How a finding was brought about that was not predicted.

use serde::{Deserialize, Serialize};

/// A run under control that was directed to what was suspected, and in which it happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DirectedRun {
    /// The seed that decides the run, as `RACELOG_CONTROL` takes it.
    pub control: String,
    /// The two places that it is directed to, as `RACELOG_RACE` takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<String>,
    /// The places that threads are held back at, as `RACELOG_PLACES` takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<String>,
    /// How many runs there were until it happened, with this one.
    pub runs: u64,
}
