//! A formula as Z3 sees it, and its answers.

use std::time::Duration;

use rustc_hash::FxHashMap;
use z3::ast::{Bool, Int};
use z3::{Params, SatResult};

use super::worker::Question;
use crate::solve::formula::{Lit, Meaning};
use crate::solve::{Answer, Model};
use crate::trace::EventId;

/// One formula in one Z3 context, which is the thread's own.
pub(super) struct Session {
    solver: z3::Solver,
    propositions: Vec<Proposition>,
    events: FxHashMap<EventId, Int>,
}

enum Proposition {
    Free(Bool),
    Before(EventId, EventId),
}

impl Session {
    pub(super) fn new() -> Self {
        let solver = z3::Solver::new_for_logic("QF_IDL").unwrap_or_default();
        // See the module's head: before the first assertion.
        solver.push();
        Self { solver, propositions: Vec::new(), events: FxHashMap::default() }
    }

    /// Takes over what is new, and answers.
    pub(super) fn answer(&mut self, question: &Question) -> Answer {
        self.keep_up(question);
        self.set_limit(question.limit);
        self.solver.push();
        for lit in &question.assumptions {
            self.solver.assert(self.literal(*lit));
        }
        let answer = match self.solver.check() {
            SatResult::Sat => self.model().map_or(Answer::Unknown, Answer::Yes),
            SatResult::Unsat => Answer::No,
            SatResult::Unknown => Answer::Unknown,
        };
        self.solver.pop(1);
        answer
    }

    fn keep_up(&mut self, question: &Question) {
        for meaning in &question.meanings {
            let proposition = match *meaning {
                Meaning::Free | Meaning::Unsaid | Meaning::Source(..) => {
                    Proposition::Free(Bool::new_const(self.propositions.len() as u32))
                }
                Meaning::Before(a, b) => {
                    self.declare(a);
                    self.declare(b);
                    Proposition::Before(a, b)
                }
            };
            self.propositions.push(proposition);
        }
        for (a, b) in &question.edges {
            self.declare(*a);
            self.declare(*b);
            self.solver.assert(self.before(*a, *b));
        }
        for clause in &question.clauses {
            let literals: Vec<Bool> = clause.iter().map(|lit| self.literal(*lit)).collect();
            self.solver.assert(Bool::or(&literals));
        }
    }

    fn declare(&mut self, event: EventId) {
        self.events.entry(event).or_insert_with(|| Int::new_const(format!("e{event}")));
    }

    fn before(&self, a: EventId, b: EventId) -> Bool {
        self.events[&a].lt(&self.events[&b])
    }

    /// The negation of an order is the reverse order, never the absence of one.
    fn literal(&self, lit: Lit) -> Bool {
        match &self.propositions[lit.proposition()] {
            Proposition::Free(free) if lit.is_positive() => free.clone(),
            Proposition::Free(free) => free.not(),
            Proposition::Before(a, b) if lit.is_positive() => self.before(*a, *b),
            Proposition::Before(a, b) => self.before(*b, *a),
        }
    }

    fn set_limit(&self, limit: Option<Duration>) {
        let millis = limit
            .map_or(u32::MAX, |limit| u32::try_from(limit.as_millis()).unwrap_or(u32::MAX).max(1));
        let mut params = Params::new();
        params.set_u32("timeout", millis);
        self.solver.set_params(&params);
    }

    /// None if Z3 has found a model and cannot say which.
    fn model(&self) -> Option<Model> {
        let found = self.solver.get_model()?;
        let mut rank = FxHashMap::default();
        for (event, place) in &self.events {
            rank.insert(*event, found.eval(place, true)?.as_i64()?);
        }
        let mut model = Model { holds: Vec::new(), rank };
        for proposition in &self.propositions {
            let holds = match proposition {
                Proposition::Free(free) => found.eval(free, true)?.as_bool()?,
                // No clause needs the order of two events with one place: it is as observed.
                Proposition::Before(a, b) => model.rank(*a) < model.rank(*b),
            };
            model.holds.push(holds);
        }
        Some(model)
    }
}
