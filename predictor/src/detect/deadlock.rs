//! Deadlocks by closed sets of events.
//!
//! After Tunç, Mathur, Pavlogiannis and Viswanathan, "Sound Dynamic Deadlock Prediction in Linear
//! Time" (PLDI 2023). Candidates are the circles of the graph of requests, which is their abstract
//! lock-dependency graph. A candidate is an instance of a circle: one request of each node.
//! Reaching its requests takes a set of events, which is closed; if no request is itself in the
//! set, it is reported. If one is, no instance has it, and the next request of its node is tried
//! with the same set, which only grows. So each circle costs one walk through the trace.
//!
//! - [`sync_preserving`]: reads find what they found, critical sections of one lock keep their
//!   order, and so do operations on one channel, condvar, barrier or parked thread, of which the
//!   paper has none. **Sound**: the events of the set, in the trace's order, are an execution. What
//!   it misses are deadlocks that need two critical sections to change places.
//! - [`lock_order`]: nothing counts but what is ordered in every execution, see
//!   [`Edges::NECESSARY`]. **Unsound by design**: it reports every deadlock and much that is none.
//!
//! We deviate: circles go through joins, initialisers, readers and waiters that need their lock
//! back. Of each circle the first instance is reported; writers that wait keep nobody out.

use racelog::trace::{LockEffect, LockId, Object, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Scope;
use super::closed_set::ClosedSet;
use crate::goal::{Circle, Signature};
use crate::index::Regions;
use crate::lock_graph::{AbstractCircle, Circles, Request, Requests};
use crate::order::{Edge, Edges, direct_edges};
use crate::trace::{EventId, Op, Trace};

/// The circles that a detector reports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoundCircles {
    /// One for each signature, or for each circle of the graph of requests. Sorted.
    pub circles: Vec<Circle>,
    /// Whether there may be circles that were not followed.
    pub is_cut: bool,
}

/// Deadlocks of executions that keep the order of critical sections. Sound.
pub fn sync_preserving(trace: &Trace, scope: Scope) -> FoundCircles {
    let regions = Regions::new(trace);
    let edges = observed_edges(trace);
    instances(trace, scope, &regions, || ClosedSet::new(trace, &edges, Some(&regions)))
}

/// Lock-order circles that no order of all executions rules out. Unsound by design, see the
/// [module](self).
pub fn lock_order(trace: &Trace, scope: Scope) -> FoundCircles {
    let regions = Regions::new(trace);
    let edges = direct_edges(trace, Edges::NECESSARY);
    instances(trace, scope, &regions, || ClosedSet::new(trace, &edges, None))
}

/// The first instance of each circle whose closed set does not have it.
fn instances<'a>(
    trace: &Trace,
    scope: Scope,
    regions: &Regions,
    empty: impl Fn() -> ClosedSet<'a>,
) -> FoundCircles {
    let requests = Requests::new(trace, regions);
    let Circles { all, cut } = Circles::new(trace, &requests, regions.sets(), false, true);
    let mut known: FxHashSet<Signature> = FxHashSet::default();
    let found = all.iter().filter_map(|circle| instance(trace, &requests, circle, empty()));
    let is_new = |circle: &Circle| match scope {
        Scope::AllPairs => true,
        Scope::Signatures => known.insert(circle.signature(trace)),
    };
    let mut circles: Vec<Circle> = found.filter(is_new).collect();
    circles.sort_unstable();
    FoundCircles { circles, is_cut: cut }
}

fn instance(
    trace: &Trace,
    requests: &Requests,
    circle: &AbstractCircle,
    mut set: ClosedSet<'_>,
) -> Option<Circle> {
    let members: Vec<&Request> = circle.requests.iter().map(|n| &requests.all[*n]).collect();
    let mut at = vec![0; members.len()];
    loop {
        let events: Option<Vec<EventId>> =
            members.iter().zip(&at).map(|(member, at)| member.events.get(*at).copied()).collect();
        let events = events?;
        events.iter().for_each(|event| set.reach(*event));
        set.close().ok()?;
        let mut passed = false;
        for (member, at) in members.iter().zip(&mut at) {
            let count = set.count(member.thread);
            let before = *at;
            let is_in = |event: &EventId| trace.position(*event) < count;
            *at += member.events[before..].partition_point(is_in);
            passed |= *at > before;
        }
        if !passed {
            return Some(Circle::new(events));
        }
    }
}

/// What keeps an execution near to the observed one, but for the order of critical sections: edges
/// between threads, sorted by where they end.
fn observed_edges(trace: &Trace) -> Vec<Edge> {
    let mut edges = direct_edges(trace, Edges::HARD);
    let mut last = LastEvents::default();
    for event in trace.events() {
        last.step(trace, event, |from| {
            if trace.thread(from) != trace.thread(event) {
                edges.push(Edge { to: event, from });
            }
        });
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// What was done last to the objects of a trace.
#[derive(Debug, Default)]
struct LastEvents {
    writes: FxHashMap<VarId, EventId>,
    /// Of each object that keeps the order of its events.
    ordered: FxHashMap<Object, EventId>,
    /// By which events each lock is held.
    held: FxHashMap<LockId, Vec<EventId>>,
}

impl LastEvents {
    /// Notes an event, and calls `each` with the events that must come before it.
    fn step(&mut self, trace: &Trace, event: EventId, mut each: impl FnMut(EventId)) {
        let op = trace.op(event);
        if let Some(object) = ordered(trace, event, &op) {
            self.ordered.insert(object, event).into_iter().for_each(&mut each);
        }
        if let Some(var) = op.var() {
            if op.reads() {
                self.writes.get(&var).copied().into_iter().for_each(&mut each);
            }
            if op.writes() {
                self.writes.insert(var, event);
            }
        }
        let Some(used) = op.lock_use() else { return };
        let held = self.held.entry(used.lock).or_default();
        match used.effect {
            LockEffect::Takes => held.push(event),
            LockEffect::GivesBack => {
                let own = |by: &EventId| trace.thread(*by) == trace.thread(event);
                if let Some(at) = held.iter().rposition(own) {
                    held.remove(at);
                }
            }
            // An attempt that fails needs one that holds the lock.
            LockEffect::FindsTaken => held.iter().copied().for_each(each),
            LockEffect::FindsFree => {}
        }
    }
}

/// The object of an event whose events keep their order: of a thread, those of its token.
fn ordered(trace: &Trace, event: EventId, op: &Op) -> Option<Object> {
    if let Op::Park | Op::ParkTimeout = op {
        return Some(Object::Thread(trace.thread(event)));
    }
    let object = op.object()?;
    let keeps_order = match object {
        // Memory that is accessed in pieces of different sizes.
        Object::Var(var) => trace.is_mixed(var),
        Object::Thread(_) => matches!(op, Op::Unpark(_)),
        Object::Condvar(_) | Object::Channel(_) | Object::Barrier(_) => true,
        Object::Lock(_) => false,
    };
    keeps_order.then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> [Vec<Vec<u64>>; 2] {
        let trace: Trace = text.parse().unwrap();
        [sync_preserving, lock_order].map(|detector| {
            let circles = detector(&trace, Scope::AllPairs).circles;
            let numbers = |circle: &Circle| circle.events().iter().map(|it| it.number()).collect();
            circles.iter().map(numbers).collect()
        })
    }

    const ABBA: &str = "t1 acquire a\nt1 acquire b\nt1 release b\nt1 release a\n\
                        t2 acquire b\nt2 acquire a\nt2 release a\nt2 release b\n";

    #[test]
    fn two_locks_in_two_orders() {
        let forks = "t0 fork t1\nt0 fork t2\n";
        assert_eq!(found(&format!("{forks}{ABBA}")), [vec![vec![4, 8]], vec![vec![4, 8]]]);
        // A join in between rules it out for both.
        let (first, second) = ABBA.split_at(ABBA.find("t2").unwrap());
        let joined = format!("t0 fork t1\n{first}t0 join t1\nt0 fork t2\n{second}");
        assert_eq!(found(&joined), [Vec::<Vec<u64>>::new(), Vec::new()]);
    }

    #[test]
    fn a_value_that_was_read_keeps_its_write() {
        let (first, second) = ABBA.split_at(ABBA.find("t2").unwrap());
        let text = format!("{first}t1 write x 1\nt2 read x 1\n{second}");
        assert_eq!(found(&text), [vec![], vec![vec![2, 8]]]);
    }

    #[test]
    fn critical_sections_do_not_change_places() {
        // The second thread takes `c` after the first has given everything back. It need not, but
        // the order of the sections of `c` says so.
        let text = "t1 acquire c\nt1 acquire a\nt1 acquire b\nt1 release b\nt1 release a\n\
                    t1 release c\nt2 acquire c\nt2 release c\n\
                    t2 acquire b\nt2 acquire a\nt2 release a\nt2 release b\n";
        assert_eq!(found(text), [vec![], vec![vec![3, 10]]]);
    }
}
