//! The predictor: all goals that executions of a trace reach, by the maximal causal model with
//! control flow, each with a witness that the checker has replayed.
//!
//! The stages that are the same for every kind of goal, one a file: the order that all executions
//! share (`must`), goals that cannot be reached for the order of locks (`histories`) or for flags
//! that are taken by compare-exchange (`flags`), the events and orders that a goal forces
//! (`closure`), the observed run with threads held back (`hold_back`), the same where other threads
//! wait for the events that they need (`patient_run`), one goal by the solver (`decide`), one goal
//! by all means (`single`), and all goals of a trace, in parallel (`run`). Each kind has its
//! candidates and its own cheap proofs: `race`, `deadlock`, `send`, `stall`.

mod atomicity;
mod check;
mod closure;
mod counts;
mod deadlock;
mod decide;
mod fate;
mod flags;
mod histories;
mod hold_back;
mod must;
mod options;
mod patient_run;
mod proofs;
mod race;
mod run;
mod send;
mod single;
mod stall;
mod switches;
mod writes;

use std::time::Duration;

pub use self::closure::{Closed, Closures};
pub use self::counts::{Counts, ProvenBy, RefutedBy, Undecided};
pub use self::decide::{Decided, Decider};
pub use self::hold_back::HoldBack;
pub use self::must::MustOrder;
pub use self::options::{Options, Part, Proofs};
pub use self::race::{Candidates, Waiting};
pub use self::run::predict;
pub use self::single::decide_goal;
pub use self::writes::Writes;
use crate::goal::{Goal, Pair};
use crate::solve::Disagreement;
use crate::witness::Witness;

/// How many steps threads may wait for what they need, for a signature: about a second.
pub const PATIENCE: usize = 1 << 24;

/// A goal that some execution reaches, and what proves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proven {
    /// An execution that reaches it; the checker has replayed it.
    pub witness: Witness,
    /// What found the witness.
    pub proof: Proof,
    /// How long it took to find out.
    pub time: Duration,
}

impl Proven {
    /// What is reached.
    pub fn goal(&self) -> &Goal {
        &self.witness.goal
    }
}

/// What found a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// The observed run with one thread held back.
    HeldBack,
    /// What the goal forces, in an order near to the observed one.
    Closure,
    /// The observed run with one thread held back, in which the others wait for what they need.
    Waiting,
    /// The solver.
    Solver,
}

/// What was found out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prediction {
    /// What executions reach, sorted by goal.
    pub found: Vec<Proven>,
    /// What became of the candidates.
    pub counts: Counts,
    /// The goals that could not be decided, sorted.
    pub unknown: Vec<Goal>,
    /// What two solvers that were both asked differ on: a bug, after which nothing here counts.
    pub disagreement: Option<Disagreement>,
}

impl Prediction {
    /// The races among what was found.
    pub fn races(&self) -> impl Iterator<Item = Pair> {
        self.found.iter().filter_map(|proven| proven.goal().as_race())
    }
}
