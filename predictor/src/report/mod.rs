//! The report about one trace, for people and for machines.
//!
//! [`Report`] is about one trace: the documented, versioned schema of `--format json`
//! (docs/REPORT.md); the text for people says the same. [`Table`] is for figures.

mod last_seen;
mod size;
mod table;
mod text;
pub mod unseen;
mod waiting;

use serde::{Deserialize, Serialize};

pub use self::last_seen::{LastSeen, last_seen};
pub use self::size::{TRACE_SIZE, trace_size};
pub use self::table::Table;
pub use self::text::write_text;
pub use self::unseen::Unseen;
pub use self::waiting::{WAITING, Waiting};
use crate::finding::{Finding, shared};
use crate::goal::{GoalLists, Model};
pub use crate::predict::Counts;

/// The version of the schema. It changes when a field goes away or changes its meaning.
pub const VERSION: u32 = 2;

/// What the schema is called.
pub const SCHEMA: &str = "racelog-trace";

/// All that an analysis has to say about a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the schema: [`VERSION`].
    pub version: u32,
    /// What the trace is called.
    pub trace: String,
    /// How many events it has.
    pub events: usize,
    /// How many threads it has.
    pub threads: usize,
    /// The detectors that ran.
    pub detectors: Vec<DetectorRun>,
    /// Which executions count, if these are not those of the program as far as the trace tells.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Model,
    /// The event numbers of what is proven, by kind. If `mcm` did not run, of all that was found.
    #[serde(flatten)]
    pub goals: GoalLists,
    /// What they found, sorted by events.
    pub findings: Vec<Finding>,
    /// What became of the conflicting pairs, if `mcm` ran.
    pub counts: Option<Counts>,
    /// What the trace did not see.
    pub unseen: Unseen,
}

/// The fields that come first, so that readers know what it is.
const FIRST: [&str; 5] = ["schema", "version", "trace", "events", "threads"];

impl Report {
    /// The report as JSON, with what its findings have in common in tables.
    pub fn to_json(&self) -> String {
        let mut report = serde_json::to_value(self).expect("all keys are strings");
        let tables = shared::share(&mut report["findings"]);
        report["tables"] = tables;
        shared::to_lines(&report, &FIRST)
    }
}

fn is_default(model: &Model) -> bool {
    *model == Model::default()
}

/// A number that can be read.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A detector that ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DetectorRun {
    /// Its name.
    pub name: String,
    /// How many findings it has; nothing in reports of version 1 about projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<u64>,
    /// How many pairs it could not decide.
    pub unknown: u64,
    /// How long it took.
    pub seconds: f64,
    /// Whether what it finds may be no race, by design.
    pub unsound: bool,
}
