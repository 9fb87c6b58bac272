//! What people and machines read.
//!
//! [`Report`] is the documented, versioned schema of `--format json` (docs/REPORT.md); the text for
//! people says the same. [`Table`] is for figures.

mod context;
mod last_seen;
mod table;
mod text;
pub mod unseen;

use serde::{Deserialize, Serialize};

pub use self::context::{Access, HeldLock, describe, held};
pub use self::last_seen::{LastSeen, last_seen};
pub use self::table::Table;
pub use self::text::write_text;
pub use self::unseen::Unseen;

/// The version of the schema. It changes when a field goes away or changes its meaning.
pub const VERSION: u32 = 1;

/// All that an analysis has to say about a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
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
    /// What they found, sorted by events.
    pub findings: Vec<Finding>,
    /// What became of the conflicting pairs, if `mcm` ran.
    pub counts: Option<Counts>,
    /// What the trace did not see.
    pub unseen: Unseen,
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
#[derive(Clone, Debug, Serialize)]
pub struct DetectorRun {
    /// Its name.
    pub name: &'static str,
    /// How many findings it has.
    pub findings: usize,
    /// How many pairs it could not decide.
    pub unknown: u64,
    /// How long it took.
    pub seconds: f64,
    /// Whether what it finds may be no race, by design.
    pub unsound: bool,
}

/// A race.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The numbers of the two accesses, the smaller first.
    pub events: [u64; 2],
    /// What is accessed.
    pub variable: String,
    /// The accesses, as they stand in `events`.
    pub accesses: [Access; 2],
    /// Why it is a race.
    pub reason: Reason,
    /// The detector that found it; the first of `detectors`.
    pub detector: &'static str,
    /// All detectors that found it.
    pub detectors: Vec<&'static str>,
    /// The solver that decided it, if one had to.
    pub solver: Option<&'static str>,
    /// How long that took.
    pub seconds: Option<f64>,
    /// The numbers of the events of a schedule that ends in the pair, if it was predicted.
    pub witness: Option<Vec<u64>>,
}

/// Why a pair is a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// Which kind of reason.
    pub kind: ReasonKind,
    /// The same in words.
    pub text: String,
    /// The atomic accesses whose orderings are too weak to order the pair.
    pub too_weak: Vec<TooWeak>,
}

/// A kind of reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// Nothing orders the two in the observed run.
    Unordered,
    /// They are ordered in the observed run, and in another execution they are not.
    Reordered,
    /// Atomic accesses order them, but their orderings are too weak for that to count.
    OrderingTooWeak,
}

/// An atomic access whose ordering is too weak.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TooWeak {
    /// Its number.
    pub event: u64,
    /// Its ordering.
    pub ordering: String,
    /// Where it stands.
    pub location: Option<String>,
    /// The operation, as the text format calls it; nothing in reports of older versions.
    #[serde(default)]
    pub kind: Option<String>,
    /// The weakest ordering that would do, if all of these have theirs.
    #[serde(default)]
    pub needs: Option<String>,
}

/// What became of the conflicting pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Conflicting pairs in all.
    pub candidates: u64,
    /// Proven to be races, each by a witness that was checked, by what found it.
    pub proven: Proven,
    /// Proven to be none, by which proof.
    pub refuted: Refuted,
    /// Not looked at, because another pair of the same two source locations is a race.
    pub covered: u64,
    /// Not decided, and why.
    pub unknown: Unknown,
}

/// How many races were found by what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Proven {
    /// The observed run with one thread held back.
    pub hold_back: u64,
    /// What the race forces, in an order near to the observed one.
    #[serde(default)]
    pub closure: u64,
    /// The observed run with one thread held back, in which the others wait for what they need.
    #[serde(default)]
    pub waiting: u64,
    /// The solver.
    pub solver: u64,
}

impl Proven {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.hold_back + self.closure + self.waiting + self.solver
    }
}

/// How many pairs each proof ruled out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refuted {
    /// Both accesses hold a lock that only one thread can hold.
    pub common_lock: u64,
    /// The order in which locks were taken keeps them apart.
    #[serde(default)]
    pub lock_histories: u64,
    /// One comes before the other in every execution.
    pub must_order: u64,
    /// The values that have been read force one to come before the other.
    pub forced_order: u64,
    /// What such a race would force is a contradiction.
    #[serde(default)]
    pub closure: u64,
    /// The solver found no execution.
    pub solver: u64,
}

impl Refuted {
    /// All of them.
    pub fn total(&self) -> u64 {
        let by_order = self.must_order + self.forced_order + self.closure;
        self.common_lock + self.lock_histories + by_order + self.solver
    }
}

/// How many pairs were not decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unknown {
    /// The time was up.
    pub time: u64,
    /// No window has both accesses.
    pub apart: u64,
    /// No race within its window, which is not the whole trace.
    pub window: u64,
    /// Too many pairs of the same two source locations.
    pub limit: u64,
    /// The checker did not accept the solver's witness: a bug of ours.
    pub unconfirmed: u64,
}

impl Unknown {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.time + self.apart + self.window + self.limit + self.unconfirmed
    }
}

impl Counts {
    /// Adds what became of other pairs.
    pub fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.proven.hold_back += other.proven.hold_back;
        self.proven.closure += other.proven.closure;
        self.proven.waiting += other.proven.waiting;
        self.proven.solver += other.proven.solver;
        self.refuted.common_lock += other.refuted.common_lock;
        self.refuted.lock_histories += other.refuted.lock_histories;
        self.refuted.must_order += other.refuted.must_order;
        self.refuted.forced_order += other.refuted.forced_order;
        self.refuted.closure += other.refuted.closure;
        self.refuted.solver += other.refuted.solver;
        self.covered += other.covered;
        self.unknown.time += other.unknown.time;
        self.unknown.apart += other.unknown.apart;
        self.unknown.window += other.unknown.window;
        self.unknown.limit += other.unknown.limit;
        self.unknown.unconfirmed += other.unknown.unconfirmed;
    }
}

impl From<crate::predict::Counts> for Counts {
    fn from(counts: crate::predict::Counts) -> Self {
        Self {
            candidates: counts.candidates,
            proven: Proven {
                hold_back: counts.held_back,
                closure: counts.closed,
                waiting: counts.waited,
                solver: counts.solved,
            },
            refuted: Refuted {
                common_lock: counts.locked,
                lock_histories: counts.crossed,
                must_order: counts.ordered,
                forced_order: counts.forced,
                closure: counts.contradicted,
                solver: counts.refuted,
            },
            covered: counts.covered,
            unknown: Unknown {
                time: counts.timed_out,
                apart: counts.apart,
                window: counts.cut,
                limit: counts.too_many,
                unconfirmed: counts.unconfirmed,
            },
        }
    }
}
