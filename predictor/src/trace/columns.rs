//! Events as columns: one array a property, so that an analysis touches only what it needs.

use racelog::trace::{LocId, Patience, ThreadId, VarId};

use super::{EventId, Op};

/// The events of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub(super) thread: Vec<ThreadId>,
    pub(super) location: Vec<Option<LocId>>,
    /// Where in its thread the event stands, from 0.
    pub(super) position: Vec<u32>,
    /// Whether an implicit branch stands between the event and the one before it in its thread.
    pub(super) guarded: Vec<bool>,
    pub(super) recorded: Vec<bool>,
    pub(super) ops: Vec<Op>,
    /// The events whose thread would not have waited for ever, in order.
    pub(super) impatient: Vec<(EventId, Patience)>,
}

// Every pass reads the operations. They are kept as they are because no packing would be smaller.
const _: () = assert!(size_of::<Op>() == 16);

impl Columns {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// Makes room for so many events more.
    pub(super) fn reserve(&mut self, events: usize) {
        self.thread.reserve(events);
        self.location.reserve(events);
        self.position.reserve(events);
        self.guarded.reserve(events);
        self.recorded.reserve(events);
        self.ops.reserve(events);
    }

    /// Makes an access one of another variable.
    pub(super) fn set_var(&mut self, access: EventId, var: VarId) {
        self.ops[access.index()] = self.op_on(access, var);
    }

    pub(super) fn patience(&self, event: EventId) -> Patience {
        let found = self.impatient.binary_search_by_key(&event, |(event, _)| *event);
        found.map_or(Patience::Forever, |at| self.impatient[at].1)
    }

    #[inline]
    pub(super) fn op(&self, event: EventId) -> Op {
        self.ops[event.index()]
    }

    /// The access as one of another variable.
    pub(super) fn op_on(&self, access: EventId, other: VarId) -> Op {
        let mut op = self.op(access);
        match &mut op {
            Op::Read { var, .. }
            | Op::Write { var, .. }
            | Op::Load { var, .. }
            | Op::Store { var, .. }
            | Op::Rmw { var, .. }
            | Op::Cas { var, .. }
            | Op::CasFail { var, .. }
            | Op::Exclusive { var, .. } => *var = other,
            _ => {}
        }
        op
    }
}
