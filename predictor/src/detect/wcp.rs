//! Weak causal precedence: causally-precedes, weakened until one walk with clocks can compute it.
//!
//! Kini, Mathur and Viswanathan, "Dynamic Race Prediction in Linear Time" (PLDI 2017). Weak causal
//! precedence is the smallest relation such that
//!
//! - (a) a release comes before a later access in a critical section of the same lock, if its own
//!   section contains an access that conflicts with that one;
//! - (b) a release comes before a later release of the same lock, if their critical sections
//!   contain events of which one comes before the other;
//! - (c) what happens before something that comes before comes before, and likewise after.
//!
//! A race is a conflicting pair of different threads of which neither comes before the other.
//! Causally-precedes orders the release before the *acquire* by either rule, so it orders more, and
//! finds fewer races.
//!
//! The algorithm is the paper's. Each thread has two clocks: what happens before its next event,
//! and what precedes it. Rule (a) looks up, by lock and variable, what the releases knew whose
//! sections accessed the variable. Rule (b) has queues of the sections that are over: if the start
//! of one precedes a later release of the lock, then so does its end, and it leaves the queue.
//!
//! What the paper leaves open, or we do otherwise:
//!
//! - Whatever synchronises and is not a lock is a hard edge, atomics are volatile variables, and a
//!   wait ends a section and its wake-up starts one, as in [`cp`](super::cp).
//! - Sections that only read-lock a lock do not order each other. Neither do they come in an order,
//!   so there is a queue for each thread that they were in, and not one for all.
//! - Rule (b) is for sections of different threads, as rule (a) is by what a conflict is.
//! - A queue's entry has the epoch of the section's start, and not its whole clock. Who has seen
//!   the epoch has seen the clock.
//! - A section is put only into queues of threads that will take the lock again.
//!
//! What is guaranteed: if there is a race, then the first one tells of a race or of a deadlock that
//! another schedule has, under the conditions in docs/ALGORITHM.md. Nothing is guaranteed of a
//! single pair, so all are marked unsound. What is missed: pairs that only the order of two
//! sections with a conflict keeps apart, and whatever only control flow can tell to be harmless.
//! Accesses of other bytes of the same memory count as conflicts in rule (a), and so order more
//! than need be.
//!
//! The time is linear in the trace, for so many threads and so many locks held at once; the memory
//! can be, too, for the queues may keep all sections.

mod locks;

use std::rc::Rc;

use racelog::trace::{LockEffect, LockId, LockUse, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use self::locks::Locks;
use super::scan::{self, Order};
use super::sections::{access_kind, kinds_conflict};
use super::{Findings, Scope};
use crate::goal::Pair;
use crate::order::{Edge, Edges, Epoch, direct_edges};
use crate::trace::{EventId, Op, Trace};

/// The pairs that weak causal precedence leaves unordered.
///
/// With [`Scope::AllPairs`], exactly these. With [`Scope::Signatures`], one for each signature that
/// they have, unless [`Limits::forgotten`](super::Limits::forgotten) says that a limit was hit.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    scan::races(trace, scope, Precedence::new(trace))
}

/// The first race: of the pairs that end earliest, the one that begins latest.
pub fn first_race(trace: &Trace) -> Option<Pair> {
    scan::first_race(trace, Precedence::new(trace))
}

/// For each thread, the last of its epochs that is known.
type Clock = Box<[u32]>;

fn join(to: &mut [u32], from: &[u32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to).max(*from);
    }
}

/// What happens before an event from which edges start, the event included.
#[derive(Debug)]
struct Past {
    /// The epoch that ended with the event.
    epoch: Epoch,
    happens: Clock,
}

/// What comes before the next event of each thread.
#[derive(Debug)]
struct Clocks {
    /// By happens-before. A thread's own component is the epoch that it is in.
    happens: Vec<Clock>,
    /// By weak causal precedence.
    precedes: Vec<Clock>,
}

impl Clocks {
    fn new(threads: usize) -> Self {
        let zero = vec![vec![0; threads].into_boxed_slice(); threads];
        let mut happens = zero.clone();
        for (thread, clock) in happens.iter_mut().enumerate() {
            clock[thread] = 1;
        }
        Self { happens, precedes: zero }
    }

    fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch { thread, count: self.happens[thread.index()][thread.index()] }
    }

    /// What happens before the present event of a thread, that included.
    fn past(&self, thread: ThreadId) -> Rc<Past> {
        let happens = self.happens[thread.index()].clone();
        Rc::new(Past { epoch: self.epoch(thread), happens })
    }

    /// Whether an epoch precedes the present event of a thread.
    fn has_seen(&self, thread: ThreadId, epoch: Epoch) -> bool {
        epoch.count <= self.precedes[thread.index()][epoch.thread.index()]
    }

    /// An event precedes the present event of a thread, and so does, by rule (c), all that happens
    /// before it. Whether that is new.
    fn learn(&mut self, thread: ThreadId, past: &Past) -> bool {
        let new = !self.has_seen(thread, past.epoch);
        if new {
            join(&mut self.precedes[thread.index()], &past.happens);
        }
        new
    }
}

/// Computes weak causal precedence.
struct Precedence<'a> {
    trace: &'a Trace,
    clocks: Clocks,
    hard: HardEdges,
    locks: Locks,
    /// For each thread, the sections that it is in.
    open: Vec<Vec<Section>>,
    /// The releases of a lock whose sections accessed a variable, the latest last.
    accessed: FxHashMap<(LockId, VarId), Vec<Accessed>>,
}

/// A critical section that is not over.
struct Section {
    lock: LockId,
    exclusive: bool,
    /// The epoch in which it began.
    start: u32,
    /// Which variables are accessed in it, and how.
    accesses: FxHashSet<(VarId, u8)>,
}

/// A thread's last section of one lock with accesses of one kind of one variable.
struct Accessed {
    exclusive: bool,
    kind: u8,
    release: Rc<Past>,
}

impl Accessed {
    fn key(&self) -> (ThreadId, bool, u8) {
        (self.release.epoch.thread, self.exclusive, self.kind)
    }
}

impl<'a> Precedence<'a> {
    fn new(trace: &'a Trace) -> Self {
        Self {
            trace,
            clocks: Clocks::new(trace.thread_count()),
            hard: HardEdges::new(trace),
            locks: Locks::new(trace),
            open: trace.threads().map(|_| Vec::new()).collect(),
            accessed: FxHashMap::default(),
        }
    }

    /// Rule (a).
    fn access(&mut self, thread: ThreadId, var: VarId, kind: u8) {
        for section in &mut self.open[thread.index()] {
            section.accesses.insert((var, kind));
            // The latest first: most often it knows of the others.
            for earlier in self.accessed.get(&(section.lock, var)).into_iter().flatten().rev() {
                let excluded = section.exclusive || earlier.exclusive;
                let other = earlier.release.epoch.thread != thread;
                if excluded && other && kinds_conflict(kind, earlier.kind) {
                    self.clocks.learn(thread, &earlier.release);
                }
            }
        }
    }

    /// A section ends; rule (b), and what later sections need to know of this one.
    fn release(&mut self, thread: ThreadId, lock: LockId) {
        let open = &mut self.open[thread.index()];
        let Some(at) = open.iter().rposition(|section| section.lock == lock) else { return };
        let section = open.remove(at);
        let within_another = open.iter().any(|other| other.lock == lock);
        self.locks.apply_rule_b(&mut self.clocks, thread, lock, section.exclusive);
        self.locks.give(&self.clocks, thread, lock, section.exclusive);
        // Others can take the lock only after the outer section, which has all that this one has.
        if within_another || !self.locks.is_wanted(lock, thread, section.exclusive) {
            return;
        }
        let release = self.clocks.past(thread);
        for (var, kind) in section.accesses {
            let known = self.accessed.entry((lock, var)).or_default();
            let new = Accessed { exclusive: section.exclusive, kind, release: release.clone() };
            known.retain(|earlier| earlier.key() != new.key());
            known.push(new);
        }
        self.locks.finish(lock, section.exclusive, section.start, &release);
    }
}

impl Order for Precedence<'_> {
    fn arrive(&mut self, event: EventId, op: &Op) {
        let thread = self.trace.thread(event);
        self.hard.arrive(&mut self.clocks, event, thread);
        if let Some(LockUse { lock, shared, effect: LockEffect::Takes }) = op.lock_use() {
            let exclusive = !shared;
            self.locks.take(&mut self.clocks, thread, lock, exclusive);
            let start = self.clocks.epoch(thread).count;
            let accesses = FxHashSet::default();
            self.open[thread.index()].push(Section { lock, exclusive, start, accesses });
        } else if let Some((var, kind)) = access_kind(op) {
            self.access(thread, var, kind);
        }
    }

    fn depart(&mut self, event: EventId, op: &Op) {
        let thread = self.trace.thread(event);
        let released = op.released_lock();
        if let Some(lock) = released {
            self.release(thread, lock);
        }
        let published = self.hard.depart(&self.clocks, event, thread);
        if released.is_some() || published {
            self.clocks.happens[thread.index()][thread.index()] += 1;
        }
    }

    fn epoch(&self, thread: ThreadId) -> Epoch {
        self.clocks.epoch(thread)
    }

    fn seen(&self, thread: ThreadId) -> &[u32] {
        &self.clocks.precedes[thread.index()]
    }
}

/// The edges that are part of the relation: whatever synchronises and is not a lock.
struct HardEdges {
    /// By where they end, the first that is still to come last.
    edges: Vec<Edge>,
    /// Where edges start, the first that is still to come last.
    sources: Vec<EventId>,
    /// What happens before events from which edges start that are still to come, and how many.
    pasts: FxHashMap<EventId, (Rc<Past>, usize)>,
    /// How many edges start at each source, by the source's place in `sources`.
    counts: Vec<usize>,
}

impl HardEdges {
    fn new(trace: &Trace) -> Self {
        let mut edges = direct_edges(trace, Edges::HARD);
        let mut sources: Vec<EventId> = edges.iter().map(|edge| edge.from).collect();
        sources.sort_unstable();
        let groups = sources.chunk_by(|a, b| a == b);
        let counts = groups.map(<[EventId]>::len).rev().collect();
        sources.dedup();
        sources.reverse();
        edges.reverse();
        Self { edges, sources, pasts: FxHashMap::default(), counts }
    }

    fn arrive(&mut self, clocks: &mut Clocks, event: EventId, thread: ThreadId) {
        while let Some(edge) = self.edges.pop_if(|edge| edge.to == event) {
            let Some((past, left)) = self.pasts.get_mut(&edge.from) else { continue };
            if clocks.learn(thread, past) {
                join(&mut clocks.happens[thread.index()], &past.happens);
            }
            *left -= 1;
            if *left == 0 {
                self.pasts.remove(&edge.from);
            }
        }
    }

    /// Whether edges start at an event.
    fn depart(&mut self, clocks: &Clocks, event: EventId, thread: ThreadId) -> bool {
        if self.sources.pop_if(|source| *source == event).is_none() {
            return false;
        }
        if let Some(count) = self.counts.pop() {
            self.pasts.insert(event, (clocks.past(thread), count));
        }
        true
    }
}
