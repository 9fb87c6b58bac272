//! `said`: whole-trace read-write consistency.
//!
//! Mahmoud Said, Chao Wang, Zijiang Yang and Karem Sakallah, "Generating Data Race Witnesses by an
//! SMT-based Analysis" (NFM 2011). A pair is a race if *all* events of the trace can be put into an
//! order in which every read finds the value that it found, all synchronisation is respected, and
//! the two accesses meet: what is right before each in its thread comes before the other, and what
//! is right after each comes after the other (equation 3). Branches play no part.
//!
//! **Where the paper is followed.** Equation 3, rather than definition 5, which asks that nothing
//! at all comes between the two: they differ where a third thread reads what both write, and the
//! equation is what the paper solves, and what its introduction calls a witness. Either access may
//! come first: the paper's remark that one order suffices does not hold when one of them reads what
//! the other writes.
//!
//! **Where it is extended.** What must happen before an event is right before it, too: the fork,
//! for a thread's first event, and an exclusive access. Events that the paper does not have are
//! treated in its spirit, by their semantics: shared locks, failed attempts, timeouts, parking,
//! channels, barriers. An atomic update reads and writes. A compare-exchange must come first of the
//! two, so that it is enabled where they meet; the semantics asks for that.
//!
//! **Sound**: in the state before the first of the two, both are next and enabled, and every
//! schedule is checked. **Misses**: races in executions that read something else, or that cannot go
//! on to the end of the trace.

use std::time::Instant;

use super::whole_trace::{Claim, WholeTrace};
use crate::goal::{Goal, Pair};
use crate::index::Index;
use crate::solve::{Disagreement, Solver};
use crate::trace::{EventId, Trace};
use crate::witness;

/// Decides the pairs of a trace, one after the other.
pub struct Said<'a> {
    whole: WholeTrace<'a>,
}

impl<'a> Said<'a> {
    /// A decider for the pairs of a trace. The solver is a new one.
    pub fn new(trace: &'a Trace, index: &'a Index, solver: Box<dyn Solver>) -> Self {
        let mut whole = WholeTrace::new(trace, index, solver);
        for event in trace.events().filter(|event| trace.op(*event).takes_input()) {
            let clean = whole.clean_after(event);
            whole.require(clean);
        }
        Self { whole }
    }

    /// Whether a pair of conflicting accesses is a race. The schedule proves it.
    pub fn is_race(&mut self, pair: Pair, deadline: Option<Instant>) -> Claim {
        let meeting = self.whole.meeting(pair);
        match self.whole.decide(pair, &meeting, deadline) {
            // What the checker does not accept is never shown.
            Claim::Race(schedule) if !self.is_proven(pair, &schedule) => Claim::Unknown,
            claim => claim,
        }
    }

    fn is_proven(&self, pair: Pair, schedule: &[EventId]) -> bool {
        let Some(prefix) = schedule.len().checked_sub(2).map(|length| &schedule[..length]) else {
            return false;
        };
        witness::check(self.whole.trace, prefix, &Goal::Race(pair)).is_ok()
    }

    /// Why nothing that was said is to be trusted, if that has been found out.
    pub fn disagreement(&self) -> Option<&Disagreement> {
        self.whole.disagreement()
    }
}
