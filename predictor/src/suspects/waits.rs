//! Waits of condvars whose notification could come first, so that nobody is there to be woken.

use std::collections::BTreeMap;

use racelog::contract::place::PlaceList;
use racelog::contract::seed::Manoeuvre;
use racelog::trace::CondvarId;

use super::{Suspect, Target, Why};
use crate::trace::{EventId, Op, Trace};

/// How many notifications of a condvar are looked at.
const MOST: usize = 64;

/// Each wait with each notification by another thread.
pub(super) fn find(trace: &Trace) -> Vec<Suspect> {
    let mut notifications: BTreeMap<CondvarId, Vec<EventId>> = BTreeMap::new();
    for event in trace.events() {
        if let Op::NotifyOne { condvar, .. } | Op::NotifyAll(condvar) = trace.op(event) {
            let known = notifications.entry(condvar).or_default();
            // One place is enough.
            let is_new = known.iter().all(|it| trace.location(*it) != trace.location(event));
            if is_new && known.len() < MOST {
                known.push(event);
            }
        }
    }
    let mut found = Vec::new();
    for wait in trace.events() {
        let Op::Wait { condvar, lock } = trace.op(wait) else { continue };
        let before = &trace.events_of_thread(trace.thread(wait))[..trace.position(wait)];
        let taken = |event: &&EventId| trace.op(**event).taken_lock() == Some(lock);
        let Some(taken) = before.iter().rev().find(taken) else { continue };
        for notify in notifications.get(&condvar).into_iter().flatten() {
            if trace.thread(*notify) == trace.thread(wait) {
                continue;
            }
            let places = [*taken, wait, *notify].map(|event| trace.source_place(event));
            let places = places.into_iter().collect::<Option<Vec<_>>>();
            found.extend(places.map(|places| Suspect {
                target: Target::Held(Manoeuvre::Wait, PlaceList(places)),
                events: vec![wait, *notify],
                why: Why::EarlyNotification,
            }));
        }
    }
    found
}
