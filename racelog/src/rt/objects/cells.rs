//! Identity and clock of memory that has no room for them: atomics and cells keep the size and
//! layout of std's, so what the recorder knows of them stands in a
//! [table](crate::rt::memory::table) by their address.

use crate::rt::base::action::Action;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::rt::log::thread_log::ThreadLog;
use crate::rt::memory::freed_vars;
use crate::rt::memory::table::{Entry, Kind, is_used, lock};
use crate::rt::threads::attach::with;
use crate::rt::threads::current::is_off;
use crate::trace::{MemoryOrdering, Op, Value, VarId};

/// A cell that is being accessed, exclusively.
pub(crate) struct Access<'a> {
    log: &'a ThreadLog,
    entry: &'a mut Entry,
    here: Option<CallSite>,
}

impl Access<'_> {
    /// The variable.
    pub(crate) fn var(&self) -> VarId {
        self.entry.var
    }

    /// Says what was found in the cell.
    #[inline]
    pub(crate) fn found(&mut self, value: Value) {
        self.entry.record.found(self.log, self.entry.var, value, self.here);
    }

    /// The cell is about to be written, and its value is not known.
    #[inline]
    pub(crate) fn found_anything(&mut self) {
        if self.entry.record.is_new_to(self.log) {
            self.found(Value::Opaque);
        }
    }

    /// Says what is in the cell from now on.
    pub(crate) fn left(&mut self, value: Value) {
        self.entry.record.left(value);
    }

    /// Records the access.
    pub(crate) fn emit(&mut self, op: Op) {
        self.entry.record.emit(self.log, op, self.here);
    }

    /// Records a compare-exchange that has failed, for it has found this.
    pub(crate) fn failed(mut self, seen: Value, ordering: Option<MemoryOrdering>) {
        let var = self.var();
        self.found(seen);
        self.entry.record.look(self.log, var, Op::CasFail { var, seen, ordering }, self.here);
    }

    /// Records an atomic load of this number.
    // Numbers, since they come in registers: a `Value` would be put together in memory for the
    // call.
    pub(crate) fn loaded(mut self, value: i128, ordering: Option<MemoryOrdering>) {
        let (var, value) = (self.var(), Value::int(value));
        self.found(value);
        self.entry.record.look(self.log, var, Op::Load { var, value, ordering }, self.here);
    }

    /// Records an atomic store of a number over another.
    pub(crate) fn stored(mut self, old: i128, new: i128, ordering: Option<MemoryOrdering>) {
        let (var, value) = (self.var(), Value::int(new));
        // Even what is overwritten must be known, for those who come before.
        self.found(Value::int(old));
        self.entry.record.emit(self.log, Op::Store { var, value, ordering }, self.here);
        self.entry.record.left(value);
    }

    /// Records a read-modify-write from a number to another.
    pub(crate) fn modified(mut self, old: i128, new: i128, ordering: Option<MemoryOrdering>) {
        let (var, old, new) = (self.var(), Value::int(old), Value::int(new));
        self.found(old);
        self.entry.record.emit(self.log, Op::Rmw { var, old, new, ordering }, self.here);
        self.entry.record.left(new);
    }
}

/// Runs `f` exclusively on the cell at an address, if this thread is recorded. `f` must run no code
/// of the program. If the thread is under control, others may go first; `action` says before what.
#[inline]
pub(crate) fn access<R>(
    address: usize,
    kind: Kind,
    action: Option<Action>,
    here: Option<CallSite>,
    f: impl FnOnce(Access<'_>) -> R,
) -> Option<R> {
    if is_off() { None } else { access_unless_off(address, kind, action, here, f) }
}

#[inline(never)]
fn access_unless_off<R>(
    address: usize,
    kind: Kind,
    action: Option<Action>,
    here: Option<CallSite>,
    f: impl FnOnce(Access<'_>) -> R,
) -> Option<R> {
    if let Some(action) = action {
        control::before_access(action, address, 1, here);
    }
    with(|log| {
        let mut cells = lock(address);
        f(Access { log, entry: cells.entry(address, kind), here })
    })
}

/// The cell at an address is used through the only reference to it, and holds this value.
pub(crate) fn exclusive(address: usize, kind: Kind, here: Option<CallSite>, value: Value) {
    if !is_used() {
        return;
    }
    with(|log| {
        if let Some(entry) = lock(address).get(address, kind) {
            entry.record.exclusive(log, entry.var, value, here);
        }
    });
}

/// The cell at an address is gone; whatever stands there next is another.
pub(crate) fn forget(address: usize, kind: Kind) {
    if !is_used() {
        return;
    }
    let mut cells = lock(address);
    let removed = cells.remove(address, kind);
    // What was in it may have been reached through a pointer, too.
    let mut bytes = Vec::new();
    if kind == Kind::Plain {
        bytes.extend(std::iter::from_fn(|| cells.remove_bytes(&(address..address + 1))));
    }
    drop(cells);
    let leave = |mut entry: Entry| {
        let value = entry.record.value;
        with(|log| entry.record.exclusive(log, entry.var, value, None));
        entry.var
    };
    removed.map(leave);
    bytes.into_iter().map(leave).for_each(freed_vars::add);
}
