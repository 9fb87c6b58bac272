//! Atomicity violations: another thread's access between two that were meant to be one step.
//!
//! Which accesses are meant to be one step [`steps`](super::steps) says. Chao Wang, Rhishikesh
//! Limaye, Malay Ganai and Aarti Gupta, "Trace-Based Symbolic Analysis for Atomicity Violations"
//! (TACAS 2010), have five patterns that no serial order explains; the other three can be put in
//! series. The accesses need not be neighbours, and nothing is asked of the rest of the region.

use super::steps::{self, Meant, Step, Steps};
use super::{GoalKind, ProgramPoint, Signature, Unmet};
use crate::semantics::{Machine, State};
use crate::trace::{EventId, Trace};

/// Three accesses of one variable: two of one thread that are meant to be one step, and one of
/// another thread that comes between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Violation {
    /// The first access of the region, and the one that comes between.
    happened: [EventId; 2],
    last: EventId,
    meant: Meant,
}

impl Violation {
    /// The first access, the one of another thread, and the second one.
    pub const fn new(meant: Meant, first: EventId, between: EventId, last: EventId) -> Self {
        Self { happened: [first, between], last, meant }
    }

    /// Why the two of one thread are taken for one step.
    pub const fn meant(&self) -> Meant {
        self.meant
    }

    /// Its kind.
    pub const fn kind(&self) -> GoalKind {
        self.meant.kind()
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
        Signature::new(self.kind(), points)
    }

    /// What keeps a state from being one in which the last access can follow. That the other two
    /// have happened is a matter of the sequence that led there.
    pub(super) fn unmet(&self, machine: &Machine<'_>, state: &State) -> Option<Unmet> {
        let trace = machine.trace();
        let step = steps::step(trace, self.first(), self.last, self.meant);
        if !step.is_some_and(|step| step.is_broken_by(trace, self.between())) {
            return Some(Unmet::NoViolation);
        }
        let disabled = machine.enabled(state, self.last).err();
        disabled.map(|why| Unmet::NotEnabled(self.last, why))
    }
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

/// What an execution has done of violations: the first accesses, each with one of another thread
/// that has come since, as long as a second one can still follow.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Begun(Vec<(EventId, EventId)>);

impl Begun {
    /// An event is about to happen in a state.
    pub(crate) fn take(&mut self, trace: &Trace, steps: &Steps, state: &State, event: EventId) {
        let has_happened =
            |other: EventId| trace.position(other) < state.position(trace.thread(other));
        for (first, steps) in steps {
            let ahead = |step: &&Step| !has_happened(step.last);
            if has_happened(*first)
                && steps.iter().filter(ahead).any(|step| step.is_broken_by(trace, event))
            {
                self.0.push((*first, event));
            }
        }
        // What the event was the last chance of is over.
        let thread = trace.thread(event);
        let is_open = |first: &EventId| steps[first].iter().any(|step| step.last > event);
        self.0.retain(|(first, _)| trace.thread(*first) != thread || is_open(first));
        self.0.sort_unstable();
        self.0.dedup();
    }

    /// The violations that end with an event.
    pub(crate) fn with_last(
        &self,
        trace: &Trace,
        steps: &Steps,
        last: EventId,
    ) -> impl Iterator<Item = Violation> {
        self.0.iter().flat_map(move |(first, between)| {
            let ends = move |step: &&Step| step.last == last && step.is_broken_by(trace, *between);
            let violation =
                |step: &Step| Violation::new(step.meant, step.first, *between, step.last);
            steps[first].iter().filter(ends).map(violation)
        })
    }
}
