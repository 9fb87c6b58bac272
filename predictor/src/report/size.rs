//! How much there is of what in a trace: the figures that tables of detectors begin with.

use crate::trace::Trace;

/// What the figures of [`trace_size`] are called.
pub const TRACE_SIZE: [&str; 5] = ["threads", "events", "rw", "sync", "branches"];

/// Threads, events, and of these accesses of variables, synchronisation and branches.
pub fn trace_size(trace: &Trace) -> [usize; 5] {
    let (mut accesses, mut branches) = (0, 0);
    for event in trace.events() {
        let op = trace.op(event);
        accesses += usize::from(op.var().is_some());
        branches += usize::from(op.decides());
    }
    let sync = trace.len() - accesses - branches;
    [trace.thread_count(), trace.len(), accesses, sync, branches]
}
