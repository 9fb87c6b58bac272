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

    /// The positions of a thread's events before this one at which what it holds changes, the last
    /// first.
    pub(super) fn changes_before(
        &self,
        thread: ThreadId,
        position: usize,
    ) -> impl Iterator<Item = usize> + '_ {
        let changes = &self.changes[thread.index()];
        let after = changes.partition_point(|(start, _)| *start as usize <= position);
        // What a change says holds from the next event on; the first is no change.
        changes[1..after].iter().rev().map(|(start, _)| *start as usize - 1)
    }

    /// What a thread holds, for events in the trace's order, found without a search.
    pub fn walk(&self) -> Walk<'_> {
        Walk { held: self, at: vec![0; self.changes.len()] }
    }

    /// What the ids stand for.
    pub fn sets(&self) -> &Locksets {
        &self.sets
    }
}

/// A walk through a trace.
#[derive(Debug)]
pub struct Walk<'a> {
    held: &'a HeldLocks,
    /// For each thread, which of its changes was the last.
    at: Vec<usize>,
}

impl Walk<'_> {
    /// What a thread holds when the event at this position is its next; the positions that are
    /// asked for do not fall.
    pub fn at(&mut self, thread: ThreadId, position: usize) -> LocksetId {
        let changes = &self.held.changes[thread.index()];
        let at = &mut self.at[thread.index()];
        while changes.get(*at + 1).is_some_and(|(start, _)| *start as usize <= position) {
            *at += 1;
        }
        changes[*at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_what_a_search_finds() {
        let trace: Trace = "\
t acquire l
u acquire m
t write x 1
t acquire n
u write x 2
t release l
t write x 3
t release n
u release m
u write x 4
"
        .parse()
        .unwrap();
        let held = HeldLocks::new(&trace);
        let mut walk = held.walk();
        for event in trace.events() {
            let (thread, position) = (trace.thread(event), trace.position(event));
            assert_eq!(walk.at(thread, position), held.at(thread, position), "{event:?}");
        }
    }
}
