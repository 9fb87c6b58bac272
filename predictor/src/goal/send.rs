//! Sends to nobody: a thread is about to send a message, and all receivers are gone.

use super::{GoalKind, ProgramPoint, Signature, Unmet};
use crate::semantics::{Machine, State, Status, WhyNot};
use crate::trace::{EventId, Op, Trace};

pub(super) fn signature(trace: &Trace, send: EventId) -> Signature {
    Signature::new(GoalKind::SendToNobody, [ProgramPoint::of(trace, send)])
}

/// What keeps a state from being one in which this event is next and sends to nobody.
pub(super) fn unmet(machine: &Machine<'_>, state: &State, send: EventId) -> Option<Unmet> {
    if !matches!(machine.trace().op(send), Op::Send { .. }) {
        return Some(Unmet::NoSend(send));
    }
    match machine.status(state, send) {
        Status::Diverges(WhyNot::NoReceivers(_)) => None,
        Status::NotRequested(why) => Some(Unmet::NotEnabled(send, why)),
        Status::Enabled | Status::Blocked(_) | Status::Diverges(_) => {
            Some(Unmet::HasReceivers(send))
        }
    }
}
