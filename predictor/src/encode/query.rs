//! The question: is there a feasible prefix that ends in a goal?

use std::time::Instant;

use super::sources::Sources;
use super::{CHECK_EVERY, Encoder, computed, goals, reads, stalls, switches};
use crate::goal::Goal;
use crate::solve::formula::Lit;
use crate::solve::{Model, is_over};
use crate::trace::EventId;

/// What is known to hold in every prefix that ends in a goal. A solver would find it out, too.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Forced {
    /// Events that have happened then, and with each all before it in its thread.
    pub included: Vec<EventId>,
    /// Which of these comes before which.
    pub edges: Vec<(EventId, EventId)>,
}

/// A question about a goal, put to an encoder.
#[derive(Debug, Default)]
pub struct Query {
    /// What has to hold.
    pub assumptions: Vec<Lit>,
    pub(super) last_reads: Vec<LastRead>,
}

/// A compare-exchange that is next when the prefix ends: the variable then holds what it found.
#[derive(Debug)]
pub(super) struct LastRead {
    pub(super) event: EventId,
    /// That it is this that makes it enabled.
    pub(super) asked: Lit,
    pub(super) sources: Sources,
    /// Whether what it finds is compared with what is computed, and not with what it found.
    pub(super) computed: bool,
}

impl Encoder<'_> {
    /// Asks about a goal, all of whose events are in the window. There is no answer if stating all
    /// that matters takes longer than until the deadline; what is left is stated with the next
    /// question.
    pub fn ask(
        &mut self,
        goal: &Goal,
        forced: Option<&Forced>,
        deadline: Option<Instant>,
    ) -> Option<Query> {
        let mut query = Query::default();
        goals::assume(self, &mut query, goal);
        if let Some(forced) = forced {
            // First, so that whatever else is decided is decided with this in mind.
            query.assumptions.insert(0, self.state_forced(forced, deadline));
        }
        self.state_axioms(deadline).then_some(query)
    }

    /// Asks about a goal as above, but only about prefixes in no more than so many stretches, each
    /// of one thread; the last of them of a thread of the goal's next events.
    pub fn ask_within(
        &mut self,
        goal: &Goal,
        stretches: usize,
        deadline: Option<Instant>,
    ) -> Option<Query> {
        let mut last: Vec<_> = goal.next().iter().map(|event| self.trace.thread(*event)).collect();
        last.sort_unstable();
        last.dedup();
        let mut query = Query::default();
        goals::assume(self, &mut query, goal);
        query.assumptions.insert(0, switches::within(self, stretches, &last));
        self.state_axioms(deadline).then_some(query)
    }

    /// Asks about any stall that has not been excluded. The window has to be the whole trace: of
    /// its threads all have to wait or to have come to their ends.
    pub fn ask_any_stall(&mut self, deadline: Option<Instant>) -> Option<Query> {
        let query = Query { assumptions: vec![stalls::any(self)], ..Query::default() };
        self.state_axioms(deadline).then_some(query)
    }

    /// A new proposition that says what is forced, or as much of it as there is time for.
    fn state_forced(&mut self, forced: &Forced, deadline: Option<Instant>) -> Lit {
        let asked = self.formula.proposition(false);
        for event in &forced.included {
            let included = self.included(*event);
            self.formula.implies(&[asked], &[included]);
        }
        for edges in forced.edges.chunks(CHECK_EVERY) {
            if is_over(deadline) {
                break;
            }
            for (a, b) in edges {
                let before = self.before(*a, *b);
                self.formula.implies(&[asked], &[before]);
            }
        }
        asked
    }
}

/// States that no write follows what a compare-exchange finds, where a sequence has one.
pub(super) fn refine(
    encoder: &mut Encoder<'_>,
    query: &mut Query,
    model: &Model,
    sequence: &[EventId],
) {
    for read in &mut query.last_reads {
        let var = encoder.trace.op(read.event).var();
        let writes_it = |event: &&EventId| {
            let op = encoder.trace.op(**event);
            op.var() == var && op.writes()
        };
        if !model.is_true(read.asked) {
            continue;
        }
        let writes: Vec<EventId> = sequence.iter().filter(writes_it).copied().collect();
        let (chosen, last) = (read.sources.chosen(model), writes.last().copied());
        let found = chosen.iter().any(|source| source.write == last);
        if found {
            computed::refine_next(encoder, model, read, sequence);
            continue;
        }
        if read.sources.is_right(encoder, model, last) {
            continue;
        }
        read.sources.state_more(encoder, model, last);
        for source in chosen {
            for later in reads::after(&writes, source.write) {
                let earlier =
                    source.write.map_or(Lit::FALSE, |write| encoder.before(*later, write));
                let happens = encoder.included(*later);
                encoder.formula.clause(&[!source.chosen, !happens, earlier]);
            }
        }
    }
}
