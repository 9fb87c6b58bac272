//! All traces of a project, and one report about them.
//!
//! [`Report`](crate::report::Report) is about one trace. A test suite leaves many, and the same race shows in
//! several of them: a [`Project`] has every race once, with all the places where it occurred. It is the
//! documented, versioned schema of `cargo racelog`'s JSON (docs/REPORT.md), all other formats are
//! made from it, and it can be read back: shards of an analysis are merged, and reports are written
//! again, from that file alone.

mod allow;
mod analyze;
mod capture;
mod collect;
pub(crate) mod expression;
mod fold;
mod kept;
mod level;
mod merge;
mod place;
mod schedule;
mod source;
mod suppress;

use serde::{Deserialize, Serialize};

use crate::replay::{Cause, ReplayResult, Replayed};
use crate::unrecorded::Unrecorded;

pub use self::allow::{NoSuppression, suppressions_in};
pub use self::analyze::{Progress, Settings, TraceFile, analyze};
pub(crate) use self::capture::without_hash;
pub use self::capture::{Capture, Spots};
pub(crate) use self::collect::fnv;
pub use self::collect::{Analysed, Collector};
pub use self::level::{Doubt, Level, Named};
pub use self::merge::{MergeError, merge};
pub use self::place::{NoPlace, Place};
pub use self::schedule::{NoStretch, Step, Stretches};
pub use self::source::{NoSources, Sources};
pub use self::suppress::Suppression;

/// What the schema is called.
pub const SCHEMA: &str = "racelog-project";

/// The version of the schema. It changes when a field goes away or changes its meaning.
pub const VERSION: u32 = 1;

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
    /// Whether doubtful findings are errors, too.
    #[serde(default)]
    pub strict: bool,
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
    pub counts: Option<crate::report::Counts>,
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

/// What a detector did on a trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DetectorRun {
    /// Its name.
    pub name: String,
    /// How many pairs it could not decide.
    pub unknown: u64,
    /// How long it took.
    pub seconds: f64,
    /// Whether what it finds may be no race, by design.
    pub unsound: bool,
}

/// A file that was not analysed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path, from the folder of the traces.
    pub name: String,
    /// Why, and what to do.
    pub problem: String,
}

/// A race, with all that is known of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Its number in this report, from 1.
    pub number: u32,
    /// Which kind it is.
    pub code: Code,
    /// How sure it is.
    #[serde(default)]
    pub level: Level,
    /// Why it is doubtful, if it is.
    #[serde(default)]
    pub doubts: Vec<Doubt>,
    /// The same for the same race in every run, as long as the code around it stays where it is.
    pub fingerprint: String,
    /// The two accesses as the source has them.
    pub sides: [Side; 2],
    /// Where it occurred, sorted by trace. There is at least one.
    pub occurrences: Vec<Occurrence>,
    /// Why it does not count, if somebody has said so.
    pub suppressed: Option<Suppressed>,
    /// Whether the baseline has it.
    pub known: bool,
}

/// Which kind of thing was found. `cargo racelog explain` says more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Code {
    /// A data race, proven by a schedule.
    #[serde(rename = "RL001")]
    DataRace,
    /// A data race of the observed run, by happens-before, that no schedule shows: nothing orders the
    /// accesses, or the orderings of atomic accesses are too weak for their order to count.
    #[serde(rename = "RL002")]
    Unordered,
    /// What only a detector says that may be wrong.
    #[serde(rename = "RL003")]
    Suspected,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::DataRace, Self::Unordered, Self::Suspected];

    /// How it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DataRace => "RL001",
            Self::Unordered => "RL002",
            Self::Suspected => "RL003",
        }
    }

    /// What it is, in two or three words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::DataRace => "data race",
            Self::Unordered => "data race by happens-before",
            Self::Suspected => "suspected data race",
        }
    }
}

/// An access as the source has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Side {
    /// Where it stands; `None` if that was not recorded.
    pub place: Option<Place>,
    /// The operation, as the text format calls it: `read`, `write`, `load`, `store`, `rmw` and so on.
    pub kind: String,
    /// Whether it is atomic.
    pub atomic: bool,
}

/// A race in one trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Occurrence {
    /// The name of the trace.
    pub trace: String,
    /// What is accessed.
    pub variable: Variable,
    /// The two accesses, as they stand in [`Finding::sides`].
    pub accesses: [Access; 2],
    /// Why it is a race.
    pub reason: crate::report::Reason,
    /// The detectors that found it; the one whose pair this is first.
    pub detectors: Vec<String>,
    /// The solver that decided it, if one had to.
    pub solver: Option<String>,
    /// How long that took, if it was predicted.
    pub seconds: Option<f64>,
    /// A schedule that ends in the pair, if it was predicted.
    pub witness: Option<Stretches>,
    /// The steps of the witness that matter, with the last ones for sure.
    pub steps: Vec<Step>,
    /// How many events of the witness are not among the steps.
    pub left_out: u64,
    /// Other accesses of the variable that nothing orders in the observed run, though no schedule
    /// shows them side by side.
    pub also: Vec<[Side; 2]>,
    /// What came of running the program under the witness.
    pub replay: Option<Replay>,
}

/// What is accessed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variable {
    /// What the trace calls it.
    pub name: String,
    /// What it is: `atomic` or `memory`.
    pub what: String,
    /// Where it was first used.
    pub first_use: Option<Place>,
}

/// An access in a trace, and what surrounds it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Access {
    /// Its number.
    pub event: u64,
    /// Its thread.
    pub thread: String,
    /// Where that thread was spawned.
    pub spawned: Option<Place>,
    /// The value that was read, or written if it only writes; `_` if it was not recorded.
    pub value: String,
    /// The value that a read-modify-write wrote.
    pub new_value: Option<String>,
    /// The locks that the thread holds; shared ones are marked.
    pub locks: Vec<Lock>,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lock {
    /// What the trace calls it.
    pub name: String,
    /// Whether others may share it.
    pub shared: bool,
    /// Where it was taken.
    pub taken: Option<Place>,
}

/// What came of running the program under a witness.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Replay {
    /// In short.
    pub status: ReplayStatus,
    /// The same in words, for readers that know no other field, and all there is in reports of a racelog that had
    /// none. Reports are made from the other fields.
    pub lines: Vec<String>,
    /// Why the race was not brought about, if it was not.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// The two runs, and what they say.
    #[serde(default)]
    pub replayed: Option<Replayed>,
}

impl Replay {
    /// What two runs of the program say.
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

    /// There are no two runs, for this reason.
    pub fn failed(cause: Cause) -> Self {
        Self { status: ReplayStatus::Failed, lines: Vec::new(), cause: Some(cause), replayed: None }
    }

    /// Whether the program was run under the schedule, so that a race that was not brought about is in doubt.
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
    /// The race happened, in both orders.
    Confirmed,
    /// It happened, and a panic, a failed check, a deadlock or the like followed.
    ConfirmedHarmful,
    /// The program did something else than predicted.
    Diverged,
    /// It could not be tried.
    Failed,
}

impl ReplayStatus {
    /// Whether the race has happened.
    pub const fn is_confirmed(self) -> bool {
        matches!(self, Self::Confirmed | Self::ConfirmedHarmful)
    }
}

/// Why a finding does not count.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suppressed {
    /// The reason that was given.
    pub reason: String,
    /// Where it stands.
    pub by: String,
}

/// Whether a name can be that of a trace: a path within the folder of the traces, and nowhere else.
pub fn is_trace_name(name: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    // Where a backslash or a colon means something, it would lead elsewhere.
    let leads_nowhere = !cfg!(windows) || !name.contains(['\\', ':']);
    name.split('/').all(is_plain) && leads_nowhere && !name.contains('\0')
}

impl Project {
    /// Reads a report that was written before.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: Option<String>,
            version: Option<u32>,
        }
        let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match (head.schema.as_deref(), head.version) {
            (Some(SCHEMA), Some(VERSION)) => {
                let project: Self =
                    serde_json::from_str(text).map_err(|error| error.to_string())?;
                project.check()?;
                Ok(project)
            }
            (Some(SCHEMA), version) => Err(format!(
                "version {} of the report cannot be read, only {VERSION}: analyse the traces again",
                version.unwrap_or(0)
            )),
            _ => Err("no report of `cargo racelog`".to_owned()),
        }
    }

    /// What every report holds to, and a file that somebody has changed may not.
    fn check(&self) -> Result<(), String> {
        if let Some(empty) = self.findings.iter().find(|finding| finding.occurrences.is_empty()) {
            return Err(format!("finding {} has no occurrence", empty.number));
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

impl Occurrence {
    /// The two threads, in the order in which the witness ends with their accesses.
    pub fn racing_threads(&self) -> [&str; 2] {
        let [first, second] = &self.accesses;
        let last = self.witness.as_ref().and_then(|w| w.stretches().last()).map(|[_, last]| *last);
        let in_order = last != Some(first.event);
        let (one, other) = if in_order { (first, second) } else { (second, first) };
        [&one.thread, &other.thread]
    }
}

impl Finding {
    /// Whether it counts.
    pub fn is_open(&self) -> bool {
        self.suppressed.is_none() && !self.known
    }

    /// The occurrence that says most: one that was replayed, or else one that was predicted.
    pub fn best(&self) -> &Occurrence {
        let rank = |occurrence: &Occurrence| match &occurrence.replay {
            Some(replay) => match replay.status {
                ReplayStatus::ConfirmedHarmful => 0,
                ReplayStatus::Confirmed => 1,
                ReplayStatus::Diverged | ReplayStatus::Failed => 2,
            },
            None if occurrence.witness.is_some() => 3,
            None => 4,
        };
        let best = self.occurrences.iter().min_by_key(|occurrence| rank(occurrence));
        best.expect("there is at least one")
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
