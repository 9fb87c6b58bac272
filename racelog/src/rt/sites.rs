//! Plain accesses that a thread's chunk keeps, so that the next ones like them take a byte or two.

use std::cell::Cell;
use std::panic::Location as Caller;

use crate::trace::VarId;
use crate::trace::binary::kept::{SLOTS, again_code};

/// The accesses that the open chunk keeps, each in the slot that its place in the program hashes to.
pub(super) struct Sites([Site; SLOTS]);

/// An access that is kept.
struct Site {
    /// The place in the program, and whether it writes; 0 if there is none.
    key: Cell<usize>,
    var: Cell<u32>,
    /// What stands for the slot.
    code: u8,
}

/// The address of a place is even, so there is room for a bit.
const _: () = assert!(align_of::<Caller<'static>>() > 1);

#[inline(always)]
fn key(caller: &'static Caller<'static>, write: bool) -> usize {
    std::ptr::from_ref(caller).addr() | usize::from(write)
}

/// The slot for an access at this place.
#[inline(always)]
pub(super) fn slot_of(caller: &'static Caller<'static>) -> usize {
    std::ptr::from_ref(caller).addr() / align_of::<Caller<'static>>() % SLOTS
}

impl Sites {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|slot| Site {
            key: Cell::new(0),
            var: Cell::new(0),
            code: again_code(slot),
        }))
    }

    /// The code of the access that this one is like, if one is kept.
    #[inline(always)]
    pub(super) fn find(
        &self,
        caller: &'static Caller<'static>,
        write: bool,
        var: VarId,
    ) -> Option<u8> {
        let site = &self.0[slot_of(caller)];
        let alike = site.key.get() == key(caller, write) && site.var.get() == var.get();
        alike.then_some(site.code)
    }

    /// Keeps an access in its slot.
    pub(super) fn keep(&self, caller: &'static Caller<'static>, write: bool, var: VarId) {
        let site = &self.0[slot_of(caller)];
        site.key.set(key(caller, write));
        site.var.set(var.get());
    }

    /// What was kept of a variable is of no use any more.
    pub(super) fn forget(&self, var: VarId) {
        let of_var = self.0.iter().filter(|site| site.var.get() == var.get());
        of_var.for_each(|site| site.key.set(0));
    }

    /// A new chunk keeps nothing.
    pub(super) fn clear(&self) {
        self.0.iter().for_each(|site| site.key.set(0));
    }
}
