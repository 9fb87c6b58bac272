//! Which events a thread records, and when.

use super::entries::{Init, Request, Step};
use super::kept::KeptAccess;
use super::thread_log::{KEPT, PENDING, ThreadLog};
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::trace::{Op, Patience, Value, VarId};

impl ThreadLog {
    /// Records an event of this thread alone.
    #[inline(always)]
    pub(crate) fn emit_alone(&self, op: Op, here: Option<CallSite>) {
        self.emit(self.tick(0), op, here);
    }

    /// Records an event.
    #[inline(always)]
    pub(crate) fn emit(&self, stamp: u64, op: Op, here: Option<CallSite>) {
        self.emit_with(stamp, op, Patience::Forever, here);
    }

    /// Records an event of a thread that would have waited that long. Where it is called the
    /// patience should be a constant: then it costs nothing.
    #[inline(always)]
    pub(crate) fn emit_with(&self, stamp: u64, op: Op, patience: Patience, here: Option<CallSite>) {
        if self.is_expected(here) {
            // What is changed where it is not seen is nothing that the operation finds.
            if self.saying.is_any() && !matches!(op, Op::Exclusive { .. }) {
                return self.write_said(stamp, op, here, patience);
            }
            if op.implies_branch() {
                self.mark(PENDING, true);
            }
            self.write(stamp, op, here, true, patience, None);
        } else {
            self.pay_if_pending(stamp, here);
            self.write(stamp, op, here, false, patience, None);
        }
    }

    /// Records an event that the thread's control flow depends on, whatever code it is in.
    #[inline(always)]
    pub(crate) fn emit_decision(&self, stamp: u64, op: Op, here: Option<CallSite>) {
        self.pay_if_pending(stamp, here);
        self.write(stamp, op, here, false, Patience::Forever, None);
    }

    /// Records a plain access of a cell that belongs to this thread: in full, so that the next one
    /// that is like it can be short. False if that may not be.
    pub(crate) fn emit_kept(&self, op: Op, access: KeptAccess) -> bool {
        if self.is_expecting() {
            return false;
        }
        let (stamp, here) = (self.tick(0), Some(CallSite::source(access.caller)));
        self.pay_if_pending(stamp, here);
        self.write(stamp, op, here, false, Patience::Forever, Some(access.slot()));
        if self.chunks.stamp() == stamp {
            self.kept.keep(access);
        }
        true
    }

    /// Records a plain access like one before, of a value that is so far from what the cell had at
    /// the last access; false if it has to be recorded in full. The cell belongs to this thread.
    #[inline(always)]
    pub(crate) fn emit_again(&self, access: KeptAccess, step: i8) -> bool {
        let Some(same) = self.kept.find(access) else { return false };
        self.chunks.append_short(same.wrapping_add((step as u16) << 8))
    }

    #[inline(always)]
    pub(super) fn pay_if_pending(&self, stamp: u64, here: Option<CallSite>) {
        if self.is_pending() {
            self.pay(stamp - 1, here);
        }
    }

    /// Records the branch that is owed before an event of code that does not record its own.
    #[cold]
    #[inline(never)]
    fn pay(&self, stamp: u64, here: Option<CallSite>) {
        self.mark(PENDING | KEPT, false);
        self.write(stamp, Op::Branch, here, true, Patience::Forever, None);
    }

    /// Records a branch, whether or not something was read.
    // Inlined wherever it is called, as all of an event's way is: else it depends on how many call
    // it, and costs a sixth more.
    #[inline(always)]
    pub(crate) fn branch(&self, here: Option<CallSite>) {
        let before = self.clock();
        let stamp = self.tick(0);
        self.mark(PENDING | KEPT, false);
        self.looks.branched(before, stamp);
        self.write(stamp, Op::Branch, here, true, Patience::Forever, None);
    }

    /// Records that the thread is about to do this, and cannot at once: it is going to wait that
    /// long. That is no event, so nothing depends on it. If the trace has no room for it, it is
    /// not said.
    #[cold]
    #[inline(never)]
    pub(crate) fn request(&self, op: Op, patience: Patience, here: Option<CallSite>) {
        if self.session.is_stopped() {
            return;
        }
        let Some(location) = self.location(here) else { return };
        let (recorded, slot) = (self.is_expected(here), None);
        // A branch that is owed comes before the operation, which has the stamps after this one.
        let stamp = self.tick(0);
        if self.session.is_stopped() && stamp > self.session.floor() {
            return;
        }
        self.append(Request(Step { stamp, op, location, recorded, patience, slot }));
    }

    /// Records the initial value of a variable that is used for the first time.
    pub(crate) fn emit_init(&self, stamp: u64, var: VarId, value: Value) {
        self.append(Init { stamp, var, value });
    }

    /// Records that a checked property held.
    pub(crate) fn emit_assert(&self, text: &str, here: Option<CallSite>) {
        let stamp = self.tick(0);
        match self.session.text(text) {
            Ok((text, offset)) => {
                // The chunk of the event must come after that of the text.
                self.go_behind(offset);
                self.emit(stamp, Op::Assert(text), here);
            }
            Err(full) => self.lose(stamp, true, Some(&full)),
        }
    }

    /// Records the thread's end. In a trace that has ended before the event is not needed.
    pub(in crate::rt) fn emit_end(&self) {
        // No event joins a foreign thread, and its end may come at any time after the threads that
        // wait for it have gone on. An event with a place in time would only order other threads.
        if self.foreign {
            return;
        }
        if self.session.is_stopped() {
            return;
        }
        if self.is_pending() {
            self.branch(None);
        }
        let stamp = self.tick(0);
        if self.session.is_stopped() && stamp > self.session.floor() {
            return;
        }
        if self.watched {
            control::observe(&Op::End, None);
        }
        self.append_step(Step {
            stamp,
            op: Op::End,
            location: None,
            recorded: false,
            patience: Patience::Forever,
            slot: None,
        });
    }

    /// Records an event that no code of the program makes: it keeps those of one operation
    /// together. It decides nothing, and a replay of the program does not see it.
    pub(crate) fn emit_hidden(&self, stamp: u64, op: Op) {
        self.append_beside(stamp, op, true);
    }

    /// Records what a thread does by the way: that it found something which its control flow
    /// depends on, or that memory is freed. No code of the program does that by itself, so a replay
    /// of the program does not see it.
    pub(in crate::rt) fn emit_by_the_way(&self, stamp: u64, op: Op, here: Option<CallSite>) {
        self.pay_if_pending(stamp, here);
        self.append_beside(stamp, op, false);
    }

    /// Appends what a replay of the program does not see, unless the session has ended before it.
    fn append_beside(&self, stamp: u64, op: Op, recorded: bool) {
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.lose(stamp, true, None);
        }
        let (location, patience, slot) = (None, Patience::Forever, None);
        self.append_step(Step { stamp, op, location, recorded, patience, slot });
    }
}
