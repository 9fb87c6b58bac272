//! Races: two conflicting accesses that are next and enabled at once.

use super::{GoalKind, ProgramPoint, Signature, Unmet};
use crate::semantics::{Machine, State};
use crate::trace::{EventId, Trace};

/// Two accesses, the earlier in the trace first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pair {
    events: [EventId; 2],
}

impl Pair {
    /// The pair of two events, in whichever order they are given.
    pub fn new(a: EventId, b: EventId) -> Self {
        Self { events: [a.min(b), a.max(b)] }
    }

    /// The access that is earlier in the trace.
    pub const fn first(self) -> EventId {
        self.events[0]
    }

    /// The access that is later in the trace.
    pub const fn second(self) -> EventId {
        self.events[1]
    }

    /// Both, in the trace's order.
    pub const fn events(&self) -> &[EventId] {
        &self.events
    }

    /// What pairs have in common that people fix as one: an unordered pair of source locations.
    pub fn signature(self, trace: &Trace) -> Signature {
        Signature::new(GoalKind::Race, self.events.map(|event| ProgramPoint::of(trace, event)))
    }

    /// What keeps a state from being one in which both accesses are next and enabled.
    pub(super) fn unmet(self, machine: &Machine<'_>, state: &State) -> impl Iterator<Item = Unmet> {
        let sides = [(self.first(), self.second()), (self.second(), self.first())];
        let disabled = sides.into_iter().filter_map(|(event, other)| {
            let why = machine.enabled_beside(state, event, other).err()?;
            Some(Unmet::NotEnabled(event, why))
        });
        let conflict = move || conflict(machine.trace(), self.first(), self.second());
        let apart = std::iter::once_with(move || (!conflict()).then_some(Unmet::NoConflict));
        disabled.chain(apart.flatten())
    }
}

/// Calls `each` with the pairs of these events that conflict.
pub(super) fn among(trace: &Trace, next: &[EventId], mut each: impl FnMut(Pair)) {
    for (at, a) in next.iter().enumerate() {
        for b in &next[at + 1..] {
            if conflict(trace, *a, *b) {
                each(Pair::new(*a, *b));
            }
        }
    }
}

/// Whether two events conflict: accesses of one variable, or of memory that overlaps, by different
/// threads, at least one of which writes and at least one of which is not atomic. Exclusive
/// accesses conflict with none.
pub fn conflict(trace: &Trace, a: EventId, b: EventId) -> bool {
    let (first, second) = (trace.op(a), trace.op(b));
    trace.thread(a) != trace.thread(b)
        && first.var().is_some()
        && first.var() == second.var()
        && trace.overlap(a, b)
        && (first.writes() || second.writes())
        && !(first.is_atomic() && second.is_atomic())
        && !first.is_exclusive()
        && !second.is_exclusive()
}
