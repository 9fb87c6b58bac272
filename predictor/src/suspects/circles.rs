//! Deadlocks that are not proven: circles in the orders in which locks are taken.

use racelog::contract::place::PlaceList;
use racelog::contract::seed::Manoeuvre;

use super::{Suspect, Target, Why};
use crate::detect::{Scope, deadlock};
use crate::trace::{EventId, Trace};

/// One for each circle whose requests all have places.
pub(super) fn find(trace: &Trace) -> Vec<Suspect> {
    let circles = deadlock::lock_order(trace, Scope::Signatures).circles.into_iter();
    let suspects = circles.filter_map(|circle| {
        let places = circle.events().iter().map(|event| trace.source_place(*event));
        let mut places = places.collect::<Option<Vec<_>>>()?;
        places.sort();
        let events: Vec<EventId> = circle.events().to_vec();
        let target = Target::Held(Manoeuvre::Circle, PlaceList(places));
        Some(Suspect { target, events, why: Why::OrdersOfLocksDiffer })
    });
    suspects.collect()
}
