//! Races that cheap orders leave: no lock keeps the two apart, and no order that all executions
//! share.

use racelog::contract::place::PlacePair;

use super::{Suspect, Target, Why};
use crate::analysis::ordering_locks;
use crate::detect::{Scope, quick};
use crate::trace::{EventId, Trace};

/// One for each two places. A thread cannot be made to stand before a free, which may come in the
/// middle of anything.
pub(super) fn find(trace: &Trace) -> Vec<Suspect> {
    let pairs = quick::races(trace, Scope::Signatures).pairs.into_iter();
    let place = |event: EventId| trace.source_place(event).filter(|_| !trace.frees(event));
    let suspects = pairs.filter_map(|pair| {
        let mut places = [place(pair.first())?, place(pair.second())?];
        places.sort();
        let why = match ordering_locks(trace, pair) {
            locks if locks.is_empty() => Why::OrderOfValues,
            locks => Why::OrderOfLocks(locks),
        };
        let target = Target::Race(PlacePair(places));
        Some(Suspect { target, events: pair.events().to_vec(), why })
    });
    suspects.collect()
}
