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

    /// Whether a replay need not see all of them, and nothing is said of their values.
    fn may_count_looks(&self) -> bool {
        !self.foreign && !self.watched && !self.saying.is_any() && !control::controls_thread()
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
        self.looks.set_last(Look::of(var, op, here), stamp);
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
