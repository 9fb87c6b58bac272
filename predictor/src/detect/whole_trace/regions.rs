//! Locks: two regions that exclude each other come one after the other (Φ_lock), and one that does
//! not end comes last.

use racelog::trace::LockId;
use rustc_hash::FxHashMap;

use super::{Stated, WholeTrace};
use crate::solve::formula::Lit;
use crate::trace::EventId;

/// States that regions which overlap in a sequence do not.
pub(super) fn refine(whole: &mut WholeTrace<'_>, sequence: &[EventId]) {
    let regions = &whole.index.regions;
    let mut open: FxHashMap<LockId, Vec<u32>> = FxHashMap::default();
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
                state_exclusion(whole, *other, number);
            }
        }
        if region.release != Some(*event) {
            others.push(number);
        }
    }
}

fn state_exclusion(whole: &mut WholeTrace<'_>, a: u32, b: u32) {
    if !whole.stated.insert(Stated::Regions(a.min(b), a.max(b))) {
        return;
    }
    let (one, other) = (*whole.index.regions.get(a), *whole.index.regions.get(b));
    let mut clause = Vec::new();
    for (first, second) in [(one, other), (other, one)] {
        if let Some(release) = first.release {
            clause.push(whole.before(release, second.acquire));
        }
    }
    whole.formula.clause(&clause);
}

/// A thread that fails to take a lock does so inside a region of it: one of a writer, if it wanted
/// to share it.
pub(super) fn state_failure(
    whole: &mut WholeTrace<'_>,
    failure: EventId,
    lock: LockId,
    to_share: bool,
) {
    let regions = &whole.index.regions;
    let mut reasons: Vec<Lit> = Vec::new();
    for number in regions.of_lock(lock) {
        let region = *regions.get(*number);
        if to_share && region.shared {
            continue;
        }
        let mut conditions = vec![whole.before(region.acquire, failure)];
        if let Some(release) = region.release {
            conditions.push(whole.before(failure, release));
        }
        reasons.push(whole.all(&conditions));
    }
    whole.formula.clause(&reasons);
}
