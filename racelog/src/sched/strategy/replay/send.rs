//! The end of a schedule that leads to a message which nobody is there to receive.
//!
//! Claim: it is confirmed only if the channel has refused the message since all receivers are gone.

use super::{CallSite, Choice, Op, Phase, Replay, Stop, find, is_at, object_of, stands};
use crate::contract::schedule::Aim;

impl Replay {
    /// Lets the thread go that is to send the message, or to fail; what it does then is observed.
    pub(super) fn send(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        let thread = &self.schedule.next[0].operation.thread;
        if let Some(slot) = find(choice, thread) {
            self.turn = Some((thread.clone(), false));
            return Ok(slot);
        }
        if let Some(deadline) = self.undecided(choice) {
            return Err(Stop::Sleep(deadline));
        }
        let why = stands(choice.slots, thread);
        self.diverge(self.done.len(), why)
    }

    /// Whether what a thread has done is to send a message to nobody, as the schedule has it.
    pub(super) fn is_sent_to_nobody(&self, thread: &str, op: &Op, here: Option<CallSite>) -> bool {
        let send = &self.schedule.next[0].operation;
        self.schedule.aim == Aim::SendToNobody
            && self.phase != Phase::Approach
            && send.thread == thread
            && send.place.as_ref().is_none_or(|place| is_at(place, here))
            && matches!(op, Op::SendClosed { .. })
            && self.is_same(send.object.as_ref(), object_of(op))
    }
}
