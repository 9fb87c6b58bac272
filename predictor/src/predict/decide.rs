//! One pair: asks the solver, follows its answers up until they hold, and has the witness checked.

use std::time::Instant;

use crate::encode::{Encoder, Forced, Index, Refinement, Window};
use crate::race::Pair;
use crate::solve::formula::{Formula, Lit};
use crate::solve::{Answer, Disagreement, Solver, is_over};
use crate::trace::{EventId, Trace};
use crate::witness::{self, Checker, Refutation, Schedule};

/// What is known of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is a race; the schedule proves it.
    Race(Schedule),
    /// It is no race.
    NoRace,
    /// There was not enough time.
    Unknown,
    /// The solver says yes, and the checker does not accept its witness. That is a bug of ours, and
    /// the pair is never shown as a race.
    Unconfirmed(Refutation),
}

/// Decides the pairs of one window, one after the other. What is learnt from one pair helps with
/// the next.
pub struct Decider<'a> {
    trace: &'a Trace,
    window: &'a Window,
    checker: &'a Checker<'a, 'a>,
    encoder: Encoder<'a>,
    solver: Box<dyn Solver>,
    /// What was asked last.
    assumptions: Vec<Lit>,
}

impl<'a> Decider<'a> {
    /// A decider for the pairs of a window.
    pub fn new(
        trace: &'a Trace,
        index: &'a Index,
        window: &'a Window,
        checker: &'a Checker<'a, 'a>,
        solver: Box<dyn Solver>,
    ) -> Self {
        Self {
            trace,
            window,
            checker,
            encoder: Encoder::new(trace, index, window),
            solver,
            assumptions: Vec::new(),
        }
    }

    /// What two solvers that were both asked differ on, if they do.
    pub fn disagreement(&self) -> Option<&Disagreement> {
        self.solver.disagreement()
    }

    /// The last question as it was in the end, for other solvers: the formula, and what was asked of
    /// it.
    pub fn last_question(&self) -> (&Formula, &[Lit]) {
        (self.encoder.formula(), &self.assumptions)
    }

    /// Whether a pair, both of whose accesses are in the window, is a race. What is forced by its being
    /// one, if that is known, makes it easier to tell.
    pub fn decide(
        &mut self,
        pair: Pair,
        forced: Option<&Forced>,
        deadline: Option<Instant>,
    ) -> Verdict {
        let Some(mut query) = self.encoder.ask(pair, forced, deadline) else {
            return Verdict::Unknown;
        };
        self.assumptions.clone_from(&query.assumptions);
        loop {
            let formula = self.encoder.formula();
            let model = match self.solver.solve(formula, &query.assumptions, deadline) {
                Answer::No => return Verdict::NoRace,
                Answer::Unknown => return Verdict::Unknown,
                Answer::Yes(model) => model,
            };
            match self.encoder.refine(&model, &mut query, deadline) {
                Refinement::Feasible(sequence) => return self.confirm(&sequence, pair),
                Refinement::More if !is_over(deadline) => {}
                Refinement::More | Refinement::OutOfTime => return Verdict::Unknown,
            }
        }
    }

    /// Has the checker replay a sequence of the window that leads to a pair.
    fn confirm(&self, sequence: &[EventId], pair: Pair) -> Verdict {
        let mut rest = witness::tidy(self.trace, sequence);
        rest.extend([pair.first(), pair.second()]);
        let schedule = Schedule { observed: self.window.range().start, rest };
        match self.checker.check(&schedule) {
            Ok(_) => Verdict::Race(schedule),
            Err(refutation) => Verdict::Unconfirmed(refutation),
        }
    }
}
