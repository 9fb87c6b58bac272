//! Which use of what a lock guards is one of instrumented code.

use super::thread_log::{Expected, HeldUse, ThreadLog};
use crate::rt::base::call_site::CallSite;
use crate::trace::Value;

impl ThreadLog {
    /// What instrumented code is about to do at a place with what a lock guards.
    pub(in crate::rt) fn use_of_held(&self, here: Option<CallSite>) -> Option<HeldUse> {
        match self.expected.get() {
            Expected::Held(_, used) if self.is_expected(here) => Some(used),
            _ => None,
        }
    }

    /// What a lock guards was read at a place.
    pub(in crate::rt) fn looked_at_held(&self, here: Option<CallSite>) {
        if self.use_of_held(here) == Some(HeldUse::Look) {
            self.expect(Expected::Nothing);
        }
    }

    /// No use of what a lock guards is expected from here on; true if one was.
    pub(in crate::rt) fn expect_nothing_of_held(&self) -> bool {
        let expected = matches!(self.expected.get(), Expected::Held(..));
        if expected {
            self.expect(Expected::Nothing);
        }
        expected
    }

    /// The lock is about to be given back: nobody may look at what it guards after that.
    pub(in crate::rt) fn forget_held(&self, lock: *const ()) {
        if self.open_held.get().is_some_and(|open| open.lock == lock) {
            self.open_held.set(None);
        }
    }

    /// What a change that the thread is in the middle of has found.
    pub(crate) fn found_held(&self) -> Option<Value> {
        self.open_held.get().map(|open| open.found)
    }
}
