//! All traces of a project, and one report about them.
//!
//! [`Report`](crate::report::Report) is about one trace. A test suite leaves many, and the same
//! race shows in several of them: a [`Project`] has every race once, with all the places where it
//! occurred. It is the documented, versioned schema of `cargo racelog`'s JSON (docs/REPORT.md), all
//! other formats are made from it, and it can be read back: shards of an analysis are merged, and
//! reports are written again, from that file alone.

mod allow;
mod analyze;
mod capture;
mod collect;
mod explored;
pub(crate) mod expression;
mod fold;
mod kept;
mod level;
mod merge;
mod source;
mod suppress;
mod version_1;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::finding::{Finding, Place, Spots, shared};
use crate::goal::GoalKinds;
use crate::report::{Counts, DetectorRun};
use crate::unrecorded::Unrecorded;

pub use self::allow::{NoSuppression, suppressions_in};
pub use self::analyze::{Progress, Settings, TraceFile, analyze};
pub use self::capture::Capture;
pub(crate) use self::capture::without_hash;
pub(crate) use self::collect::fnv;
pub use self::collect::{Analysed, Collector};
pub use self::explored::{Explored, FirstHit, RunOfTrace, Schedules};
pub use self::merge::{MergeError, merge};
pub use self::source::{NoSources, Sources};
pub use self::suppress::Suppression;

/// What the schema is called.
pub const SCHEMA: &str = "racelog-project";

/// The version of the schema. It changes when a field goes away or changes its meaning.
pub const VERSION: u32 = 2;

/// All that is known about a project after its traces were analysed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Project {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// The version of racelog that made it.
    pub racelog: String,
    /// Which part of the work this is about, if it is not all of it.
    pub shard: Option<Shard>,
    /// The traces that were analysed, sorted by name.
    pub traces: Vec<TraceInfo>,
    /// The files that were not, and why, sorted by name.
    pub skipped: Vec<Skipped>,
    /// What was looked for. Reports of earlier versions know of races only.
    #[serde(default = "races")]
    pub goals: GoalKinds,
    /// What was found, sorted by place.
    pub findings: Vec<Finding>,
    /// Suppressions that fit no finding.
    pub unused_suppressions: Vec<String>,
    /// What the sources of the programs use that is not recorded, as far as they were read.
    #[serde(default)]
    pub unrecorded: Unrecorded,
    /// What was not seen, in numbers.
    #[serde(default)]
    pub capture: Capture,
    /// What was tried by directed runs, if any were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<Explored>,
    /// Whether doubtful findings are errors, too.
    #[serde(default)]
    pub strict: bool,
}

const fn races() -> GoalKinds {
    GoalKinds::RACES
}

/// A part of the work: the `index`-th of `of` parts, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shard {
    /// Which.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

impl Shard {
    /// The most parts that work is cut into.
    const MOST: u32 = 1 << 20;

    /// Whether there is such a part.
    pub const fn is_valid(self) -> bool {
        0 < self.index && self.index <= self.of && self.of <= Self::MOST
    }
}

/// A trace that was analysed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceInfo {
    /// Its path, from the folder of the traces.
    pub name: String,
    /// The test that was recorded, as the test runner calls it.
    pub test: Option<String>,
    /// The program that was recorded: the name of its file.
    pub program: Option<String>,
    /// How many events it has.
    pub events: u64,
    /// How many threads it has.
    pub threads: u64,
    /// Why it is not whole, if it is not.
    pub note: Option<String>,
    /// How many events are known to be missing in it.
    #[serde(default)]
    pub lost_events: u64,
    /// The detectors that ran.
    pub detectors: Vec<DetectorRun>,
    /// What became of the conflicting pairs, if `mcm` ran.
    pub counts: Option<Counts>,
    /// How many raw pointers left an `UnsafeCell` unseen.
    pub unseen_pointers: u64,
    /// Where the first of them did.
    #[serde(default)]
    pub unseen_places: Vec<Place>,
    /// References made from raw pointers whose uses are not followed.
    #[serde(default)]
    pub unseen_references: Spots,
    /// Macros in instrumented unsafe code that nobody looks into.
    #[serde(default)]
    pub hidden_macros: Spots,
    /// Threads that recorded code did not start, and where they first appear.
    #[serde(default)]
    pub foreign_threads: Spots,
    /// Threads that may belong to the trace and are not in it, and where they were first met.
    #[serde(default)]
    pub unattributed_threads: Spots,
}

/// A file that was not analysed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path, from the folder of the traces.
    pub name: String,
    /// Why, and what to do.
    pub problem: String,
}

/// Whether a name can be that of a trace: a path within the folder of the traces, and nowhere else.
pub fn is_trace_name(name: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    // Where a backslash or a colon means something, it would lead elsewhere.
    let leads_nowhere = !cfg!(windows) || !name.contains(['\\', ':']);
    name.split('/').all(is_plain) && leads_nowhere && !name.contains('\0')
}

/// The fields that come first in the file, so that readers know what it is.
const FIRST: [&str; 5] = ["schema", "version", "racelog", "shard", "strict"];

impl Project {
    /// The report as JSON.
    pub fn to_json(&self) -> String {
        shared::to_lines(&self.to_value(), &FIRST)
    }

    /// The report as it is written, with what its findings have in common in tables.
    pub(crate) fn to_value(&self) -> Value {
        let mut report = serde_json::to_value(self).expect("all keys are strings");
        let tables = shared::share(&mut report["findings"]);
        report["tables"] = tables;
        report
    }

    /// Reads a report that was written before, by this version or an earlier one.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: Option<String>,
            version: Option<u32>,
        }
        let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let project: Self = match (head.schema.as_deref(), head.version) {
            (Some(SCHEMA), Some(VERSION)) => {
                let mut report: Value =
                    serde_json::from_str(text).map_err(|error| error.to_string())?;
                let tables = report["tables"].take();
                shared::put_back(&mut report["findings"], tables)?;
                serde_json::from_value(report).map_err(|error| error.to_string())?
            }
            (Some(SCHEMA), Some(1)) => version_1::read(text)?,
            (Some(SCHEMA), version) => {
                return Err(format!(
                    "version {} of the report cannot be read, only 1 and {VERSION}: analyse the \
                     traces again",
                    version.unwrap_or(0)
                ));
            }
            _ => return Err("no report of `cargo racelog`".to_owned()),
        };
        project.check()?;
        Ok(project)
    }

    /// What every report holds to, and a file that was changed by hand may not.
    fn check(&self) -> Result<(), String> {
        if let Some(empty) = self.findings.iter().find(|finding| finding.occurrences.is_empty()) {
            return Err(format!("finding {} has no occurrence", empty.number));
        }
        let whole = |finding: &&Finding| finding.occurrences.iter().all(|it| !it.parts.is_empty());
        if let Some(empty) = self.findings.iter().find(|finding| !whole(finding)) {
            return Err(format!("finding {} has no event", empty.number));
        }
        let named = self.traces.iter().map(|trace| &trace.name);
        let occurred = self.findings.iter().flat_map(|finding| &finding.occurrences);
        let mut names = named.chain(occurred.map(|occurrence| &occurrence.trace));
        if let Some(outside) = names.find(|name| !is_trace_name(name)) {
            return Err(format!("`{outside}` names no file within the folder of the traces"));
        }
        match self.shard {
            Some(shard) if !shard.is_valid() => {
                Err(format!("there is no shard {}/{}", shard.index, shard.of))
            }
            _ => Ok(()),
        }
    }

    /// The findings that count: neither suppressed nor in the baseline.
    pub fn open_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_open())
    }

    /// A trace by its name.
    pub fn trace(&self, name: &str) -> Option<&TraceInfo> {
        let at = self.traces.binary_search_by(|trace| trace.name.as_str().cmp(name)).ok()?;
        Some(&self.traces[at])
    }

    /// How many pairs were not decided.
    pub fn unknown(&self) -> u64 {
        let runs = self.traces.iter().flat_map(|trace| &trace.detectors);
        runs.map(|run| run.unknown).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_traces_lead_nowhere_else() {
        for name in ["a.rlog", "program-1f/test.rlog", "..a/b..", "a b"] {
            assert!(is_trace_name(name), "{name}");
        }
        for name in ["", "/etc/passwd", "../a", "a/../../b", "a//b", "./a", "a/", "a\0b"] {
            assert!(!is_trace_name(name), "{name}");
        }
    }
}
