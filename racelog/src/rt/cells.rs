//! Identity and clock of memory that has no room for them: atomics and cells keep the size and
//! layout of std's, so what the recorder knows of them stands in a [table](super::table) by their
//! address.

use super::action::Action;
use super::control;
use super::given_back;
use super::log::{Here, ThreadLog};
use super::session::{is_off, with};
use super::table::{Entry, Kind, is_used, lock};
use crate::trace::{MemoryOrdering, Op, Value, VarId};

/// What the recorder knows of a cell.
#[derive(Debug)]
pub(crate) struct CellRecord {
    pub(crate) clock: u64,
    /// What it holds as far as the last trace knows; opaque if that is not recorded.
    value: Value,
    /// The session in which it was used last; 0 if in none.
    session: u32,
    /// The other sessions in which it was used.
    earlier: Vec<u32>,
}

impl CellRecord {
    pub(crate) const fn new() -> Self {
        Self { clock: 0, value: Value::Opaque, session: 0, earlier: Vec::new() }
    }

    /// Says what was found in the cell. Where the trace does not explain it, the trace is told:
    /// at the first use in a session it is the initial value; later somebody changed it by means
    /// that this trace does not see (`&mut`, a raw pointer, another session), and keeping the order
    /// of all accesses around that is the only safe thing to assume.
    #[inline]
    pub(crate) fn found(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Here) {
        if self.session != log.session_number() || self.value != value {
            self.explain(log, var, value, here);
        }
    }

    #[cold]
    #[inline(never)]
    fn explain(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Here) {
        let session = log.session_number();
        let known = self.is_known_to(session);
        self.enter(session);
        self.clock = log.tick(self.clock);
        self.value = value;
        if known {
            log.emit(self.clock, Op::Exclusive { var, value }, here);
        } else {
            log.emit_init(self.clock, var, value);
        }
    }

    #[inline]
    fn is_known_to(&self, session: u32) -> bool {
        self.session == session || self.earlier.contains(&session)
    }

    /// Records an access.
    #[inline(always)]
    pub(crate) fn emit(&mut self, log: &ThreadLog, op: Op, here: Here) {
        self.clock = log.tick(self.clock);
        log.emit(self.clock, op, here);
    }

    /// The cell was last used then and holds this, by accesses of its owner, which are recorded.
    pub(crate) fn catch_up(&mut self, clock: u64, value: Value) {
        self.clock = self.clock.max(clock);
        self.value = value;
    }

    /// Says what the cell holds from now on.
    #[inline]
    pub(crate) fn left(&mut self, value: Value) {
        self.value = value;
    }

    /// What it holds as far as is known.
    #[inline]
    pub(super) fn value(&self) -> Value {
        self.value
    }

    /// A session that has never heard of the cell knows from now on that it held this at the start, which
    /// has to be what a trace assumes that says nothing.
    pub(super) fn starts_as(&mut self, log: &ThreadLog, value: Value) {
        if self.is_new_to(log) {
            self.enter(log.session_number());
            self.value = value;
        }
    }

    fn enter(&mut self, session: u32) {
        if self.session != session {
            self.earlier.retain(|earlier| *earlier != session);
            if self.session != 0 {
                self.earlier.push(self.session);
            }
            self.session = session;
        }
    }

    /// Whether the session has never heard of the cell.
    #[inline]
    pub(super) fn is_new_to(&self, log: &ThreadLog) -> bool {
        !self.is_known_to(log.session_number())
    }

    /// Records an exclusive use that changes nothing, if the session knows the cell.
    pub(super) fn exclusive_as_it_is(&mut self, log: &ThreadLog, var: VarId, here: Here) {
        self.exclusive(log, var, self.value, here);
    }

    /// Records an exclusive use, if the session knows the cell.
    pub(crate) fn exclusive(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Here) {
        if self.is_known_to(log.session_number()) {
            self.emit(log, Op::Exclusive { var, value }, here);
            self.value = value;
        }
    }
}

/// A cell that is being accessed, exclusively.
pub(crate) struct Access<'a> {
    log: &'a ThreadLog,
    entry: &'a mut Entry,
    here: Here,
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

    /// The cell is about to be written, and nobody knows what is in it.
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

    /// Records an atomic load of this number.
    // Numbers, since they come in registers: a `Value` would be put together in memory for the call.
    pub(crate) fn loaded(mut self, value: i128, ordering: Option<MemoryOrdering>) {
        let (var, value) = (self.var(), Value::int(value));
        self.found(value);
        self.entry.record.emit(self.log, Op::Load { var, value, ordering }, self.here);
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
    here: Here,
    f: impl FnOnce(Access<'_>) -> R,
) -> Option<R> {
    if is_off() { None } else { access_unless_off(address, kind, action, here, f) }
}

#[inline(never)]
fn access_unless_off<R>(
    address: usize,
    kind: Kind,
    action: Option<Action>,
    here: Here,
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

/// The cell at an address is used by somebody who has it alone, and holds this value.
pub(crate) fn exclusive(address: usize, kind: Kind, here: Here, value: Value) {
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
    bytes.into_iter().map(leave).for_each(given_back::ended);
}
