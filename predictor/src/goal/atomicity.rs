//! Atomicity violations: another thread's access between two that were meant to be one step.
//!
//! The regions are those that the program marks. Chao Wang, Rhishikesh Limaye, Malay Ganai and
//! Aarti Gupta, "Trace-Based Symbolic Analysis for Atomicity Violations" (TACAS 2010), have five
//! patterns that no serial order explains; the other three can be put in series. The accesses need
//! not be neighbours, and nothing is asked of the rest of the region.

use std::collections::BTreeMap;

use racelog::trace::VarId;

use super::{GoalKind, ProgramPoint, Signature, Unmet};
use crate::semantics::{Machine, State};
use crate::trace::{EventId, Trace};

/// Three accesses of one variable: two of one thread, in one region, and one of another thread that
/// comes between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Violation {
    /// The first access of the region, and the one that comes between.
    happened: [EventId; 2],
    last: EventId,
}

impl Violation {
    /// The first access, the one of another thread, and the second one.
    pub const fn new(first: EventId, between: EventId, last: EventId) -> Self {
        Self { happened: [first, between], last }
    }

    /// The first access of the region.
    pub const fn first(&self) -> EventId {
        self.happened[0]
    }

    /// The access of another thread.
    pub const fn between(&self) -> EventId {
        self.happened[1]
    }

    /// The second access of the region.
    pub const fn last(&self) -> EventId {
        self.last
    }

    pub(super) const fn happened(&self) -> &[EventId] {
        &self.happened
    }

    pub(super) const fn next(&self) -> &[EventId] {
        std::slice::from_ref(&self.last)
    }

    /// All three, in their order.
    pub const fn events(&self) -> [EventId; 3] {
        [self.happened[0], self.happened[1], self.last]
    }

    pub(super) fn signature(&self, trace: &Trace) -> Signature {
        let points = self.events().map(|event| ProgramPoint::of(trace, event));
        Signature::new(GoalKind::Atomicity, points)
    }

    /// What keeps a state from being one in which the last access can follow. That the other two
    /// have happened is a matter of the sequence that led there.
    pub(super) fn unmet(&self, machine: &Machine<'_>, state: &State) -> Option<Unmet> {
        let trace = machine.trace();
        let in_region = are_in_region(trace, self.first(), self.last);
        if !in_region || !is_violation(trace, self.first(), self.between(), self.last) {
            return Some(Unmet::NoViolation);
        }
        let disabled = machine.enabled(state, self.last).err();
        disabled.map(|why| Unmet::NotEnabled(self.last, why))
    }
}

/// Whether two events are of one thread, in one region, in this order.
fn are_in_region(trace: &Trace, first: EventId, last: EventId) -> bool {
    let region = trace.atomic_region(first);
    first < last
        && trace.thread(first) == trace.thread(last)
        && region.is_some()
        && region == trace.atomic_region(last)
}

/// Whether no serial order explains an access of another thread between two others.
pub(crate) fn is_violation(trace: &Trace, first: EventId, between: EventId, last: EventId) -> bool {
    let [a, r, b] = [first, between, last].map(|event| trace.op(event));
    let same = a.var().is_some() && a.var() == r.var() && a.var() == b.var();
    let exclusive = [&a, &r, &b].iter().any(|op| op.is_exclusive());
    let mixed = a.var().is_some_and(|var| trace.is_mixed(var));
    if !same || exclusive || mixed || trace.thread(between) == trace.thread(first) {
        return false;
    }
    let written_between = r.writes()
        && (a.reads() && b.reads()
            || a.writes() && b.reads()
            || a.reads() && b.writes()
            || a.writes() && b.writes());
    written_between || (a.writes() && r.reads() && b.writes())
}

/// The pairs of accesses of a trace that are in one region, by the first of each.
pub(crate) fn pairs(trace: &Trace) -> BTreeMap<EventId, Vec<EventId>> {
    let mut pairs: BTreeMap<EventId, Vec<EventId>> = BTreeMap::new();
    if !trace.has_atomic_regions() {
        return pairs;
    }
    for thread in trace.threads() {
        let mut open: BTreeMap<VarId, Vec<EventId>> = BTreeMap::new();
        let mut region = None;
        for event in trace.events_of_thread(thread) {
            let here = trace.atomic_region(*event);
            if here != region {
                open.clear();
                region = here;
            }
            let op = trace.op(*event);
            let Some(var) = op.var().filter(|_| here.is_some() && !op.is_exclusive()) else {
                continue;
            };
            let earlier = open.entry(var).or_default();
            for first in &*earlier {
                pairs.entry(*first).or_default().push(*event);
            }
            earlier.push(*event);
        }
    }
    pairs
}

/// What an execution has done of violations: the first accesses, each with one of another thread
/// that has come since, as long as a second one can still follow.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Begun(Vec<(EventId, EventId)>);

impl Begun {
    /// An event is about to happen in a state.
    pub(crate) fn take(
        &mut self,
        trace: &Trace,
        pairs: &BTreeMap<EventId, Vec<EventId>>,
        state: &State,
        event: EventId,
    ) {
        let has_happened =
            |other: EventId| trace.position(other) < state.position(trace.thread(other));
        for (first, seconds) in pairs {
            let ahead = |last: &&EventId| !has_happened(**last);
            if has_happened(*first)
                && seconds
                    .iter()
                    .filter(ahead)
                    .any(|last| is_violation(trace, *first, event, *last))
            {
                self.0.push((*first, event));
            }
        }
        // What the event was the last chance of is over.
        let thread = trace.thread(event);
        self.0.retain(|(first, _)| {
            trace.thread(*first) != thread || pairs[first].last().is_some_and(|last| *last > event)
        });
        self.0.sort_unstable();
        self.0.dedup();
    }

    /// The violations that end with an event.
    pub(crate) fn with_last(
        &self,
        trace: &Trace,
        pairs: &BTreeMap<EventId, Vec<EventId>>,
        last: EventId,
    ) -> impl Iterator<Item = Violation> {
        let begun = self.0.iter().filter(move |(first, between)| {
            pairs[first].contains(&last) && is_violation(trace, *first, *between, last)
        });
        begun.map(move |(first, between)| Violation::new(*first, *between, last))
    }
}
