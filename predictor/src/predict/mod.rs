//! The predictor: all races of a trace by the maximal causal model with control flow, each with a
//! witness that the checker has replayed.
//!
//! Stages, one a file: which pairs could be races (`candidates`), what is ordered in every execution
//! (`must`), what cannot be reached for the order of locks (`histories`), the observed run with a thread held
//! back (`hold_back`), the same with others that wait for what they need (`waiting`), what a race would force (`closure`),
//! one pair (`decide`), and all of them, in parallel (`run`).

mod candidates;
mod closure;
mod decide;
mod held;
mod histories;
mod hold_back;
mod must;
mod one;
mod run;
mod waiting;
mod writes;

use std::time::Duration;

pub use self::candidates::Candidates;
pub use self::closure::{Closed, Closures};
pub use self::decide::{Decider, Verdict};
pub use self::held::HeldLocks;
pub use self::hold_back::HoldBack;
pub use self::must::MustOrder;
pub use self::one::decide_pair;
pub use self::run::predict;
pub use self::waiting::Waiting;
pub use self::writes::Writes;
use crate::race::Pair;
use crate::solve::{Disagreement, SolverKind};
use crate::witness::Schedule;

/// How many steps threads may wait for what they need, for a signature: about a second.
pub const PATIENCE: usize = 1 << 24;

/// How to go about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether every pair is decided, or one race is enough for a pair of source locations.
    pub all_pairs: bool,
    /// How many events to look at at a time; the whole trace if none.
    pub window: Option<usize>,
    /// How long to think about one pair.
    pub pair_time: Option<Duration>,
    /// How long to think in all.
    pub total_time: Option<Duration>,
    /// How many pairs of the same two source locations to try.
    pub pairs_per_signature: Option<usize>,
    /// How many threads to use; as many as there are processors if none.
    pub jobs: Option<usize>,
    /// Who decides.
    pub solver: SolverKind,
    /// Which proofs are tried before the solver.
    pub proofs: Proofs,
    /// Which part of the work to do.
    pub part: Part,
}

/// A part of the work on a trace: every `of`-th piece, from the `first` on. All parts together find
/// what the whole finds, with the same witnesses, wherever and in which order they are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    first: usize,
    of: usize,
}

impl Part {
    /// All of it.
    pub const WHOLE: Self = Self { first: 0, of: 1 };

    /// The part that starts with a piece of this number, of so many parts; `None` if there is no
    /// such part.
    pub const fn new(first: usize, of: usize) -> Option<Self> {
        if first < of { Some(Self { first, of }) } else { None }
    }

    /// Whether a piece belongs to it.
    const fn has(self, piece: usize) -> bool {
        piece % self.of == self.first
    }

    /// Whether it counts what is known without any piece.
    pub const fn is_first(self) -> bool {
        self.first == 0
    }
}

/// Cheap proofs, which spare the solver work. Each is sound by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proofs {
    /// No, by a lock that both accesses hold.
    pub common_lock: bool,
    /// No, by the order in which locks were taken.
    pub histories: bool,
    /// No, by an order that all executions share.
    pub must_order: bool,
    /// No, by an order that is forced by values.
    pub forced_order: bool,
    /// Yes, by holding a thread back.
    pub hold_back: bool,
    /// No or yes, by following what a race would force.
    pub closure: bool,
    /// Yes, by holding a thread back while the others wait for what they need.
    pub waiting: bool,
}

impl Proofs {
    /// All of them.
    pub const ALL: Self = Self {
        common_lock: true,
        histories: true,
        must_order: true,
        forced_order: true,
        hold_back: true,
        closure: true,
        waiting: true,
    };
    /// None: the solver does it all.
    pub const NONE: Self = Self {
        common_lock: false,
        histories: false,
        must_order: false,
        forced_order: false,
        hold_back: false,
        closure: false,
        waiting: false,
    };
}

impl Default for Options {
    fn default() -> Self {
        Self {
            all_pairs: false,
            window: None,
            pair_time: Some(Duration::from_secs(10)),
            total_time: None,
            pairs_per_signature: Some(1000),
            jobs: None,
            solver: SolverKind::default(),
            proofs: Proofs::ALL,
            part: Part::WHOLE,
        }
    }
}

/// A race, and what proves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// The two accesses.
    pub pair: Pair,
    /// A schedule that ends in them; the checker has replayed it.
    pub witness: Schedule,
    /// What found the schedule.
    pub proof: Proof,
    /// How long it took to find out.
    pub time: Duration,
}

/// What found a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// The observed run with one thread held back.
    HeldBack,
    /// What the race forces, in an order near to the observed one.
    Closure,
    /// The observed run with one thread held back, in which the others wait for what they need.
    Waiting,
    /// The solver.
    Solver,
}

/// What was found out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prediction {
    /// The races, by their pairs.
    pub races: Vec<Race>,
    /// What became of the conflicting pairs.
    pub counts: Counts,
    /// The pairs that could not be decided, by their pairs.
    pub unknown: Vec<Pair>,
    /// What two solvers that were both asked differ on: a bug, after which nothing here counts.
    pub disagreement: Option<Disagreement>,
}

/// What became of the conflicting pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Conflicting pairs in all.
    pub candidates: u64,
    /// Proven to be races by holding a thread back.
    pub held_back: u64,
    /// Proven to be races by what they force.
    pub closed: u64,
    /// Proven to be races by holding a thread back while the others wait for what they need.
    pub waited: u64,
    /// Proven to be races by the solver.
    pub solved: u64,
    /// No races: both hold a lock that only one can hold.
    pub locked: u64,
    /// No races: the order in which locks were taken keeps them apart.
    pub crossed: u64,
    /// No races: one comes before the other in every execution.
    pub ordered: u64,
    /// No races: the values that have been read force one to come before the other.
    pub forced: u64,
    /// No races: what such a race would force is a contradiction.
    pub contradicted: u64,
    /// No races, says the solver.
    pub refuted: u64,
    /// Not looked at, because another pair of the same two source locations is a race.
    pub covered: u64,
    /// Not decided: the time was up.
    pub timed_out: u64,
    /// Not decided: no window has both accesses.
    pub apart: u64,
    /// Not decided: no race within its window, which is not the whole trace.
    pub cut: u64,
    /// Not decided: there are too many pairs of the same two source locations.
    pub too_many: u64,
    /// The checker did not accept what the solver found: a bug of ours.
    pub unconfirmed: u64,
}

impl Counts {
    /// How many pairs are proven to be races.
    pub fn proven(&self) -> u64 {
        self.held_back + self.closed + self.waited + self.solved
    }

    /// How many pairs could not be decided.
    pub fn unknown(&self) -> u64 {
        self.timed_out + self.apart + self.cut + self.too_many + self.unconfirmed
    }

    fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.held_back += other.held_back;
        self.closed += other.closed;
        self.waited += other.waited;
        self.solved += other.solved;
        self.locked += other.locked;
        self.crossed += other.crossed;
        self.ordered += other.ordered;
        self.forced += other.forced;
        self.contradicted += other.contradicted;
        self.refuted += other.refuted;
        self.covered += other.covered;
        self.timed_out += other.timed_out;
        self.apart += other.apart;
        self.cut += other.cut;
        self.unconfirmed += other.unconfirmed;
        self.too_many += other.too_many;
    }
}
