//! What became of the candidates. Reports have these numbers as they are here (docs/REPORT.md).

use serde::{Deserialize, Serialize};

/// What became of the conflicting pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Conflicting pairs in all.
    pub candidates: u64,
    /// Proven to be races, each by a witness that was checked, by what found it.
    pub proven: ProvenBy,
    /// Proven to be none, by which proof.
    pub refuted: RefutedBy,
    /// Not looked at, because another pair of the same two source locations is a race.
    pub covered: u64,
    /// Not decided, and why.
    pub unknown: Undecided,
}

/// How many races were found by what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProvenBy {
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

impl ProvenBy {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.hold_back + self.closure + self.waiting + self.solver
    }
}

/// How many pairs each proof ruled out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RefutedBy {
    /// Both accesses hold a lock that only one thread can hold.
    pub common_lock: u64,
    /// The order in which locks were taken keeps them apart.
    #[serde(default)]
    pub lock_histories: u64,
    /// A flag that is taken by compare-exchange keeps them apart.
    #[serde(default)]
    pub flags: u64,
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

impl RefutedBy {
    /// All of them.
    pub fn total(&self) -> u64 {
        let by_order = self.must_order + self.forced_order + self.closure;
        let by_locks = self.common_lock + self.lock_histories + self.flags;
        by_locks + by_order + self.solver
    }
}

/// How many pairs were not decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Undecided {
    /// The time was up.
    pub time: u64,
    /// No window has both accesses.
    pub apart: u64,
    /// No race within its window, which is not the whole trace.
    pub window: u64,
    /// Too many pairs of the same two source locations.
    pub limit: u64,
    /// None with so few thread switches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub switches: u64,
    /// The checker did not accept the solver's witness: a bug of ours.
    pub unconfirmed: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Undecided {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.time + self.apart + self.window + self.limit + self.switches + self.unconfirmed
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
        self.refuted.flags += other.refuted.flags;
        self.refuted.must_order += other.refuted.must_order;
        self.refuted.forced_order += other.refuted.forced_order;
        self.refuted.closure += other.refuted.closure;
        self.refuted.solver += other.refuted.solver;
        self.covered += other.covered;
        self.unknown.time += other.unknown.time;
        self.unknown.apart += other.unknown.apart;
        self.unknown.window += other.unknown.window;
        self.unknown.limit += other.unknown.limit;
        self.unknown.switches += other.unknown.switches;
        self.unknown.unconfirmed += other.unknown.unconfirmed;
    }
}
