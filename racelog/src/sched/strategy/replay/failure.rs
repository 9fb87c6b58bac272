//! The end of a schedule that leads to a check that fails.
//!
//! Claim: it is confirmed only if the thread panics after all its steps and before it has done
//! anything else. Nothing stands between its last step and the check that others could notice, so
//! it may come to the check in the same turn, and whatever others have yet to do comes too late.

use super::{Phase, Replay};
use crate::contract::schedule::Aim;

impl Replay {
    /// Whether a thread that does something is failing where the schedule leads to. It is called by
    /// the thread itself.
    pub(super) fn is_failure(&self, thread: &str) -> bool {
        let next = &self.schedule.next[0].operation;
        // The guards of a statement go after the check that it makes.
        let gives_back =
            |at: &usize| matches!(&*self.schedule.steps[*at].operation.op, "release" | "rrelease");
        let has_come = self.coming.get(thread).into_iter().flatten().all(gives_back);
        self.schedule.aim == Aim::Failure
            && next.thread == thread
            && has_come
            && std::thread::panicking()
    }

    /// The check that was to fail has failed.
    pub(super) fn fail(&mut self) {
        self.phase = Phase::After;
        self.confirm();
    }
}
