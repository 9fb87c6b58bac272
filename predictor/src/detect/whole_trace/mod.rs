//! The part that [`said`](super::said) and [`paper`](super::paper) share: a formula over an order
//! of *all* events of a trace.
//!
//! Each solution has all events of the trace, in another order: threads in program order, locks and
//! all other synchronisation as their semantics has it. The values that are read are a matter of
//! the detector: it says after which events a thread has to be *clean*, and so must have found the
//! observed values. Unlike the [encoding of prefixes](crate::encode), no event can be left out.
//!
//! As there, an axiom about all pairs of objects is stated for a pair only once a solution breaks
//! it.

mod clean;
mod condvars;
mod must;
mod queues;
mod regions;
mod sync;

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use self::must::MustHappenBefore;
use crate::goal::Pair;
use crate::index::Index;
use crate::solve::formula::{Formula, Lit};
use crate::solve::{Answer, Disagreement, Model, Solver};
use crate::trace::{EventId, Op, Trace};

/// What a detector says of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// It says that it is a race, and gives the schedule that it has in mind, which ends in the
    /// pair. Whether that proves anything is a matter of the detector.
    Race(Vec<EventId>),
    /// It says that it is no race.
    NoRace,
    /// There was not enough time.
    Unknown,
}

/// The orders of all events of a trace, as a formula.
pub(super) struct WholeTrace<'a> {
    pub(super) trace: &'a Trace,
    index: &'a Index,
    must: MustHappenBefore,
    formula: Formula,
    solver: Box<dyn Solver>,
    /// That a thread is clean after an event that reads or receives.
    clean: FxHashMap<EventId, Lit>,
    /// Of whom it is still to be said what that takes.
    tasks: Vec<EventId>,
    sources: FxHashMap<EventId, Vec<clean::Source>>,
    stated: FxHashSet<Stated>,
}

/// An axiom about a pair or triple that has been stated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stated {
    Regions(u32, u32),
    Messages(EventId, EventId),
    Emptiness(EventId, EventId),
    Interference { write: Option<EventId>, read: EventId, between: EventId },
}

impl<'a> WholeTrace<'a> {
    pub(super) fn new(trace: &'a Trace, index: &'a Index, solver: Box<dyn Solver>) -> Self {
        let mut whole = Self {
            trace,
            index,
            must: MustHappenBefore::new(trace, index),
            formula: Formula::new(),
            solver,
            clean: FxHashMap::default(),
            tasks: Vec::new(),
            sources: FxHashMap::default(),
            stated: FxHashSet::default(),
        };
        whole.must.state(trace, &mut whole.formula);
        sync::state(&mut whole);
        whole
    }

    pub(super) fn must(&self) -> &MustHappenBefore {
        &self.must
    }

    pub(super) fn disagreement(&self) -> Option<&Disagreement> {
        self.solver.disagreement()
    }

    /// Asks for something for good.
    pub(super) fn require(&mut self, lit: Lit) {
        self.formula.clause(&[lit]);
    }

    /// That one event comes before another.
    fn before(&mut self, a: EventId, b: EventId) -> Lit {
        match self.trace.thread(a) == self.trace.thread(b) {
            true if a < b => Lit::TRUE,
            true => Lit::FALSE,
            false => self.formula.before(a, b),
        }
    }

    /// That all of these hold.
    fn all(&mut self, conditions: &[Lit]) -> Lit {
        if conditions.contains(&Lit::FALSE) {
            return Lit::FALSE;
        }
        let all = self.formula.proposition(false);
        self.formula.implies(&[all], conditions);
        all
    }

    /// That two accesses meet: whatever must come before one of them comes before the other, and
    /// neither thread goes on before both have happened (equation 3 of Said et al.).
    ///
    /// A compare-exchange has to come first, so that it is enabled where they meet.
    pub(super) fn meeting(&mut self, pair: Pair) -> Vec<Lit> {
        let mut conditions = Vec::new();
        for (one, other) in [(pair.first(), pair.second()), (pair.second(), pair.first())] {
            for earlier in self.must.before(self.trace, one) {
                conditions.push(self.before(earlier, other));
            }
            let events = self.trace.events_of_thread(self.trace.thread(one));
            if let Some(later) = events.get(self.trace.position(one) + 1) {
                conditions.push(self.before(other, *later));
            }
            if let Op::Cas { .. } | Op::CasFail { .. } = self.trace.op(one) {
                conditions.push(self.before(one, other));
            }
        }
        conditions
    }

    /// Whether all this can be, and where the pair then stands.
    pub(super) fn decide(
        &mut self,
        pair: Pair,
        assumptions: &[Lit],
        deadline: Option<Instant>,
    ) -> Claim {
        if assumptions.contains(&Lit::FALSE) {
            return Claim::NoRace;
        }
        clean::state_all(self);
        while deadline.is_none_or(|deadline| Instant::now() < deadline) {
            match self.solver.solve(&self.formula, assumptions, deadline) {
                Answer::No => return Claim::NoRace,
                Answer::Unknown => return Claim::Unknown,
                Answer::Yes(model) => {
                    let sequence = self.sequence(&model);
                    if !self.refine(&model, &sequence) {
                        return Claim::Race(schedule(&sequence, pair));
                    }
                }
            }
        }
        Claim::Unknown
    }

    fn sequence(&self, model: &Model) -> Vec<EventId> {
        let mut sequence: Vec<EventId> = self.trace.events().collect();
        sequence.sort_unstable_by_key(|event| model.rank(*event));
        sequence
    }

    /// States the axioms that a sequence breaks. `false` if there are none.
    fn refine(&mut self, model: &Model, sequence: &[EventId]) -> bool {
        let before = self.formula.clause_count();
        regions::refine(self, sequence);
        queues::refine(self, sequence);
        clean::refine(self, model, sequence);
        self.formula.clause_count() > before
    }
}

/// What comes before the pair, and then the pair.
fn schedule(sequence: &[EventId], pair: Pair) -> Vec<EventId> {
    let both = [pair.first(), pair.second()];
    let earlier = sequence.iter().copied().take_while(|event| !both.contains(event));
    earlier.chain(both).collect()
}
