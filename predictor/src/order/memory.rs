//! The edges of variables: atomic accesses, fences, exclusive accesses.
//!
//! An atomic variable knows what a thread that synchronises with its present value may know: the
//! heads of the release sequences that the value is in.

use racelog::trace::{AccessKind, MemoryOrdering, ThreadId, VarId};

use super::edges::Atomics;
use super::exclusive::ExclusiveEdges;
use super::flow::{Knower, Knowledge, leave};
use crate::trace::{EventId, Op, Trace};

#[derive(Debug)]
pub(super) struct Memory {
    atomics: Atomics,
    exclusive: ExclusiveEdges,
    vars: Vec<Var>,
    fences: Vec<Fences>,
    /// Without fences nobody needs to remember what one would have published.
    has_fences: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Var {
    /// What an acquiring read of the present value learns.
    released: Option<Knower>,
    /// What those who have read since the last write knew; for [`Atomics::Volatile`].
    readers: Option<Knower>,
    /// What the last exclusive access knew.
    exclusive: Option<Knower>,
    /// What the accesses knew that the next exclusive one comes after.
    accesses: Option<Knower>,
}

/// What a thread would learn, or publish, by fences.
#[derive(Clone, Copy, Debug, Default)]
struct Fences {
    /// What its relaxed reads have seen: an acquire fence learns it.
    seen: Option<Knower>,
    /// What it knew at its last release fence: its relaxed writes publish it.
    released: Option<Knower>,
}

fn acquires(ordering: Option<MemoryOrdering>) -> bool {
    use MemoryOrdering::{AcqRel, Acquire, SeqCst};
    matches!(ordering.unwrap_or(SeqCst), Acquire | AcqRel | SeqCst)
}

fn releases(ordering: Option<MemoryOrdering>) -> bool {
    use MemoryOrdering::{AcqRel, Release, SeqCst};
    matches!(ordering.unwrap_or(SeqCst), Release | AcqRel | SeqCst)
}

impl Memory {
    pub(super) fn new(trace: &Trace, atomics: Atomics) -> Self {
        let by_ordering = matches!(atomics, Atomics::Stated | Atomics::Strengthened);
        let has_fences = by_ordering && trace.ops().iter().any(|op| matches!(op, Op::Fence(_)));
        Self {
            atomics,
            exclusive: ExclusiveEdges::new(trace),
            vars: vec![Var::default(); trace.var_count()],
            fences: vec![Fences::default(); trace.thread_count()],
            has_fences,
        }
    }

    /// Edges that end at an event.
    pub(super) fn arrive<K: Knowledge>(
        &mut self,
        know: &mut K,
        t: ThreadId,
        event: EventId,
        op: &Op,
    ) {
        let me = Knower::of(t);
        if let Op::Fence(ordering) = *op {
            if acquires(ordering)
                && let Some(seen) = self.fences[t.index()].seen
            {
                know.join(me, seen);
            }
            return;
        }
        let Some(access) = op.access() else { return };
        let var = access.var;
        if self.exclusive.comes_after(event)
            && let Some(exclusive) = self.vars[var.index()].exclusive
        {
            know.join(me, exclusive);
        }
        match access.kind {
            AccessKind::Plain => {}
            AccessKind::Exclusive => {
                if let Some(accesses) = self.vars[var.index()].accesses.take() {
                    know.join(me, accesses);
                    know.free(accesses);
                }
            }
            AccessKind::Atomic(ordering) => {
                if access.found.is_some() {
                    self.read(know, t, var, event, ordering);
                }
                if access.left.is_some() && self.atomics == Atomics::Volatile {
                    let Var { released, readers, .. } = self.vars[var.index()];
                    for knower in [released, readers].into_iter().flatten() {
                        know.join(me, knower);
                    }
                }
            }
        }
    }

    /// Edges that start at an event.
    pub(super) fn depart<K: Knowledge>(
        &mut self,
        know: &mut K,
        t: ThreadId,
        event: EventId,
        op: &Op,
    ) {
        let me = Knower::of(t);
        if let Op::Fence(ordering) = *op {
            if self.has_fences && releases(ordering) {
                let released =
                    *self.fences[t.index()].released.get_or_insert_with(|| know.new_knower());
                know.copy(released, me);
                know.publish(t);
            }
            return;
        }
        let Some(access) = op.access() else { return };
        let (var, volatile) = (access.var, self.atomics == Atomics::Volatile);
        match (access.kind, access.left.is_some()) {
            (AccessKind::Atomic(ordering), true) => {
                self.write(know, t, var, event, ordering, access.found.is_some());
            }
            (AccessKind::Atomic(_), false) if volatile => {
                leave(know, &mut self.vars[var.index()].readers, me);
                know.publish(t);
            }
            // A thread that reads a plain write does not synchronise with it.
            (AccessKind::Plain | AccessKind::Exclusive, true) if !volatile => {
                if let Some(released) = self.vars[var.index()].released.take() {
                    know.free(released);
                }
            }
            (AccessKind::Atomic(_), false) | (AccessKind::Plain | AccessKind::Exclusive, _) => {}
        }
        if self.exclusive.comes_before(event) {
            leave(know, &mut self.vars[var.index()].accesses, me);
            know.publish(t);
        }
        if access.kind == AccessKind::Exclusive {
            let last = &mut self.vars[var.index()].exclusive;
            if self.exclusive.is_source(event) {
                let knower = *last.get_or_insert_with(|| know.new_knower());
                know.copy(knower, me);
                know.publish(t);
            } else if let Some(knower) = last.take() {
                know.free(knower);
            }
        }
    }

    fn read<K: Knowledge>(
        &mut self,
        know: &mut K,
        t: ThreadId,
        var: VarId,
        event: EventId,
        ordering: Option<MemoryOrdering>,
    ) {
        let me = Knower::of(t);
        let Some(released) = self.vars[var.index()].released else { return };
        match self.atomics {
            Atomics::Nothing => {}
            Atomics::Volatile => know.join(me, released),
            Atomics::Stated | Atomics::Strengthened if acquires(ordering) => {
                know.join(me, released);
            }
            Atomics::Stated | Atomics::Strengthened => {
                if self.has_fences {
                    leave(know, &mut self.fences[t.index()].seen, released);
                }
                if self.atomics == Atomics::Strengthened {
                    know.join_weakly(me, released, event);
                }
            }
        }
    }

    fn write<K: Knowledge>(
        &mut self,
        know: &mut K,
        t: ThreadId,
        var: VarId,
        event: EventId,
        ordering: Option<MemoryOrdering>,
        updates: bool,
    ) {
        let me = Knower::of(t);
        let slot = &mut self.vars[var.index()].released;
        match self.atomics {
            Atomics::Nothing => return,
            Atomics::Volatile => {
                // The write came after all reads, and learned from them.
                let released = *slot.get_or_insert_with(|| know.new_knower());
                know.copy(released, me);
                if let Some(readers) = self.vars[var.index()].readers.take() {
                    know.free(readers);
                }
            }
            Atomics::Stated | Atomics::Strengthened if releases(ordering) => {
                let released = *slot.get_or_insert_with(|| know.new_knower());
                if updates && !acquires(ordering) {
                    know.join(released, me);
                } else {
                    know.copy(released, me);
                }
            }
            Atomics::Stated | Atomics::Strengthened => {
                if !updates && let Some(released) = *slot {
                    know.clear(released);
                }
                if let Some(fence) = self.fences[t.index()].released {
                    leave(know, slot, fence);
                }
                if self.atomics == Atomics::Stated {
                    return;
                }
                let released = *slot.get_or_insert_with(|| know.new_knower());
                know.join_weakly(released, me, event);
            }
        }
        know.publish(t);
    }
}
