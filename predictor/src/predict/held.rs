//! Which locks each thread holds at each of its events.

use racelog::trace::ThreadId;

use crate::order::{LocksetId, Locksets};
use crate::trace::Trace;

/// The locks that threads hold, kept where they change.
#[derive(Debug)]
pub struct HeldLocks {
    sets: Locksets,
    /// For each thread, the positions at which the set changes, and what it is from there on.
    changes: Vec<Vec<(u32, LocksetId)>>,
}

impl HeldLocks {
    /// Follows a trace.
    pub fn new(trace: &Trace) -> Self {
        let threads = trace.thread_count();
        let mut sets = Locksets::new(threads);
        let mut changes = vec![vec![(0, LocksetId::EMPTY)]; threads];
        for event in trace.events() {
            let (thread, op) = (trace.thread(event), trace.op(event));
            if op.lock().is_some() {
                sets.step(thread, &op);
                // What a thread takes, it holds from its next event on.
                changes[thread.index()].push((trace.position(event) as u32 + 1, sets.of(thread)));
            }
        }
        Self { sets, changes }
    }

    /// What a thread holds when the event at this position is its next.
    pub fn at(&self, thread: ThreadId, position: usize) -> LocksetId {
        let changes = &self.changes[thread.index()];
        let after = changes.partition_point(|(start, _)| *start as usize <= position);
        changes[after - 1].1
    }

    /// What the ids stand for.
    pub fn sets(&self) -> &Locksets {
        &self.sets
    }
}
