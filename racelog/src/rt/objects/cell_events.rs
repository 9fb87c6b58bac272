//! The events of a cell, and what the recorder then knows of it.

use crate::rt::base::call_site::CallSite;
use crate::rt::log::thread_log::ThreadLog;
use crate::rt::memory::cell_record::CellRecord;
use crate::trace::{Op, Value, VarId};

impl CellRecord {
    /// Says what was found in the cell. Where the trace does not explain it, the trace is told: at
    /// the first use in a session it is the initial value; later it was changed by means that this
    /// trace does not see (`&mut`, a raw pointer, another session), and keeping the order of all
    /// accesses around that is the only safe thing to assume.
    #[inline]
    pub(crate) fn found(
        &mut self,
        log: &ThreadLog,
        var: VarId,
        value: Value,
        here: Option<CallSite>,
    ) {
        if self.session != log.session_number() || self.value != value {
            self.explain(log, var, value, here);
        }
    }

    #[cold]
    #[inline(never)]
    fn explain(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Option<CallSite>) {
        let session = log.session_number();
        let known = self.is_known_to(session);
        self.enter(session);
        self.step(log);
        self.value = value;
        if known {
            log.emit(self.clock, Op::Exclusive { var, value }, here);
        } else {
            log.emit_init(self.clock, var, value);
        }
    }

    /// Takes the next stamp for what may change the cell.
    #[inline(always)]
    pub(in crate::rt) fn step(&mut self, log: &ThreadLog) -> u64 {
        self.clock = log.tick(self.clock);
        self.changed = self.clock;
        self.clock
    }

    /// Records an access.
    #[inline(always)]
    pub(crate) fn emit(&mut self, log: &ThreadLog, op: Op, here: Option<CallSite>) {
        let stamp = self.step(log);
        log.emit(stamp, op, here);
    }

    /// Records a look at the cell, unless the thread repeats one.
    #[inline(always)]
    pub(in crate::rt) fn look(
        &mut self,
        log: &ThreadLog,
        var: VarId,
        op: Op,
        here: Option<CallSite>,
    ) {
        if log.looks_again(var, &op, here, self.changed) {
            return;
        }
        self.clock = log.tick(self.clock);
        log.emit(self.clock, op, here);
        log.looked(var, &op, here, self.clock);
    }

    /// A session that has never heard of the cell knows from now on that it held this at the start,
    /// which has to be what a trace assumes that says nothing.
    pub(in crate::rt) fn starts_as(&mut self, log: &ThreadLog, value: Value) {
        if self.is_new_to(log) {
            self.enter(log.session_number());
            self.value = value;
        }
    }

    /// Whether the session has never heard of the cell.
    #[inline]
    pub(in crate::rt) fn is_new_to(&self, log: &ThreadLog) -> bool {
        !self.is_known_to(log.session_number())
    }

    /// Records an exclusive use that changes nothing, if the session knows the cell.
    pub(in crate::rt) fn exclusive_as_it_is(
        &mut self,
        log: &ThreadLog,
        var: VarId,
        here: Option<CallSite>,
    ) {
        self.exclusive(log, var, self.value, here);
    }

    /// Records an exclusive use, if the session knows the cell.
    pub(crate) fn exclusive(
        &mut self,
        log: &ThreadLog,
        var: VarId,
        value: Value,
        here: Option<CallSite>,
    ) {
        if self.is_known_to(log.session_number()) {
            self.emit(log, Op::Exclusive { var, value }, here);
            self.value = value;
        }
    }
}
