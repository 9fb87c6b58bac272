//! Failed checks and panics: which could be some.

use std::collections::BTreeMap;

use racelog::trace::LocId;

use crate::goal::{Goal, GoalKind, GoalKinds, check};
use crate::trace::{EventId, Op, Trace};

/// The checks whose conditions are known, by their places in the program.
pub(super) fn candidates(trace: &Trace, kinds: GoalKinds) -> Vec<Vec<Goal>> {
    if !trace.has_data() {
        return Vec::new();
    }
    let mut places: BTreeMap<Result<LocId, EventId>, Vec<Goal>> = BTreeMap::new();
    for event in trace.events() {
        let goal = match trace.op(event) {
            Op::Check { by_language: true, .. } => Goal::Panic(event),
            Op::Check { .. } => Goal::FailedCheck(event),
            _ => continue,
        };
        if kinds.contains(goal.kind()) && check::can_fail(trace, event) {
            places.entry(trace.location(event).ok_or(event)).or_default().push(goal);
        }
    }
    places.into_values().collect()
}

/// Whether any of these kinds is one of checks.
pub(super) fn are_wanted(kinds: GoalKinds) -> bool {
    kinds.contains(GoalKind::FailedCheck) || kinds.contains(GoalKind::Panic)
}
