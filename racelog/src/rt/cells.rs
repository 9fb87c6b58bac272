//! Identity and clock of memory that has no room for them: atomics and cells keep the size and
//! layout of std's, so what the recorder knows of them stands in a table by their address.
//!
//! The table is striped. The spin lock of a stripe is held while an operation is done, stamped and
//! written: that makes it exclusive on its address.

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::log::{Here, ThreadLog};
use super::meta::{Spin, SpinGuard, counters};
use super::session::{is_off, with};
use crate::sched::{self, Action};
use crate::trace::{MemoryOrdering, Op, Value, VarId};

/// What stands at an address. An atomic inside a cell has the cell's address and is another thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Atomic,
    Plain,
    /// So many bytes that were reached through a raw pointer, or are a `static mut`. The trace says
    /// which, so that those who read it know what overlaps.
    Bytes(u32),
}

type Key = (usize, Kind);

/// What the recorder knows of the addresses of one stripe.
pub(super) type Cells = FxHashMap<Key, Entry>;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) var: VarId,
    pub(super) record: CellRecord,
}

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
        if self.session != session {
            self.earlier.retain(|earlier| *earlier != session);
            if self.session != 0 {
                self.earlier.push(self.session);
            }
            self.session = session;
        }
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

    /// Says what the cell holds from now on.
    #[inline]
    pub(crate) fn left(&mut self, value: Value) {
        self.value = value;
    }

    /// Whether the session has never heard of the cell.
    #[inline]
    pub(super) fn is_new_to(&self, log: &ThreadLog) -> bool {
        !self.is_known_to(log.session_number())
    }

    /// Records an exclusive use, if the session knows the cell.
    pub(crate) fn exclusive(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Here) {
        if self.is_known_to(log.session_number()) {
            self.emit(log, Op::Exclusive { var, value }, here);
            self.value = value;
        }
    }
}

/// So that stripes that neighbours use do not share a cache line.
#[repr(align(128))]
struct Stripe(Spin<Cells>);

const STRIPES: usize = 1024;

static TABLE: [Stripe; STRIPES] =
    [const { Stripe(Spin::new(HashMap::with_hasher(FxBuildHasher))) }; STRIPES];

/// Whether anything was ever put into the table: until then nothing has to be forgotten.
static USED: AtomicBool = AtomicBool::new(false);

/// Whether any of it was bare memory.
static BYTES_USED: AtomicBool = AtomicBool::new(false);

fn stripe(address: usize) -> &'static Stripe {
    // Neighbouring words go to different stripes, and so do the same places of different pages.
    let mixed = (address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize);
    &TABLE[mixed >> (usize::BITS - STRIPES.trailing_zeros())]
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
        sched::point(action, address, here);
    }
    with(|log| {
        let mut cells = lock(address);
        let entry = entry(&mut cells, address, kind);
        f(Access { log, entry, here })
    })
}

/// Makes this thread the only one that accesses what stands at an address.
#[inline]
pub(super) fn lock(address: usize) -> SpinGuard<'static, Cells> {
    if !USED.load(Ordering::Relaxed) {
        USED.store(true, Ordering::Relaxed);
    }
    stripe(address).0.lock()
}

/// What is known of the cell at an address; nothing yet, if it is new.
#[inline]
pub(super) fn entry(cells: &mut Cells, address: usize, kind: Kind) -> &mut Entry {
    // Finding what is there is much cheaper than asking for a place to put it.
    if let Some(mut known) = cells.get_mut(&(address, kind)).map(NonNull::from) {
        // SAFETY: it is a reference into the table, which is borrowed as long as the result is.
        return unsafe { known.as_mut() };
    }
    if matches!(kind, Kind::Bytes(_)) {
        BYTES_USED.store(true, Ordering::Relaxed);
    }
    let var = VarId::new(counters::VARS.fetch_add(1, Ordering::Relaxed));
    cells.entry((address, kind)).or_insert(Entry { var, record: CellRecord::new() })
}

/// The cell at an address is used by somebody who has it alone, and holds this value.
pub(crate) fn exclusive(address: usize, kind: Kind, here: Here, value: Value) {
    if !USED.load(Ordering::Relaxed) {
        return;
    }
    with(|log| {
        if let Some(entry) = stripe(address).0.lock().get_mut(&(address, kind)) {
            entry.record.exclusive(log, entry.var, value, here);
        }
    });
}

/// The cell at an address is gone; whatever stands there next is another.
pub(crate) fn forget(address: usize, kind: Kind) {
    if !USED.load(Ordering::Relaxed) {
        return;
    }
    let mut cells = stripe(address).0.lock();
    let removed = cells.remove(&(address, kind));
    // What was in it may have been reached through a pointer, too.
    let mut bytes = Vec::new();
    if kind == Kind::Plain && BYTES_USED.load(Ordering::Relaxed) {
        let of_cell = |key: &Key| key.0 == address && matches!(key.1, Kind::Bytes(_));
        bytes.extend(cells.extract_if(|key, _| of_cell(key)).map(|(_, entry)| entry));
    }
    drop(cells);
    for mut entry in removed.into_iter().chain(bytes) {
        let value = entry.record.value;
        with(|log| entry.record.exclusive(log, entry.var, value, None));
    }
}
