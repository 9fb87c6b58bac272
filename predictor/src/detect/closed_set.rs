//! Sets of events that have with each event all that must come before it.
//!
//! A set is a prefix of each thread. It grows until it is closed: along the order of each thread,
//! along edges between threads, and, if locks count, by their rule: of two regions of one lock that
//! exclude each other, the one that the trace has first is over. Each event is looked at once, so
//! all that a set becomes costs no more than one walk through the trace.

use racelog::trace::{LockId, ThreadId};
use rustc_hash::FxHashMap;

use crate::index::Regions;
use crate::order::Edge;
use crate::trace::{EventId, Trace};

/// A set of events that is closed, or is to be.
#[derive(Debug)]
pub(super) struct ClosedSet<'a> {
    trace: &'a Trace,
    /// Sorted by where they end.
    edges: &'a [Edge],
    /// There if regions of locks keep their order.
    regions: Option<&'a Regions>,
    /// How many events of each thread are in it.
    counts: Vec<usize>,
    /// Events in it that have not been looked at.
    new: Vec<EventId>,
    locks: FxHashMap<LockId, LockRegions>,
}

/// What is known of the regions of a lock that have begun.
#[derive(Clone, Debug, Default)]
struct LockRegions {
    /// Those that need not be over.
    open: Vec<u32>,
    /// The last one that begins, in the trace's order.
    last: Option<EventId>,
    /// The last one of a thread that holds the lock alone.
    last_exclusive: Option<EventId>,
}

/// A region that has to be over has no end in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NeverOver;

impl<'a> ClosedSet<'a> {
    /// The empty set.
    pub(super) fn new(trace: &'a Trace, edges: &'a [Edge], regions: Option<&'a Regions>) -> Self {
        let counts = vec![0; trace.thread_count()];
        Self { trace, edges, regions, counts, new: Vec::new(), locks: FxHashMap::default() }
    }

    /// How many events of a thread are in it.
    pub(super) fn count(&self, thread: ThreadId) -> usize {
        self.counts[thread.index()]
    }

    /// Adds what it takes to reach an event: all that its thread does before, its start, and what
    /// threads that nobody is known to have started have done before it.
    pub(super) fn reach(&mut self, event: EventId) {
        let thread = self.trace.thread(event);
        for before in self.trace.awaited(event) {
            self.include(*before);
        }
        if let Some(fork) = self.trace.fork_of(thread) {
            self.include(fork);
        }
        self.extend(thread, self.trace.position(event));
    }

    /// Closes it.
    pub(super) fn close(&mut self) -> Result<(), NeverOver> {
        while let Some(event) = self.new.pop() {
            let first = self.edges.partition_point(|edge| edge.to < event);
            for edge in self.edges[first..].iter().take_while(|edge| edge.to == event) {
                self.include(edge.from);
            }
            self.follow_lock(event)?;
        }
        Ok(())
    }

    fn include(&mut self, event: EventId) {
        self.extend(self.trace.thread(event), self.trace.position(event) + 1);
    }

    fn extend(&mut self, thread: ThreadId, count: usize) {
        let before = self.counts[thread.index()];
        if count > before {
            self.new.extend(&self.trace.events_of_thread(thread)[before..count]);
            self.counts[thread.index()] = count;
        }
    }

    /// The rule of locks, for a region that an event begins.
    fn follow_lock(&mut self, event: EventId) -> Result<(), NeverOver> {
        let Some(regions) = self.regions else { return Ok(()) };
        let Some(number) = regions.at(event) else { return Ok(()) };
        let region = regions.get(number);
        if region.acquire != event {
            return Ok(());
        }
        let known = self.locks.entry(region.lock).or_default();
        let is_over = |other: &u32| {
            let other = regions.get(*other);
            other.excludes(region) && other.acquire < event
        };
        let mut over: Vec<u32> = known.open.extract_if(.., |other| is_over(other)).collect();
        let later = if region.shared { known.last_exclusive } else { known.last };
        if later.is_some_and(|later| later > event) {
            over.push(number);
        } else {
            known.open.push(number);
        }
        known.last = known.last.max(Some(event));
        if !region.shared {
            known.last_exclusive = known.last_exclusive.max(Some(event));
        }
        for number in over {
            let release = regions.get(number).release.ok_or(NeverOver)?;
            self.include(release);
        }
        Ok(())
    }
}
