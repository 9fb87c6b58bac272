//! Looks that a thread repeats, as loops do that wait for a change: they are one event with a
//! count, which the thread's next event says.
//!
//! A look is a load, or a compare-exchange that fails. One that follows the same look of the same
//! thread, with nothing in between but the branch that the first has brought, while nobody has
//! written, finds the same and says nothing new: in whatever order the first can be, the second can
//! stand right behind it.
//!
//! Of looks that take turns, such as those of a loop that waits for either of two flags, that is
//! not so: the second look at the first flag comes after the first look at the second, and the
//! order in which the two change may depend on that. They are recorded one by one.

use std::cell::Cell;

use crate::rt::base::call_site::CallSite;
use crate::trace::binary::code::code_of;
use crate::trace::{Op, VarId};

/// The last look of a thread, and how often it was repeated.
#[derive(Default)]
pub(in crate::rt) struct Looks {
    last: Cell<Option<Look>>,
    stamp: Cell<u64>,
    /// The stamp of the last event, if that is the look or the branch that follows it.
    until: Cell<u64>,
    again: Cell<u64>,
    /// The number of what the look has named; 0 if nothing.
    named: Cell<u32>,
}

/// A look at a variable: with what operation and ordering, and where in the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    var: VarId,
    code: u8,
    here: usize,
}

impl Look {
    #[inline(always)]
    pub(super) fn of(var: VarId, op: &Op, here: Option<CallSite>) -> Self {
        Self { var, code: code_of(op), here: here.map_or(0, CallSite::key) }
    }
}

impl Looks {
    /// Whether this is the last look once more: of a variable that was last changed then, by a
    /// thread whose last event has the stamp `now`.
    #[inline]
    pub(super) fn is_last(&self, look: Look, now: u64, changed: u64) -> bool {
        self.last.get() == Some(look) && self.until.get() == now && changed < self.stamp.get()
    }

    /// The last look was repeated. Says whether that is the first time.
    pub(super) fn repeat(&self) -> bool {
        self.again.replace(self.again.get() + 1) == 0
    }

    /// The number of what the last look has named; 0 if nothing.
    pub(super) fn named(&self) -> u32 {
        self.named.get()
    }

    /// How often the last look was repeated.
    pub(super) fn again(&self) -> u64 {
        self.again.get()
    }

    /// There was another look, with this stamp. What it has named has this number.
    #[inline]
    pub(super) fn set_last(&self, look: Look, stamp: u64, named: u32) {
        self.named.set(named);
        self.last.set(Some(look));
        self.stamp.set(stamp);
        self.until.set(stamp);
    }

    /// A branch has this stamp, and the event before it that.
    #[inline(always)]
    pub(super) fn branched(&self, before: u64, stamp: u64) {
        if self.until.get() == before {
            self.until.set(stamp);
        }
    }

    /// How often the last look was repeated, from now on never.
    pub(super) fn take_again(&self) -> u64 {
        self.again.replace(0)
    }
}
