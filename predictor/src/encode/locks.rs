//! Locks: regions that exclude each other come one after the other, and the earlier one is over; a
//! failed attempt finds the lock taken.

use racelog::trace::LockId;
use rustc_hash::FxHashMap;

use super::{Encoder, Stated};
use crate::solve::formula::Lit;
use crate::trace::EventId;

/// States that regions which overlap in a sequence do not.
pub(super) fn refine(encoder: &mut Encoder<'_>, sequence: &[EventId]) {
    let regions = &encoder.index.regions;
    let mut open: FxHashMap<LockId, Vec<u32>> = FxHashMap::default();
    for number in &encoder.window.open {
        open.entry(regions.get(*number).lock).or_default().push(*number);
    }
    for event in sequence {
        let Some(number) = regions.at(*event) else { continue };
        let region = regions.get(number);
        let others = open.entry(region.lock).or_default();
        if region.acquire != *event {
            others.retain(|other| *other != number);
            continue;
        }
        for other in others.iter() {
            if region.excludes(regions.get(*other)) {
                state_exclusion(encoder, *other, number);
            }
        }
        if region.release != Some(*event) {
            others.push(number);
        }
    }
}

fn state_exclusion(encoder: &mut Encoder<'_>, a: u32, b: u32) {
    if !encoder.stated.insert(Stated::Regions(a.min(b), a.max(b))) {
        return;
    }
    let both = [a, b].map(|region| *encoder.index.regions.get(region));
    let happens = both.map(|region| encoder.included(region.acquire));
    let mut clause: Vec<Lit> = happens.iter().map(|lit| !*lit).collect();
    for (first, second) in [(both[0], both[1]), (both[1], both[0])] {
        let Some(release) = first.release.filter(|release| *release < encoder.window.end) else {
            continue;
        };
        let earlier = encoder.before(release, second.acquire);
        let over = encoder.included(release);
        encoder.formula.implies(&[earlier, happens[0], happens[1]], &[over]);
        clause.push(earlier);
    }
    encoder.formula.clause(&clause);
}

/// A thread that fails to take a lock does so inside a region of it: one of a writer, if it wanted
/// to share it.
pub(super) fn state_failure(
    encoder: &mut Encoder<'_>,
    failure: EventId,
    lock: LockId,
    to_share: bool,
) {
    let regions = &encoder.index.regions;
    let included = encoder.included(failure);
    let mut reasons = vec![!included];
    let start = encoder.window.start;
    for number in regions.of_lock(lock) {
        let region = *regions.get(*number);
        let over = region.release.is_some_and(|release| release < start);
        if over || region.acquire >= encoder.window.end || to_share && region.shared {
            continue;
        }
        let inside = encoder.formula.proposition(false);
        let begun = [encoder.included(region.acquire), encoder.before(region.acquire, failure)];
        encoder.formula.implies(&[inside], &begun);
        if let Some(release) = region.release.filter(|release| *release < encoder.window.end) {
            let (over, later) = (encoder.included(release), encoder.before(failure, release));
            encoder.formula.clause(&[!inside, !over, later]);
        }
        reasons.push(inside);
    }
    encoder.formula.clause(&reasons);
}
