//! Stalls: states in which no thread goes on, for some wait for what nobody is left to do.

use std::collections::BTreeSet;

use racelog::trace::{End, ThreadId};

use super::{GoalKind, ProgramPoint, Signature, Unmet, deadlock};
use crate::semantics::{BlockedBy, Machine, State, Status};
use crate::trace::{EventId, Trace};

/// A state in which every thread that is alive is blocked, and none by a circle.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stall {
    /// The next events of the threads that do not wait for one that is blocked, in the trace's
    /// order.
    roots: Box<[EventId]>,
}

/// Why a state is no stall.
enum NoStall {
    /// Of a trace that was cut off no end is known.
    CutOff,
    /// All threads have come to their ends.
    AllFinished,
    /// This thread may go on.
    GoesOn(ThreadId),
    /// Some wait for each other in a circle.
    Deadlock,
}

impl Stall {
    /// The stall with these roots, in whichever order they are given.
    pub fn new(roots: impl Into<Box<[EventId]>>) -> Self {
        let mut roots = roots.into();
        roots.sort_unstable();
        Self { roots }
    }

    /// Its roots, in the trace's order.
    pub fn roots(&self) -> &[EventId] {
        &self.roots
    }

    /// Where its roots stand. How many stand at one place makes no difference: threads that do the
    /// same wait for the same.
    pub fn signature(&self, trace: &Trace) -> Signature {
        let points: BTreeSet<ProgramPoint> =
            self.roots.iter().map(|event| ProgramPoint::of(trace, *event)).collect();
        Signature::new(GoalKind::Stall, Vec::from_iter(points))
    }

    /// The stall that a state is, if it is one.
    pub fn of(machine: &Machine<'_>, state: &State) -> Option<Self> {
        find(machine, state).ok()
    }

    /// What keeps a state from being this stall.
    pub(super) fn unmet(&self, machine: &Machine<'_>, state: &State) -> Vec<Unmet> {
        match find(machine, state) {
            Ok(stall) if stall == *self => Vec::new(),
            Ok(stall) => vec![Unmet::OtherRoots(stall.roots.to_vec())],
            Err(NoStall::CutOff) => vec![Unmet::CutOff],
            Err(NoStall::AllFinished) => vec![Unmet::AllFinished],
            Err(NoStall::GoesOn(thread)) => vec![Unmet::GoesOn(thread)],
            Err(NoStall::Deadlock) => vec![Unmet::Deadlock],
        }
    }
}

fn find(machine: &Machine<'_>, state: &State) -> Result<Stall, NoStall> {
    let trace = machine.trace();
    if trace.end() != End::Clean || trace.lost_events() > 0 {
        return Err(NoStall::CutOff);
    }
    let mut blocked: Vec<(EventId, BlockedBy)> = Vec::new();
    for thread in trace.threads().filter(|thread| machine.is_live(state, *thread)) {
        let status = machine.next(state, thread).map(|next| (next, machine.status(state, next)));
        match status {
            Some((next, Status::Blocked(by))) => blocked.push((next, by)),
            _ => return Err(NoStall::GoesOn(thread)),
        }
    }
    if blocked.is_empty() {
        return Err(NoStall::AllFinished);
    }
    let next: Vec<EventId> = blocked.iter().map(|(event, _)| *event).collect();
    if !deadlock::among(machine, state, &next, false).is_empty() {
        return Err(NoStall::Deadlock);
    }
    let is_blocked = |thread: &ThreadId| next.iter().any(|event| trace.thread(*event) == *thread);
    let is_root = |(_, by): &&(EventId, BlockedBy)| !by.threads().iter().any(is_blocked);
    let roots: Vec<EventId> = blocked.iter().filter(is_root).map(|(event, _)| *event).collect();
    Ok(Stall::new(roots))
}
