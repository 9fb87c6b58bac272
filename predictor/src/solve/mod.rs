//! Solvers: they decide whether a formula has a model.
//!
//! A solver stands behind a trait. Its three answers are yes with a model, no, and unknown, which
//! is shown to the user and never folded into "no".

#[cfg(feature = "z3")]
pub mod both;
pub mod formula;
pub mod order;
pub mod smtlib;
#[cfg(feature = "z3")]
pub mod z3;

use std::str::FromStr;
use std::time::Instant;

use formula::{Formula, Lit};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::trace::EventId;

/// What a solver says.
#[derive(Clone, Debug)]
pub enum Answer {
    /// There is a model.
    Yes(Model),
    /// There is none.
    No,
    /// It could not be found out in time.
    Unknown,
}

/// An assignment that satisfies a formula.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Whether each proposition holds.
    pub holds: Vec<bool>,
    /// Where in the total order each event stands. Events that the formula does not order stand
    /// where they were observed.
    pub rank: FxHashMap<EventId, i64>,
}

impl Model {
    /// Whether a literal holds. One that is newer than the model does not.
    pub fn is_true(&self, lit: Lit) -> bool {
        self.holds.get(lit.proposition()).is_some_and(|holds| *holds == lit.is_positive())
    }

    /// Where in the total order an event stands. What is later in the trace breaks a tie.
    pub fn rank(&self, event: EventId) -> (i64, EventId) {
        let rank = self.rank.get(&event).copied().unwrap_or(event.index() as i64);
        (rank, event)
    }
}

/// Who decides whether a formula has a model.
///
/// A solver belongs to one formula, which may grow between the questions.
pub trait Solver {
    /// What the solver is called.
    fn name(&self) -> &'static str;

    /// Whether the formula has a model in which the assumptions hold. Past the deadline, the
    /// answer is unknown.
    fn solve(
        &mut self,
        formula: &Formula,
        assumptions: &[Lit],
        deadline: Option<Instant>,
    ) -> Answer;

    /// Why nothing that this solver says is to be trusted, if it has found that out. It is a fault
    /// in a solver: the analysis has to stop.
    fn disagreement(&self) -> Option<&Disagreement> {
        None
    }
}

/// Whether there is no time left.
pub(crate) fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Two solvers contradict each other.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the solvers disagree: `{yes}` says yes, `{no}` says no")]
pub struct Disagreement {
    /// Who says that there is a model.
    pub yes: &'static str,
    /// Who says that there is none.
    pub no: &'static str,
    /// What they were asked, as an SMT-LIB script.
    pub question: String,
}

/// The solvers that there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum SolverKind {
    /// Our own.
    #[default]
    Order,
    /// Z3.
    #[cfg(feature = "z3")]
    Z3,
    /// Both, and a difference is an error.
    #[cfg(feature = "z3")]
    Both,
}

impl SolverKind {
    /// All of them that this build has.
    pub const ALL: &[Self] = &[
        Self::Order,
        #[cfg(feature = "z3")]
        Self::Z3,
        #[cfg(feature = "z3")]
        Self::Both,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            #[cfg(feature = "z3")]
            Self::Z3 => "z3",
            #[cfg(feature = "z3")]
            Self::Both => "both",
        }
    }

    /// A solver of this kind for a new formula.
    pub fn build(self) -> Box<dyn Solver> {
        match self {
            Self::Order => Box::new(order::OrderSolver::new()),
            #[cfg(feature = "z3")]
            Self::Z3 => Box::new(z3::Z3Solver::new()),
            #[cfg(feature = "z3")]
            Self::Both => Box::new(both::BothSolvers::new()),
        }
    }
}

impl FromStr for SolverKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().copied().find(|kind| kind.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            let hint = match name {
                "z3" | "both" => "; build with `--features z3` to have it",
                _ => "",
            };
            let names = names.join(", ");
            format!("no solver is called `{name}` in this build, which has {names}{hint}")
        })
    }
}
