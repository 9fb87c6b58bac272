//! One goal: asks the solver, follows its answers up until they hold, and has the witness checked.

use std::time::Instant;

use crate::encode::{Encoder, Forced, Query, Refinement, Window};
use crate::goal::{Goal, GoalKind, GoalKinds, ProgramPoint, Stall};
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
            encoder: Encoder::new(trace, index, window, checker.machine().model()),
            solver,
            assumptions: Vec::new(),
        }
    }

    /// What two solvers that were both asked differ on, if they do.
    pub fn disagreement(&self) -> Option<&Disagreement> {
        self.solver.disagreement()
    }

    /// The last question as it was in the end, for other solvers: the formula, and what was asked
    /// of it.
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
        loop {
            let query = self.encoder.ask(goal, forced, deadline);
            let sequence = match self.search(query, deadline) {
                Ok(sequence) => sequence,
                Err(decided) => return decided,
            };
            // A state is a stall only without circles, and what is asked does not say that.
            if goal.kind() != GoalKind::Stall || !self.exclude_circles(&sequence) {
                return self.confirm(&sequence, goal.clone());
            }
        }
    }

    /// Whether some execution reaches a goal with no more than so many thread switches, the goal's
    /// next events included. That none does says nothing of executions with more.
    pub fn decide_within(
        &mut self,
        goal: &Goal,
        most: usize,
        deadline: Option<Instant>,
    ) -> Decided {
        // What was observed before the window counts, and one more where the window begins.
        let start = self.window.range().start;
        let observed = (0..start).map(EventId::from_index);
        let observed: Vec<EventId> = observed.collect();
        let before = match start {
            0 => 0,
            _ => witness::switches(self.trace, &observed) + 1,
        };
        let others = goal.next().len().saturating_sub(1);
        let Some(left) = most.checked_sub(before + others) else { return Decided::Impossible };
        loop {
            let query = self.encoder.ask_within(goal, left + 1, deadline);
            let sequence = match self.search(query, deadline) {
                Ok(sequence) => sequence,
                Err(decided) => return decided,
            };
            if goal.kind() != GoalKind::Stall || !self.exclude_circles(&sequence) {
                return self.confirm(&sequence, goal.clone());
            }
        }
    }

    /// Whether some execution stalls, in another way than those that have been excluded. The window
    /// has to be the whole trace.
    pub fn decide_any_stall(&mut self, deadline: Option<Instant>) -> Decided {
        loop {
            let query = self.encoder.ask_any_stall(deadline);
            let sequence = match self.search(query, deadline) {
                Ok(sequence) => sequence,
                Err(decided) => return decided,
            };
            if !self.exclude_circles(&sequence) {
                let reached = self.reached(&sequence, GoalKind::Stall);
                // Of what is no stall the checker says why.
                let none = || Goal::Stall(Stall::new([]));
                return self.confirm(&sequence, reached.into_iter().next().unwrap_or_else(none));
            }
        }
    }

    /// Excludes stalls whose roots stand at the places of these, and at no others.
    pub fn exclude_stall(&mut self, roots: &[EventId], place: impl Fn(EventId) -> ProgramPoint) {
        self.encoder.exclude_stall(roots, place);
    }

    /// Excludes the circles in which threads wait for each other when a sequence is over; whether
    /// there are any.
    fn exclude_circles(&mut self, sequence: &[EventId]) -> bool {
        let circles = self.reached(sequence, GoalKind::Deadlock);
        for circle in &circles {
            self.encoder.exclude_circle(circle.next());
        }
        !circles.is_empty()
    }

    /// The goals of a kind that hold when a sequence is over.
    fn reached(&self, sequence: &[EventId], kind: GoalKind) -> Vec<Goal> {
        self.checker.reached(sequence, GoalKinds::NONE.with(kind)).unwrap_or_default()
    }

    /// A feasible sequence that answers a query; or what else is the answer. There is none if there
    /// was no time to ask.
    fn search(
        &mut self,
        query: Option<Query>,
        deadline: Option<Instant>,
    ) -> Result<Vec<EventId>, Decided> {
        let mut query = query.ok_or(Decided::Unknown)?;
        self.assumptions.clone_from(&query.assumptions);
        loop {
            let formula = self.encoder.formula();
            let model = match self.solver.solve(formula, &query.assumptions, deadline) {
                Answer::No => return Err(Decided::Impossible),
                Answer::Unknown => return Err(Decided::Unknown),
                Answer::Yes(model) => model,
            };
            match self.encoder.refine(&model, &mut query, deadline) {
                Refinement::Feasible(sequence) => return Ok(sequence),
                Refinement::More if !is_over(deadline) => {}
                Refinement::More | Refinement::OutOfTime => return Err(Decided::Unknown),
            }
        }
    }

    /// Has the checker replay a sequence of the window that leads to a goal, without what the goal
    /// does not need, if that is enough: a solver lets threads do anything that they can, and that
    /// is more for a program to follow.
    fn confirm(&self, sequence: &[EventId], goal: Goal) -> Decided {
        let observed = self.window.range().start;
        let threads = goal.events().map(|event| self.trace.thread(event));
        let needed = witness::needed(self.trace, sequence, threads);
        let rest = witness::tidy(self.trace, &needed);
        let mut witness = Witness { observed, rest, goal };
        if self.checker.check(&witness).is_ok() {
            return Decided::Proven(witness);
        }
        witness.rest = witness::tidy(self.trace, sequence);
        match self.checker.check(&witness) {
            Ok(()) => Decided::Proven(witness),
            Err(refutation) => Decided::Unconfirmed(refutation),
        }
    }
}
