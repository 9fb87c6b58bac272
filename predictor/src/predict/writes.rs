//! The writes of each variable by each thread.

use racelog::trace::VarId;

use crate::encode::value_written;
use crate::trace::{Trace, ValueId};

/// A write: its place in its thread, and what it writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) position: u32,
    pub(super) value: ValueId,
}

/// The writes of a trace by variable and thread, each list in program order.
#[derive(Debug)]
pub struct Writes {
    threads: usize,
    /// Where the list of each variable and thread starts, and at last where the last one ends.
    starts: Vec<u32>,
    writes: Vec<Write>,
}

impl Writes {
    /// Those of a trace; of mixed memory there are none.
    pub fn new(trace: &Trace) -> Self {
        let threads = trace.thread_count();
        let mut writes = Self { threads, starts: vec![0], writes: Vec::new() };
        let mut of_var: Vec<Vec<Write>> = vec![Vec::new(); threads];
        for var in trace.vars() {
            if !trace.is_mixed(var) {
                for access in trace.events_of_var(var) {
                    if let Some(value) = value_written(&trace.op(*access)) {
                        let position = trace.position(*access) as u32;
                        of_var[trace.thread(*access).index()].push(Write { position, value });
                    }
                }
            }
            for list in &mut of_var {
                writes.writes.append(list);
                writes.starts.push(writes.writes.len() as u32);
            }
        }
        writes
    }

    /// The writes of a variable by a thread.
    pub(super) fn get(&self, var: VarId, thread: usize) -> &[Write] {
        let list = var.index() * self.threads + thread;
        &self.writes[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}
