//! Who has used a variable last.

use racelog::trace::{ThreadId, VarId};
use rustc_hash::FxHashMap;

use crate::trace::{EventId, Trace};

/// The last event of each thread on each variable.
#[derive(Debug)]
pub(super) struct LastOf {
    threads: usize,
    /// One for each variable and thread, if these are few against the events; else empty.
    table: Vec<Option<EventId>>,
    map: FxHashMap<(VarId, ThreadId), EventId>,
}

impl LastOf {
    pub(super) fn new(trace: &Trace) -> Self {
        let threads = trace.thread_count();
        let cells = trace.var_count().saturating_mul(threads);
        let table = if cells <= trace.len() { vec![None; cells] } else { Vec::new() };
        Self { threads, table, map: FxHashMap::default() }
    }

    pub(super) fn get(&self, var: VarId, thread: ThreadId) -> Option<EventId> {
        if self.table.is_empty() {
            return self.map.get(&(var, thread)).copied();
        }
        self.table[var.index() * self.threads + thread.index()]
    }

    pub(super) fn set(&mut self, var: VarId, thread: ThreadId, event: EventId) {
        if self.table.is_empty() {
            self.map.insert((var, thread), event);
        } else {
            self.table[var.index() * self.threads + thread.index()] = Some(event);
        }
    }
}
