//! Identity and clock of memory that has no room for them: atomics and cells keep the size and
//! layout of std's, so what the recorder knows of them stands in a table by their address.
//!
//! The table is striped. The spin lock of a stripe is held while an operation is done, stamped and
//! written: that makes it exclusive on its address.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::log::{Here, ThreadLog};
use super::meta::{Spin, counters};
use super::session::with;
use crate::trace::{Op, Value, VarId};

/// What stands at an address. An atomic inside a cell has the cell's address and is another thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Atomic,
    Plain,
}

type Key = (usize, Kind);

#[derive(Debug)]
struct Entry {
    var: VarId,
    clock: u64,
    /// What it holds as far as the traces know; opaque if that is not recorded.
    value: Value,
}

/// So that stripes that neighbours use do not share a cache line.
#[repr(align(128))]
struct Stripe(Spin<FxHashMap<Key, Entry>>);

const STRIPES: usize = 1024;

static TABLE: [Stripe; STRIPES] =
    [const { Stripe(Spin::new(HashMap::with_hasher(FxBuildHasher))) }; STRIPES];

/// Whether anything was ever put into the table: until then nothing has to be forgotten.
static USED: AtomicBool = AtomicBool::new(false);

fn stripe(address: usize) -> &'static Stripe {
    // Neighbouring words go to different stripes, and so do the same places of different pages.
    let mixed = (address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize);
    &TABLE[mixed >> (usize::BITS - STRIPES.trailing_zeros())]
}

/// A cell that is being accessed, exclusively.
pub(crate) struct Access<'a> {
    log: &'a ThreadLog,
    entry: &'a mut Entry,
    new: bool,
    here: Here,
}

impl Access<'_> {
    /// The variable.
    pub(crate) fn var(&self) -> VarId {
        self.entry.var
    }

    /// Says what was found in the cell. Where the trace does not explain it, the trace is told:
    /// at first use it is the initial value; later somebody changed it by means that are not
    /// recorded, `&mut` or a raw pointer, and keeping the order of all accesses around that is
    /// the only safe thing to assume.
    pub(crate) fn found(&mut self, value: Value) {
        if self.new {
            let stamp = self.log.tick(self.entry.clock);
            self.log.emit_init(stamp, self.entry.var, value);
            self.entry.clock = stamp;
            self.entry.value = value;
            self.new = false;
        } else if self.entry.value != value {
            self.emit(Op::Exclusive { var: self.entry.var, value });
            self.entry.value = value;
        }
    }

    /// Says what is in the cell from now on.
    pub(crate) fn left(&mut self, value: Value) {
        self.entry.value = value;
    }

    /// Records the access.
    pub(crate) fn emit(&mut self, op: Op) {
        let stamp = self.log.tick(self.entry.clock);
        self.log.emit(stamp, op, self.here);
        self.entry.clock = stamp;
        self.new = false;
    }
}

/// Runs `f` exclusively on the cell at an address, if this thread is recorded. `f` must run no code
/// of the program.
pub(crate) fn access<R>(
    address: usize,
    kind: Kind,
    here: Here,
    f: impl FnOnce(Access<'_>) -> R,
) -> Option<R> {
    with(|log| {
        if !USED.load(Ordering::Relaxed) {
            USED.store(true, Ordering::Relaxed);
        }
        let mut cells = stripe(address).0.lock();
        let mut new = false;
        let entry = cells.entry((address, kind)).or_insert_with(|| {
            new = true;
            let var = VarId::new(counters::VARS.fetch_add(1, Ordering::Relaxed));
            Entry { var, clock: 0, value: Value::Opaque }
        });
        f(Access { log, entry, new, here })
    })
}

/// The cell at an address is gone; whatever stands there next is another.
pub(crate) fn forget(address: usize, kind: Kind) {
    if !USED.load(Ordering::Relaxed) {
        return;
    }
    let mut cells = stripe(address).0.lock();
    if let Some(entry) = cells.remove(&(address, kind)) {
        with(|log| {
            let stamp = log.tick(entry.clock);
            log.emit(stamp, Op::Exclusive { var: entry.var, value: entry.value }, None);
        });
    }
}
