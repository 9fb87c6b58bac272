//! Plain accesses that a thread's chunk keeps, so that the next ones like them take two bytes.

use std::cell::Cell;
use std::panic::Location as Caller;

use crate::trace::binary::kept::{SAME, SLOTS, again_code};

/// The accesses that the open chunk keeps, each in the slot that its place in the program hashes to.
pub(super) struct Sites {
    /// Which access it is; 0 if there is none.
    keys: [Cell<u64>; SLOTS],
    /// What stands for the next one like it, with the same value. Wider than they need be: so they have
    /// the same offset from the first as the keys.
    words: [u64; SLOTS],
}

/// What tells a cell of a thread from its others: a number above all bits of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u64);

const TAG_SHIFT: u32 = 48;

impl Tag {
    pub(super) const FIRST: Self = Self(0);

    /// The tag after this; `None` after the last.
    pub(super) fn next(self) -> Option<Self> {
        self.0.checked_add(1 << TAG_SHIFT).map(Self)
    }

    pub(super) const fn get(self) -> u64 {
        self.0
    }

    pub(super) const fn from_raw(tag: u64) -> Self {
        Self(tag)
    }
}

/// An access: where in the program, of which cell, and whether it writes.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub(crate) caller: &'static Caller<'static>,
    pub(crate) tag: Tag,
    pub(crate) write: bool,
}

/// The address of a place is even, so there is room for a bit.
const _: () = assert!(align_of::<Caller<'static>>() > 1);

impl Site {
    #[inline(always)]
    fn address(self) -> usize {
        std::ptr::from_ref(self.caller).addr()
    }

    /// The slot for an access at this place.
    #[inline(always)]
    pub(super) fn slot(self) -> usize {
        self.address() / align_of::<Caller<'static>>() % SLOTS
    }

    // The addresses that systems give to programs unless they ask for larger ones have 48 bits.
    #[inline(always)]
    fn key(self) -> u64 {
        (self.address() as u64 | u64::from(self.write)).wrapping_add(self.tag.0)
    }
}

impl Sites {
    pub(super) fn new() -> Self {
        let word = |slot| u16::from_le_bytes([again_code(slot), SAME]).into();
        Self { keys: [const { Cell::new(0) }; SLOTS], words: std::array::from_fn(word) }
    }

    /// What stands for this access, with the same value as the last of the cell, if one like it is
    /// kept.
    #[inline(always)]
    pub(super) fn find(&self, site: Site) -> Option<u16> {
        let slot = site.slot();
        (self.keys[slot].get() == site.key()).then(|| self.words[slot] as u16)
    }

    /// Keeps an access in its slot.
    pub(super) fn keep(&self, site: Site) {
        if site.address() >> TAG_SHIFT == 0 {
            self.keys[site.slot()].set(site.key());
        }
    }

    /// A new chunk keeps nothing.
    pub(super) fn clear(&self) {
        self.keys.iter().for_each(|key| key.set(0));
    }
}
