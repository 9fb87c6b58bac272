//! `paper`: the formula of section 3.2 of the PLDI 2014 paper, as printed. **Neither sound nor
//! maximal**: for comparison only.
//!
//! Jeff Huang, Patrick O'Neil Meredith and Grigore Roșu, "Maximal Sound Predictive Race Detection
//! with Control Flow Abstraction". Φ_mhb ∧ Φ_lock ∧ Φ_race orders all events of the trace; the two
//! accesses stand side by side; and of all branches, those are checked which must happen before one
//! of them, the last of each thread: a thread that takes them has read what it read, from writers
//! that have, too.
//!
//! **Misses** races in executions that cannot go on to the end of the trace
//! (`examples/traces/open-regions.rtxt`). **Reports falsely** where another thread has to pass a
//! branch for the pair to meet, to give back a lock for example
//! (`examples/traces/third-thread.rtxt`). `docs/ALGORITHM.md` says how often.
//!
//! **Where it differs from the print.** The accesses are not given one order variable; instead,
//! what must come right before each comes before the other. That is the same: all reads that are
//! checked come before both, so nothing that could stand between the two depends on them. A value
//! that was there at the start counts as a write. A lock that is never released is taken last.
//! Section 4 keeps the partner of each notification; here any waiter may be notified, and all other
//! synchronisation, too, is as in [`said`](super::said), so that the two differ in nothing but the
//! reads. A compare-exchange is a read, a branch and a write.

use std::time::Instant;

use super::whole_trace::{Claim, WholeTrace};
use crate::goal::Pair;
use crate::index::Index;
use crate::solve::formula::Lit;
use crate::solve::{Disagreement, Solver};
use crate::trace::{EventId, Op, Trace};

/// Decides the pairs of a trace, one after the other.
pub struct Paper<'a> {
    whole: WholeTrace<'a>,
    /// For each event, the last one that has to be clean for the thread to pass its last branch up
    /// to and with this event.
    branches: Vec<Option<EventId>>,
}

impl<'a> Paper<'a> {
    /// A decider for the pairs of a trace. The solver is a new one.
    pub fn new(trace: &'a Trace, index: &'a Index, solver: Box<dyn Solver>) -> Self {
        let branches = branches(trace, index);
        Self { whole: WholeTrace::new(trace, index, solver), branches }
    }

    /// Whether the formula for a pair of conflicting accesses has a solution. The schedule is what
    /// the solution has before the pair; it need not be feasible.
    pub fn is_race(&mut self, pair: Pair, deadline: Option<Instant>) -> Claim {
        let mut conditions = self.whole.meeting(pair);
        for event in [pair.first(), pair.second()] {
            self.control_flow(event, &mut conditions);
        }
        self.whole.decide(pair, &conditions, deadline)
    }

    /// Why nothing that was said is to be trusted, if that has been found out.
    pub fn disagreement(&self) -> Option<&Disagreement> {
        self.whole.disagreement()
    }

    /// That the branches are passed which must happen before an event.
    fn control_flow(&mut self, event: EventId, conditions: &mut Vec<Lit>) {
        let trace = self.whole.trace;
        let past = self.whole.must().past(trace, event);
        for (thread, position) in trace.threads().zip(past.positions) {
            let last = position.checked_sub(1).map(|last| trace.events_of_thread(thread)[last]);
            if let Some(input) = last.and_then(|last| self.branches[last.index()]) {
                conditions.push(self.whole.clean_after(input));
            }
        }
        for thread in past.joined {
            // The implicit branch follows the last event because that one reads or receives.
            if trace.ends_guarded(thread)
                && let Some(last) = trace.events_of_thread(thread).last()
            {
                conditions.push(self.whole.clean_after(*last));
            }
        }
        if trace.is_guarded(event) {
            conditions.push(self.whole.clean_before(event));
        }
        if let Op::Cas { .. } | Op::CasFail { .. } = trace.op(event) {
            conditions.push(self.whole.clean_after(event));
        }
    }
}

fn branches(trace: &Trace, index: &Index) -> Vec<Option<EventId>> {
    let mut last = vec![None; trace.thread_count()];
    let mut branches = Vec::with_capacity(trace.len());
    for event in trace.events() {
        let checked = &mut last[trace.thread(event).index()];
        match trace.op(event) {
            Op::Cas { .. } | Op::CasFail { .. } => *checked = Some(event),
            Op::Branch | Op::Check { .. } => *checked = index.input_before(event),
            _ if trace.is_guarded(event) => *checked = index.input_before(event),
            _ => {}
        }
        branches.push(*checked);
    }
    branches
}
