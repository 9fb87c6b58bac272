//! Which events must have happened before which others, in every execution.
//!
//! Two orders, each found in one pass. The *plain* one: program order, forks and joins, messages,
//! barriers, exclusive accesses. The one *forced by values* goes further (the closure that
//! S. Mathur et al. and others compute for a pair, here once for all pairs, and so weaker): a
//! branch that has been passed needs the reads before it to have found their values, so of the
//! writes that could have given such a value one has happened; what all of them have in common is
//! forced. If read and write are in regions of the same lock, the write's region is over.
//!
//! Vector clocks, kept only where they change.

mod clocks;
mod last;
mod values;

use std::ops::Range;

use racelog::trace::{ThreadId, VarId};

use self::clocks::Clocks;
use self::last::LastOf;
use super::writes::Writes;
use crate::index::Index;
use crate::trace::{EventId, Op, Trace};

/// For each thread, how many of its events must have happened.
type Clock = Vec<u32>;

/// An order that all executions of a trace share.
#[derive(Debug)]
pub struct MustOrder {
    /// What an event needs to be in an execution.
    needed: Clocks,
}

impl MustOrder {
    /// The plain order.
    pub fn plain(trace: &Trace, index: &Index) -> Self {
        Builder::new(trace, index, None).build()
    }

    /// The order that is forced by values, on top of the plain one.
    pub fn by_values(&self, trace: &Trace, index: &Index, writes: &Writes) -> Self {
        let values = Values { plain: self, writes };
        Builder::new(trace, index, Some(values)).build()
    }

    /// Whether an execution can only have the second event, or have it as its thread's next and
    /// enabled, when it has the first.
    pub fn is_before(&self, trace: &Trace, a: EventId, b: EventId) -> bool {
        let (thread, position) = (trace.thread(a), trace.position(a));
        if thread == trace.thread(b) {
            return position < trace.position(b);
        }
        self.needed.at(trace.thread(b), trace.position(b))[thread.index()] as usize > position
    }

    /// What an event needs of each thread.
    pub(super) fn needed(&self, thread: ThreadId, position: usize) -> &[u32] {
        self.needed.at(thread, position)
    }

    /// What an event needs of each thread, if that is more than what the one before it in its
    /// thread needs.
    pub(super) fn raised_at(&self, thread: ThreadId, position: usize) -> Option<&[u32]> {
        self.needed.raised_at(thread, position)
    }

    /// Of another thread's events, the positions of those that are neither before nor after this
    /// one in every execution.
    pub fn unordered(&self, trace: &Trace, event: EventId, other: ThreadId) -> Range<usize> {
        let (thread, position) = (trace.thread(event), trace.position(event));
        let first = self.needed.at(thread, position)[other.index()] as usize;
        let end = self.needed.first_beyond(other, thread, position);
        let end = end.unwrap_or(trace.events_of_thread(other).len());
        first..end.max(first)
    }
}

/// What it takes to follow values.
#[derive(Clone, Copy)]
struct Values<'a> {
    plain: &'a MustOrder,
    writes: &'a Writes,
}

struct Builder<'a> {
    trace: &'a Trace,
    index: &'a Index,
    /// There if values count.
    values: Option<Values<'a>>,
    needed: Clocks,
    /// What an event's thread needs besides to be clean after it.
    clean: Clocks,
    last_access: LastOf,
    last_write: LastOf,
    /// How many events of each thread have been looked at.
    passed: Vec<u32>,
    /// Which variables have exclusive accesses.
    exclusive: Vec<bool>,
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace, index: &'a Index, values: Option<Values<'a>>) -> Self {
        let mut exclusive = vec![false; trace.var_count()];
        for op in trace.ops() {
            if let Op::Exclusive { var, .. } = op {
                exclusive[var.index()] = true;
            }
        }
        Self {
            trace,
            index,
            values,
            needed: Clocks::new(trace.thread_count()),
            clean: Clocks::new(trace.thread_count()),
            last_access: LastOf::new(trace),
            last_write: LastOf::new(trace),
            passed: vec![0; trace.thread_count()],
            exclusive,
        }
    }

    fn build(mut self) -> MustOrder {
        for event in self.trace.events() {
            for before in self.waits_for(event) {
                let clock = self.including(before, &self.needed);
                self.raise(event, &clock);
            }
            if let Some(values) = self.values {
                self.follow_values(event, values);
            }
        }
        MustOrder { needed: self.needed }
    }

    fn raise(&mut self, event: EventId, least: &[u32]) {
        let (thread, position) = (self.trace.thread(event), self.trace.position(event));
        self.needed.raise(thread, position, least);
        if self.values.is_some() {
            self.clean.raise(thread, position, least);
        }
    }

    /// What it takes to have an event, the event itself included.
    fn including(&self, event: EventId, clocks: &Clocks) -> Clock {
        let (thread, position) = (self.trace.thread(event), self.trace.position(event));
        let mut clock = clocks.at(thread, position).to_vec();
        clock[thread.index()] = position as u32 + 1;
        clock
    }

    /// The events of other threads without which this one cannot be, whatever was read.
    fn waits_for(&mut self, event: EventId) -> Vec<EventId> {
        let (trace, index) = (self.trace, self.index);
        let (op, thread) = (trace.op(event), trace.thread(event));
        let mut before = Vec::new();
        if trace.position(event) == 0 {
            before.extend(trace.fork_of(thread));
        }
        match op {
            Op::Join(child) => before.extend(trace.events_of_thread(child).last()),
            Op::Recv { .. } => before.extend(index.send_of(trace, event)),
            Op::Arrive { barrier, generation } => {
                before.extend(index.previous_arrivals(barrier, generation));
            }
            Op::Leave { barrier, generation } => {
                before.extend(index.arrivals_of(barrier, generation));
            }
            _ => {}
        }
        before.extend(trace.awaited(event));
        // Mixed memory is left alone: of its accesses, two neighbours may race.
        let keeps_order = |var: &VarId| self.exclusive[var.index()] && !trace.is_mixed(*var);
        if let Some(var) = op.var().filter(keeps_order) {
            before.extend(index.exclusive_before(event));
            if op.is_exclusive() {
                let last = |thread| self.last_access.get(var, thread);
                before.extend(trace.threads().filter_map(last));
            }
            self.last_access.set(var, thread, event);
        }
        before.retain(|before| trace.thread(*before) != thread);
        before
    }
}
