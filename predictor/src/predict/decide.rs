//! One goal: asks the solver, follows its answers up until they hold, and has the witness checked.

use std::time::Instant;

use crate::encode::{Encoder, Forced, Refinement, Window};
use crate::goal::Goal;
use crate::index::Index;
use crate::solve::formula::{Formula, Lit};
use crate::solve::{Answer, Disagreement, Solver, is_over};
use crate::trace::{EventId, Trace};
use crate::witness::{self, Checker, Refutation, Witness};

/// What was found out about a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decided {
    /// Some execution reaches it; the witness proves that.
    Proven(Witness),
    /// No execution reaches it.
    Impossible,
    /// There was not enough time.
    Unknown,
    /// The solver says yes, and the checker does not accept its witness. That is a bug of ours, and
    /// the goal is never shown as reached.
    Unconfirmed(Refutation),
}

/// Decides the goals of one window, one after the other. What is learnt from one helps with the
/// next.
pub struct Decider<'a> {
    trace: &'a Trace,
    window: &'a Window,
    checker: &'a Checker<'a>,
    encoder: Encoder<'a>,
    solver: Box<dyn Solver>,
    /// What was asked last.
    assumptions: Vec<Lit>,
}

impl<'a> Decider<'a> {
    /// A decider for the goals of a window.
    pub fn new(
        trace: &'a Trace,
        index: &'a Index,
        window: &'a Window,
        checker: &'a Checker<'a>,
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

    /// Whether some execution reaches a goal, all of whose events are in the window. What is forced
    /// by reaching it, if that is known, makes it easier to tell.
    pub fn decide(
        &mut self,
        goal: &Goal,
        forced: Option<&Forced>,
        deadline: Option<Instant>,
    ) -> Decided {
        let Some(mut query) = self.encoder.ask(goal, forced, deadline) else {
            return Decided::Unknown;
        };
        self.assumptions.clone_from(&query.assumptions);
        loop {
            let formula = self.encoder.formula();
            let model = match self.solver.solve(formula, &query.assumptions, deadline) {
                Answer::No => return Decided::Impossible,
                Answer::Unknown => return Decided::Unknown,
                Answer::Yes(model) => model,
            };
            match self.encoder.refine(&model, &mut query, deadline) {
                Refinement::Feasible(sequence) => return self.confirm(&sequence, goal),
                Refinement::More if !is_over(deadline) => {}
                Refinement::More | Refinement::OutOfTime => return Decided::Unknown,
            }
        }
    }

    /// Has the checker replay a sequence of the window that leads to a goal.
    fn confirm(&self, sequence: &[EventId], goal: &Goal) -> Decided {
        let rest = witness::tidy(self.trace, sequence);
        let observed = self.window.range().start;
        let witness = Witness { observed, rest, goal: goal.clone() };
        match self.checker.check(&witness) {
            Ok(()) => Decided::Proven(witness),
            Err(refutation) => Decided::Unconfirmed(refutation),
        }
    }
}
