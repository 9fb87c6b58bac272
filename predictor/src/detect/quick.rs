//! The quick check: locksets, and what is ordered in every execution.
//!
//! After the hybrid of O'Callahan and Choi (PPoPP 2003), which is phase 1 of Sen's race-directed
//! testing (PLDI 2008) and the quick check of Huang, Meredith and Roşu (PLDI 2014, section 4). Two
//! conflicting accesses pass if no lock protects both and the weak happens-before, without the edges
//! of locks and memory, leaves them unordered.
//!
//! **Unsound by design**: that a pair passes does not mean that it is a race. What it is good for
//! is the reverse: whatever is a race passes. For that we deviate from the papers in one point: a
//! notification or an unpark orders others only where no other one could have served, see
//! [`Wakeups::Necessary`](crate::order::Wakeups::Necessary).

use super::history::{Access, History};
use super::{Collector, Findings, Limits, Scope};
use crate::goal::Pair;
use crate::index::Regions;
use crate::order::{Clocks, Edges, Flow};
use crate::trace::{Op, Trace};

/// The pairs that pass the quick check: every race, and others. Unsound by design, see the
/// [module](self).
///
/// With [`Scope::Signatures`], one for each signature, unless [`Limits::forgotten`] says that a
/// limit was hit.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    let clocks = Clocks::new(trace.thread_count());
    let mut flow = Flow::new(trace, Edges::NECESSARY, clocks);
    let regions = Regions::new(trace);
    let mut held = regions.walk();
    let mut history = History::new(trace, scope);
    let mut collector = Collector::new(trace, scope);
    let mut others: Vec<Access> = Vec::new();
    for event in trace.events() {
        let op = trace.op(event);
        flow.arrive(event, &op);
        let thread = trace.thread(event);
        let clocks = flow.knowledge();
        let (epoch, locks) = (clocks.epoch(thread), held.held(thread, trace.position(event)));
        if let Some((var, access)) = history.describe(trace, event, &op, epoch, locks) {
            others.clear();
            history.add(var, access, clocks.of(thread), |other| {
                if !regions.sets().exclude(other.locks, access.locks) {
                    others.push(*other);
                }
            });
            others.sort_unstable_by_key(|other| other.event);
            for other in others.iter().rev() {
                collector.add(Pair::new(other.event, access.event));
            }
        } else if let Op::Exclusive { var, .. } = op {
            history.clear(var);
        }
        flow.depart(event, &op);
    }
    collector.finish(Limits { forgotten: history.forgotten(), ..Limits::default() })
}
