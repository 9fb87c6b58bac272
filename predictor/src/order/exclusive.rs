//! Exclusive accesses keep their order with all other accesses of their variable.
//!
//! It is enough to draw edges from an exclusive access to the first access of each other thread
//! after it, and to one from the last access of each other thread before it. Which accesses these
//! are is found out beforehand.

use crate::trace::{EventId, Op, Trace};

/// Which accesses take part in edges from and to exclusive accesses.
#[derive(Debug)]
pub(super) struct ExclusiveEdges {
    /// Flags for each event; empty if there is no exclusive access at all.
    flags: Vec<u8>,
}

/// The exclusive access before this one comes from another thread, which this one has not seen.
const AFTER: u8 = 1;
/// An exclusive access of another thread comes next, and no access of this thread before it.
const BEFORE: u8 = 2;
/// An exclusive access which others come after.
const SOURCE: u8 = 4;

impl ExclusiveEdges {
    pub(super) fn new(trace: &Trace) -> Self {
        let exclusive = |event: &EventId| matches!(trace.op(*event), Op::Exclusive { .. });
        let mut has_exclusive = vec![false; trace.var_count()];
        for op in trace.ops() {
            if let Op::Exclusive { var, .. } = op {
                has_exclusive[var.index()] = true;
            }
        }
        let mut flags = Vec::new();
        // In which stretch between exclusive accesses each thread was seen last.
        let mut seen = vec![0_u32; trace.thread_count()];
        let mut stretch = 0;
        for var in trace.vars().filter(|var| has_exclusive[var.index()]) {
            let accesses = trace.events_of_var(var);
            flags.resize(trace.len(), 0);
            let mut source: Option<EventId> = None;
            for access in accesses {
                let thread = trace.thread(*access).index();
                if let Some(source) = source
                    && trace.thread(source) != trace.thread(*access)
                    && seen[thread] != stretch
                {
                    flags[access.index()] |= AFTER;
                    flags[source.index()] |= SOURCE;
                    seen[thread] = stretch;
                }
                if exclusive(access) {
                    source = Some(*access);
                    stretch += 1;
                }
            }
            stretch += 1;
            let mut target: Option<EventId> = None;
            for access in accesses.iter().rev() {
                let thread = trace.thread(*access).index();
                if exclusive(access) {
                    target = Some(*access);
                    stretch += 1;
                } else if let Some(target) = target
                    && trace.thread(target) != trace.thread(*access)
                    && seen[thread] != stretch
                {
                    flags[access.index()] |= BEFORE;
                    seen[thread] = stretch;
                }
            }
            stretch += 1;
        }
        Self { flags }
    }

    #[inline]
    fn has(&self, event: EventId, flag: u8) -> bool {
        self.flags.get(event.index()).is_some_and(|flags| flags & flag != 0)
    }

    #[inline]
    pub(super) fn comes_after(&self, event: EventId) -> bool {
        self.has(event, AFTER)
    }

    #[inline]
    pub(super) fn comes_before(&self, event: EventId) -> bool {
        self.has(event, BEFORE)
    }

    pub(super) fn is_source(&self, event: EventId) -> bool {
        self.has(event, SOURCE)
    }
}
