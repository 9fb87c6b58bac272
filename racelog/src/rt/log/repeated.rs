//! Looks that are repeated are counted, and are no events.

use super::looks::Look;
use super::thread_log::{REPEATED, ThreadLog};
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::trace::{Op, Said, VarId};

impl ThreadLog {
    /// Whether the thread repeats its last look, of a variable that was last changed then: it is
    /// counted, and is no event.
    #[inline]
    pub(crate) fn looks_again(
        &self,
        var: VarId,
        op: &Op,
        here: Option<CallSite>,
        changed: u64,
    ) -> bool {
        let again = self.looks.is_last(Look::of(var, op, here), self.clock(), changed)
            && self.may_count_looks();
        if again {
            self.count_look();
        }
        again
    }

    /// Whether a replay need not see all of them, and nothing is said of their values that the
    /// first has not said.
    fn may_count_looks(&self) -> bool {
        let is_said = !self.saying.is_any() || self.looks.named() != 0;
        !self.foreign && !self.watched && is_said && !control::controls_thread()
    }

    /// How often the last look was repeated, and the number of what it has named; 0 if nothing.
    pub(crate) fn repeated_look(&self) -> (u64, u32) {
        (self.looks.again(), self.looks.named())
    }

    #[cold]
    #[inline(never)]
    fn count_look(&self) {
        if self.looks.repeat() {
            self.mark(REPEATED, true);
        }
    }

    /// The thread has recorded a look, with this stamp.
    #[inline]
    pub(crate) fn looked(&self, var: VarId, op: &Op, here: Option<CallSite>, stamp: u64) {
        self.looks.set_last(Look::of(var, op, here), stamp, self.named_at(stamp));
    }

    /// What the next event has to say of looks that were repeated before it.
    pub(super) fn take_again(&self) -> Option<Said> {
        let again = self.looks.take_again();
        (again > 0).then(|| {
            self.mark(REPEATED, false);
            Said::Again(again)
        })
    }
}
