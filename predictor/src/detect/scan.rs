//! The walk that detectors with clocks share: each access is held against the earlier accesses that
//! its thread has not seen.

use racelog::trace::ThreadId;

use super::history::{Access, History};
use super::{Collector, Findings, Limits, Scope};
use crate::goal::Pair;
use crate::index::LocksetId;
use crate::order::{Clocks, Edges, Epoch, Flow};
use crate::trace::{EventId, Op, Trace};

/// An order on the events of a trace, computed event by event in the order of the trace.
pub(super) trait Order {
    /// Learns what comes before an event, which does `op`.
    fn arrive(&mut self, event: EventId, op: &Op);
    /// The event has happened.
    fn depart(&mut self, event: EventId, op: &Op);
    /// The epoch that a thread is in.
    fn epoch(&self, thread: ThreadId) -> Epoch;
    /// For each thread, the last of its epochs that comes before the present event of `thread`.
    fn seen(&self, thread: ThreadId) -> &[u32];
}

/// The order along some edges of the observed trace.
pub(super) struct Along<'a> {
    flow: Flow<'a, Clocks>,
}

impl<'a> Along<'a> {
    pub(super) fn new(trace: &'a Trace, edges: Edges) -> Self {
        Self { flow: Flow::new(trace, edges, Clocks::new(trace.thread_count())) }
    }
}

impl Order for Along<'_> {
    fn arrive(&mut self, event: EventId, op: &Op) {
        self.flow.arrive(event, op);
    }

    fn depart(&mut self, event: EventId, op: &Op) {
        self.flow.depart(event, op);
    }

    fn epoch(&self, thread: ThreadId) -> Epoch {
        self.flow.knowledge().epoch(thread)
    }

    fn seen(&self, thread: ThreadId) -> &[u32] {
        self.flow.knowledge().of(thread)
    }
}

/// What keeps accesses apart besides their order.
pub(super) trait Guards {
    /// Which locks the thread of an event holds.
    fn held(&mut self, event: EventId) -> LocksetId;
    /// Whether accesses with these locks held cannot meet.
    fn exclude(&self, a: LocksetId, b: LocksetId) -> bool;
}

/// Locks say nothing.
struct Unguarded;

impl Guards for Unguarded {
    fn held(&mut self, _event: EventId) -> LocksetId {
        LocksetId::EMPTY
    }

    fn exclude(&self, _a: LocksetId, _b: LocksetId) -> bool {
        false
    }
}

/// The pairs that an order leaves unordered.
pub(super) fn races(trace: &Trace, scope: Scope, order: impl Order) -> Findings {
    guarded_races(trace, scope, order, Unguarded)
}

/// The pairs that an order leaves unordered, and locks do not exclude.
pub(super) fn guarded_races(
    trace: &Trace,
    scope: Scope,
    order: impl Order,
    guards: impl Guards,
) -> Findings {
    let mut collector = Collector::new(trace, scope);
    let mut unordered: Vec<EventId> = Vec::new();
    let forgotten = scan(trace, scope, order, guards, |access, others| {
        // The latest first: it says most about how the race came about.
        unordered.clear();
        unordered.extend(others.iter().map(|other| other.event));
        unordered.sort_unstable();
        for other in unordered.iter().rev() {
            collector.add(Pair::new(*other, access.event));
        }
        true
    });
    collector.finish(Limits { forgotten, ..Limits::default() })
}

/// The first race: of the pairs that end earliest, the one that begins latest.
pub(super) fn first_race(trace: &Trace, order: impl Order) -> Option<Pair> {
    let mut first = None;
    scan(trace, Scope::Signatures, order, Unguarded, |access, others| {
        let latest = others.iter().map(|other| other.event).max();
        first = latest.map(|latest| Pair::new(latest, access.event));
        first.is_none()
    });
    first
}

/// Calls `racy` with each access that is unordered with others that came before, and these, for as
/// long as that is true. Says how many accesses were forgotten.
fn scan(
    trace: &Trace,
    scope: Scope,
    mut order: impl Order,
    mut guards: impl Guards,
    mut racy: impl FnMut(&Access, &[Access]) -> bool,
) -> u64 {
    let mut history = History::new(trace, scope);
    let mut others: Vec<Access> = Vec::new();
    for event in trace.events() {
        let op = trace.op(event);
        order.arrive(event, &op);
        let thread = trace.thread(event);
        let (epoch, locks) = (order.epoch(thread), guards.held(event));
        if let Some((var, access)) = history.describe(trace, event, &op, epoch, locks) {
            others.clear();
            history.add(var, access, order.seen(thread), |other| {
                if !guards.exclude(other.locks, locks) {
                    others.push(*other);
                }
            });
            if !others.is_empty() && !racy(&access, &others) {
                break;
            }
        } else if let Op::Exclusive { var, .. } = op {
            history.clear(var);
        }
        order.depart(event, &op);
    }
    history.forgotten()
}
