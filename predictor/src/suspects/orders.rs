//! What one thread does to an object before another uses it, in the recorded run, and need not.
//!
//! A lock that guards what is made just in time, a flag that is set early enough: if the one comes
//! later, the other finds something else. Nothing is known of what it does then, so these come last.

use std::collections::BTreeMap;

use racelog::contract::place::PlaceList;
use racelog::contract::seed::Manoeuvre;
use racelog::trace::{Object, ThreadId};

use super::between::{Step, step};
use super::{Suspect, Target, Why};
use crate::order::{Clocks, Edges, Epoch, Flow};
use crate::trace::{EventId, Trace};

/// Of how many places an object is looked at.
const MOST: usize = 4;

/// One for each place that could come later.
pub(super) fn find(trace: &Trace) -> Vec<Suspect> {
    let mut flow = Flow::new(trace, Edges::NECESSARY, Clocks::new(trace.thread_count()));
    let mut acts: BTreeMap<Object, Vec<(EventId, Epoch)>> = BTreeMap::new();
    let mut found = Vec::new();
    for event in trace.events() {
        let op = trace.op(event);
        flow.arrive(event, &op);
        if let Some((object, step)) = step(trace, event) {
            let thread = trace.thread(event);
            let seen = flow.knowledge().of(thread);
            let is_free = |(act, epoch): &&(EventId, Epoch)| {
                trace.thread(*act) != thread && seen[epoch.thread.index()] < epoch.count
            };
            let known = acts.entry(object).or_default();
            let others = known.iter().filter(is_free);
            found.extend(others.flat_map(|(act, _)| either_late(trace, *act, event)));
            let is_new = |thread: ThreadId| {
                let same = |(act, _): &(EventId, Epoch)| {
                    trace.thread(*act) == thread && trace.location(*act) == trace.location(event)
                };
                !known.iter().any(same)
            };
            if step != Step::Check && known.len() < MOST && is_new(thread) {
                known.push((event, flow.knowledge().epoch(thread)));
            }
        }
        flow.depart(event, &op);
    }
    found
}

/// The act may come after the other event; or the other one so late that much else has happened.
fn either_late(trace: &Trace, act: EventId, other: EventId) -> impl Iterator<Item = Suspect> {
    let late = move |event: EventId| {
        let target = Target::Held(Manoeuvre::Late, PlaceList(vec![trace.source_place(event)?]));
        Some(Suspect { target, events: vec![act, other], why: Why::OtherOrder })
    };
    [act, other].into_iter().filter_map(late)
}
