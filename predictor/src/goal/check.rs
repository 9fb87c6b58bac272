//! Failed checks and panics: a thread is about to check a condition that does not hold.
//!
//! A check is a branch whose other side panics. Its condition has to be recorded, as an expression
//! over what the thread has found: of others nothing is known.

use super::{GoalKind, ProgramPoint, Signature, Unmet};
use crate::semantics::{Machine, State, Status, WhyNot};
use crate::trace::{EventId, Op, Trace};

pub(super) fn signature(trace: &Trace, check: EventId) -> Signature {
    Signature::new(kind(trace, check), [ProgramPoint::of(trace, check)])
}

/// What it is called if a check fails.
pub(super) fn kind(trace: &Trace, check: EventId) -> GoalKind {
    match trace.op(check) {
        Op::Check { by_language: true, .. } => GoalKind::Panic,
        _ => GoalKind::FailedCheck,
    }
}

/// Whether an event is a check whose condition is known.
pub(crate) fn can_fail(trace: &Trace, check: EventId) -> bool {
    matches!(trace.op(check), Op::Check { .. })
        && trace.data(check).is_some_and(|data| data.is.is_some())
}

/// What keeps a state from being one in which this event is next and its condition does not hold.
pub(super) fn unmet(machine: &Machine<'_>, state: &State, check: EventId) -> Option<Unmet> {
    if !can_fail(machine.trace(), check) {
        return Some(Unmet::NoCheck(check));
    }
    match machine.status(state, check) {
        Status::Diverges(WhyNot::Fails(_)) => None,
        Status::NotRequested(why) | Status::Diverges(why) => Some(Unmet::NotEnabled(check, why)),
        Status::Enabled | Status::Blocked(_) => Some(Unmet::Holds(check)),
    }
}
