//! What must happen before what, in every execution: program order, forks and joins, messages,
//! barriers, exclusive accesses.
//!
//! Vector clocks, kept only where they change: a thread's clock is the same for all events between
//! two that wait for another thread.

use racelog::trace::{ThreadId, VarId};
use rustc_hash::FxHashMap;

use crate::encode::Index;
use crate::trace::{EventId, Op, Trace};

/// For each thread, how many of its events must have happened.
type Clock = Box<[u32]>;

/// The order that all executions of a trace share.
#[derive(Debug)]
pub struct MustOrder {
    /// For each thread, the positions at which its clock changes, and what it is from there on.
    segments: Vec<Vec<(u32, Clock)>>,
}

impl MustOrder {
    /// The order of a trace.
    pub fn new(trace: &Trace, index: &Index) -> Self {
        let zero = || vec![0; trace.thread_count()].into_boxed_slice();
        let mut order =
            Self { segments: trace.threads().map(|_| vec![(0, zero())]).collect() };
        let mut last_access: FxHashMap<(VarId, ThreadId), EventId> = FxHashMap::default();
        let mut exclusive = vec![false; trace.var_count()];
        for event in trace.events() {
            if let Op::Exclusive { var, .. } = trace.op(event) {
                exclusive[var.index()] = true;
            }
        }
        let mut waits_for = Vec::new();
        for event in trace.events() {
            waits_for.clear();
            let (op, thread) = (trace.op(event), trace.thread(event));
            if trace.position(event) == 0 {
                waits_for.extend(trace.fork_of(thread));
            }
            match op {
                Op::Join(child) => waits_for.extend(trace.events_of_thread(child).last()),
                Op::Recv { .. } => waits_for.extend(index.send_of(trace, event)),
                Op::Arrive { barrier, generation } => {
                    waits_for.extend(index.previous_arrivals(barrier, generation));
                }
                Op::Leave { barrier, generation } => {
                    waits_for.extend(index.arrivals_of(barrier, generation));
                }
                _ => {}
            }
            if let Some(var) = op.var().filter(|var| exclusive[var.index()]) {
                waits_for.extend(index.exclusive_before(event));
                if matches!(op, Op::Exclusive { .. }) {
                    let threads = trace.threads();
                    waits_for.extend(threads.filter_map(|thread| last_access.get(&(var, thread))));
                }
                last_access.insert((var, thread), event);
            }
            for before in &waits_for {
                order.wait(trace, event, *before);
            }
        }
        order
    }

    /// An event waits for another one.
    fn wait(&mut self, trace: &Trace, event: EventId, before: EventId) {
        let (thread, other) = (trace.thread(event), trace.thread(before));
        if thread == other || self.is_before(trace, before, event) {
            return;
        }
        let position = trace.position(event) as u32;
        let mut clock = self.clock(thread, position).clone();
        for (mine, theirs) in clock.iter_mut().zip(self.clock(other, trace.position(before) as u32)) {
            *mine = (*mine).max(*theirs);
        }
        clock[other.index()] = trace.position(before) as u32 + 1;
        let segments = &mut self.segments[thread.index()];
        match segments.last_mut() {
            Some((start, last)) if *start == position => *last = clock,
            _ => segments.push((position, clock)),
        }
    }

    fn clock(&self, thread: ThreadId, position: u32) -> &Clock {
        let segments = &self.segments[thread.index()];
        let after = segments.partition_point(|(start, _)| *start <= position);
        &segments[after - 1].1
    }

    /// Whether the first event happens before the second in every execution that has the second.
    pub fn is_before(&self, trace: &Trace, a: EventId, b: EventId) -> bool {
        let (thread, position) = (trace.thread(a), trace.position(a));
        if thread == trace.thread(b) {
            return position < trace.position(b);
        }
        let clock = self.clock(trace.thread(b), trace.position(b) as u32);
        clock[thread.index()] as usize > position
    }

    /// Of another thread's events, the positions of those that are neither before nor after this
    /// one in every execution.
    pub fn unordered(&self, trace: &Trace, event: EventId, other: ThreadId) -> std::ops::Range<usize> {
        let (thread, position) = (trace.thread(event), trace.position(event));
        let first = self.clock(thread, position as u32)[other.index()] as usize;
        let segments = &self.segments[other.index()];
        let after =
            segments.partition_point(|(_, clock)| clock[thread.index()] as usize <= position);
        let end = segments.get(after).map(|(start, _)| *start as usize);
        let end = end.unwrap_or(trace.events_of_thread(other).len());
        first..end.max(first)
    }
}
