//! What must have happened before what, in every execution.
//!
//! Two orders, each found in one pass. The *plain* one: program order, forks and joins, messages,
//! barriers, exclusive accesses. The one *forced by values* goes further (the closure that
//! S. Mathur et al. and others compute for a pair, here once for all pairs, and so weaker): a
//! branch that has been passed needs the reads before it to have found their values, so of the
//! writes that could have given such a value one has happened; what all of them have in common is
//! forced. If read and write are in regions of the same lock, the write's region is over.
//!
//! Vector clocks, kept only where they change.

use std::ops::Range;

use racelog::trace::{ThreadId, VarId};
use rustc_hash::FxHashMap;

use super::held::HeldLocks;
use crate::encode::{Index, value_read, value_written};
use crate::trace::{EventId, Op, Trace};

/// For each thread, how many of its events must have happened.
type Clock = Vec<u32>;

/// Of how many possible writes what they have in common is looked for.
const MOST_SOURCES: usize = 4;

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

    /// The order that is forced by values.
    pub fn by_values(trace: &Trace, index: &Index, held: &HeldLocks) -> Self {
        Builder::new(trace, index, Some(held)).build()
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

    /// What an event needs of each thread, if that is more than what the one before it in its thread
    /// needs.
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

/// A clock for each event.
#[derive(Debug)]
struct Clocks {
    threads: Vec<OfThread>,
}

/// The clocks of a thread's events.
#[derive(Clone, Debug)]
struct OfThread {
    /// The positions at which the clock changes.
    starts: Vec<u32>,
    /// What the clock is from there on: one number a thread, for each start.
    counts: Vec<u32>,
}

impl Clocks {
    fn new(threads: usize) -> Self {
        let zero = OfThread { starts: vec![0], counts: vec![0; threads] };
        Self { threads: vec![zero; threads] }
    }

    fn at(&self, thread: ThreadId, position: usize) -> &[u32] {
        let OfThread { starts, counts } = &self.threads[thread.index()];
        let after = starts.partition_point(|start| *start as usize <= position);
        &counts[(after - 1) * self.threads.len()..][..self.threads.len()]
    }

    fn raised_at(&self, thread: ThreadId, position: usize) -> Option<&[u32]> {
        let OfThread { starts, counts } = &self.threads[thread.index()];
        let at = starts.binary_search(&(position as u32)).ok()?;
        Some(&counts[at * self.threads.len()..][..self.threads.len()])
    }

    /// The thread's clock as it is now.
    fn last(&self, thread: ThreadId) -> &[u32] {
        let counts = &self.threads[thread.index()].counts;
        &counts[counts.len() - self.threads.len()..]
    }

    /// The first position of a thread whose clock has more of another thread than this.
    fn first_beyond(&self, thread: ThreadId, other: ThreadId, count: usize) -> Option<usize> {
        let OfThread { starts, counts } = &self.threads[thread.index()];
        // Clocks never fall, so the places are sorted by what is looked for.
        let (mut low, mut high) = (0, starts.len());
        while low < high {
            let middle = (low + high) / 2;
            if counts[middle * self.threads.len() + other.index()] as usize <= count {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        starts.get(low).map(|start| *start as usize)
    }

    /// From this position on, the thread's clock is at least this.
    fn raise(&mut self, thread: ThreadId, position: usize, least: &[u32]) {
        let last = self.last(thread);
        if last.iter().zip(least).all(|(mine, least)| mine >= least) {
            return;
        }
        let width = self.threads.len();
        let OfThread { starts, counts } = &mut self.threads[thread.index()];
        if starts.last() != Some(&(position as u32)) {
            starts.push(position as u32);
            counts.extend_from_within(counts.len() - width..);
        }
        let at = counts.len() - width;
        for (mine, least) in counts[at..].iter_mut().zip(least) {
            *mine = (*mine).max(*least);
        }
    }
}

/// The last event of each thread on each variable.
#[derive(Debug)]
struct LastOf {
    threads: usize,
    /// One for each variable and thread, if these are few against the events; else empty.
    table: Vec<Option<EventId>>,
    map: FxHashMap<(VarId, ThreadId), EventId>,
}

impl LastOf {
    fn new(trace: &Trace) -> Self {
        let threads = trace.thread_count();
        let cells = trace.var_count().saturating_mul(threads);
        let table = if cells <= trace.len() { vec![None; cells] } else { Vec::new() };
        Self { threads, table, map: FxHashMap::default() }
    }

    fn get(&self, var: VarId, thread: ThreadId) -> Option<EventId> {
        if self.table.is_empty() {
            return self.map.get(&(var, thread)).copied();
        }
        self.table[var.index() * self.threads + thread.index()]
    }

    fn set(&mut self, var: VarId, thread: ThreadId, event: EventId) {
        if self.table.is_empty() {
            self.map.insert((var, thread), event);
        } else {
            self.table[var.index() * self.threads + thread.index()] = Some(event);
        }
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    index: &'a Index,
    /// There if values count.
    held: Option<&'a HeldLocks>,
    needed: Clocks,
    /// What an event's thread needs besides to be clean after it.
    clean: Clocks,
    last_access: LastOf,
    last_write: LastOf,
    /// Which variables have exclusive accesses.
    exclusive: Vec<bool>,
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace, index: &'a Index, held: Option<&'a HeldLocks>) -> Self {
        let mut exclusive = vec![false; trace.var_count()];
        for op in trace.ops() {
            if let Op::Exclusive { var, .. } = op {
                exclusive[var.index()] = true;
            }
        }
        Self {
            trace,
            index,
            held,
            needed: Clocks::new(trace.thread_count()),
            clean: Clocks::new(trace.thread_count()),
            last_access: LastOf::new(trace),
            last_write: LastOf::new(trace),
            exclusive,
        }
    }

    fn build(mut self) -> MustOrder {
        for event in self.trace.events() {
            for before in self.waits_for(event) {
                let clock = self.including(before, &self.needed);
                self.raise(event, &clock);
            }
            if self.held.is_some() {
                self.follow_values(event);
            }
        }
        MustOrder { needed: self.needed }
    }

    fn raise(&mut self, event: EventId, least: &[u32]) {
        let (thread, position) = (self.trace.thread(event), self.trace.position(event));
        self.needed.raise(thread, position, least);
        if self.held.is_some() {
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
        // Mixed memory is left alone: of its accesses, two neighbours may race.
        let keeps_order = |var: &VarId| self.exclusive[var.index()] && !trace.is_mixed(*var);
        if let Some(var) = op.var().filter(keeps_order) {
            before.extend(index.exclusive_before(event));
            if matches!(op, Op::Exclusive { .. }) {
                let last = |thread| self.last_access.get(var, thread);
                before.extend(trace.threads().filter_map(last));
            }
            self.last_access.set(var, thread, event);
        }
        before.retain(|before| trace.thread(*before) != thread);
        before
    }

    /// Who decides by what it has read needs it to be what it was.
    fn follow_values(&mut self, event: EventId) {
        let trace = self.trace;
        let (op, thread, position) = (trace.op(event), trace.thread(event), trace.position(event));
        if trace.is_guarded(event) || matches!(op, Op::Branch) {
            self.needed.raise(thread, position, self.clean.last(thread));
        }
        if let Op::Join(child) = op
            && trace.ends_guarded(child)
        {
            let clean = self.clean.last(child).to_vec();
            self.raise(event, &clean);
        }
        if let Op::Recv { .. } = op
            && let Some(send) = self.index.send_of(trace, event)
        {
            let clean = self.including(send, &self.clean);
            self.clean.raise(thread, position, &clean);
        }
        if let Some(forced) = self.forced(event, &op) {
            self.clean.raise(thread, position, &forced);
        }
        if let Op::Cas { .. } | Op::CasFail { .. } = op {
            self.needed.raise(thread, position, self.clean.last(thread));
        }
        if op.writes()
            && let Some(var) = op.var()
        {
            self.last_write.set(var, thread, event);
        }
    }

    /// What must have happened for a read to find its value.
    fn forced(&self, read: EventId, op: &Op) -> Option<Clock> {
        let (trace, thread) = (self.trace, self.trace.thread(read));
        let (var, value) = (op.var()?, value_read(op)?);
        if trace.is_mixed(var) {
            return None;
        }
        let own = self.last_write.get(var, thread);
        if let Some(own) = own {
            if value_written(&trace.op(own)) == Some(value) {
                return None;
            }
        } else if trace.initial_value(var) == value {
            return None;
        }
        let writes = self.index.writes_of(var, value);
        let other = |write: &&EventId| trace.thread(**write) != thread;
        // What comes later in the trace is not known yet. Where a value is written again and again,
        // that is soon found from the end.
        if writes.iter().rev().take_while(|write| **write > read).any(|write| other(&write)) {
            return None;
        }
        let others = || writes.iter().filter(other);
        if others().nth(MOST_SOURCES).is_some() {
            return None;
        }
        let sources = others().map(|write| self.source(*write, read));
        sources.reduce(|mut common, source| {
            for (common, source) in common.iter_mut().zip(&source) {
                *common = (*common).min(*source);
            }
            common
        })
    }

    /// What must have happened for a read to find what a write left.
    fn source(&self, write: EventId, read: EventId) -> Clock {
        let mut clock = self.including(write, &self.clean);
        let (trace, Some(held)) = (self.trace, self.held) else { return clock };
        let writer = trace.thread(write);
        let set = |event: EventId| held.at(trace.thread(event), trace.position(event));
        let (written, found) = (set(write), set(read));
        if !held.sets().exclude(written, found) {
            return clock;
        }
        // The writer has left the regions that exclude the reader's.
        for (lock, exclusive) in held.sets().locks(written) {
            let clashes = |(other, others): (_, bool)| other == lock && (exclusive || others);
            if held.sets().locks(found).any(clashes)
                && let Some(release) = self.index.release_after(trace, lock, write)
            {
                let over = self.needed.at(writer, trace.position(release));
                for (mine, over) in clock.iter_mut().zip(over) {
                    *mine = (*mine).max(*over);
                }
                let position = trace.position(release) as u32 + 1;
                clock[writer.index()] = clock[writer.index()].max(position);
            }
        }
        clock
    }
}
