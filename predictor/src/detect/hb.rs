//! Happens-before: pairs that nothing orders in the observed run.
//!
//! Lamport's relation (1978), computed with the epochs of Flanagan and Freund, "FastTrack"
//! (PLDI 2009); deviations: atomics follow the C++20 memory model by their orderings, and where
//! FastTrack keeps the last accesses of a variable, we keep the last of each site, so that every
//! signature is found and not only the first race of each variable.
//!
//! A pair that is reported is a data race of this very run by the memory model of Rust, as Miri
//! would see it. What is missed: races that only another schedule shows, and pairs that nothing but
//! a notification orders, which the memory model does not count. The first race can also be
//! brought about by a schedule, under conditions; see docs/ALGORITHM.md.

use super::history::{Access, History};
use super::{Collector, Findings, Limits, Scope};
use crate::goal::Pair;
use crate::index::LocksetId;
use crate::order::{Clocks, Edges, Flow};
pub use crate::order::{WeakLink, weak_links};
use crate::trace::{EventId, Op, Trace};

/// The pairs that happens-before leaves unordered.
///
/// With [`Scope::AllPairs`], exactly these. With [`Scope::Signatures`], one for each signature that
/// they have, unless [`Limits::forgotten`] says that a limit was hit. The time is linear in the
/// trace and in how many sites and threads a variable is accessed from.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    let mut collector = Collector::new(trace, scope);
    let mut unordered: Vec<EventId> = Vec::new();
    let forgotten = scan(trace, scope, |access, others| {
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
pub fn first_race(trace: &Trace) -> Option<Pair> {
    let mut first = None;
    scan(trace, Scope::Signatures, |access, others| {
        let latest = others.iter().map(|other| other.event).max();
        first = latest.map(|latest| Pair::new(latest, access.event));
        first.is_none()
    });
    first
}

/// Calls `racy` with each access that is unordered with others that came before, and these, for as
/// long as that is true. Says how many accesses were forgotten.
fn scan(trace: &Trace, scope: Scope, mut racy: impl FnMut(&Access, &[Access]) -> bool) -> u64 {
    let clocks = Clocks::new(trace.thread_count());
    let mut flow = Flow::new(trace, Edges::HAPPENS_BEFORE, clocks);
    let mut history = History::new(trace, scope);
    let mut others: Vec<Access> = Vec::new();
    for event in trace.events() {
        let op = trace.op(event);
        flow.arrive(event, &op);
        let thread = trace.thread(event);
        let clocks = flow.knowledge();
        let epoch = clocks.epoch(thread);
        if let Some((var, access)) = history.describe(trace, event, &op, epoch, LocksetId::EMPTY) {
            others.clear();
            history.add(var, access, clocks.of(thread), |other| others.push(*other));
            if !others.is_empty() && !racy(&access, &others) {
                break;
            }
        } else if let Op::Exclusive { var, .. } = op {
            history.clear(var);
        }
        flow.depart(event, &op);
    }
    history.forgotten()
}
