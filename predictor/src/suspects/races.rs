//! Races that cheap orders leave: no lock keeps the two apart, and no order that all executions
//! share.
//!
//! A thread cannot be made to stand before a free, which may come in the middle of anything. Of a
//! free and an access, the access is made to come late: its thread waits before it, or before one
//! of the last operations that led there, for by the last of them the one that frees may wait for
//! it.

use racelog::contract::place::{PlaceList, PlacePair, SourcePlace};
use racelog::contract::seed::Manoeuvre;

use super::{Suspect, Target, Why};
use crate::analysis::ordering_locks;
use crate::detect::{Scope, quick};
use crate::trace::{EventId, Trace};

/// Before how many operations the thread of an access may wait.
const STEPS: usize = 4;

/// One for each two places.
pub(super) fn find(trace: &Trace) -> Vec<Suspect> {
    let pairs = quick::races(trace, Scope::Signatures).pairs.into_iter();
    let suspects = pairs.filter_map(|pair| {
        let events = pair.events().to_vec();
        let free = events.iter().position(|event| trace.frees(*event));
        if let Some(free) = free {
            let places = way_to(trace, events[1 - free]);
            let target = Target::Held(Manoeuvre::Late, PlaceList(places));
            let is_known = !target.places().is_empty();
            return is_known.then_some(Suspect { target, events, why: Why::FreedMeanwhile });
        }
        let place = |event: EventId| trace.source_place(event);
        let mut places = [place(pair.first())?, place(pair.second())?];
        places.sort();
        let why = match ordering_locks(trace, pair) {
            locks if locks.is_empty() => Why::OrderOfValues,
            locks => Why::OrderOfLocks(locks),
        };
        Some(Suspect { target: Target::Race(PlacePair(places)), events, why })
    });
    suspects.collect()
}

/// The places of an access and of what its thread did just before, the last first.
fn way_to(trace: &Trace, access: EventId) -> Vec<SourcePlace> {
    let all = &trace.events_of_thread(trace.thread(access))[..=trace.position(access)];
    let mut places: Vec<SourcePlace> = Vec::new();
    for place in all.iter().rev().filter_map(|event| trace.source_place(*event)) {
        if !places.contains(&place) {
            places.push(place);
        }
        if places.len() == STEPS {
            break;
        }
    }
    places
}
