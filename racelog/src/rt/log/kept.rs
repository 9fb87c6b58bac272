//! Plain accesses that a thread's chunk keeps, so that the next ones like them take two bytes.

use std::cell::Cell;
use std::panic::Location;

use crate::trace::binary::kept::{SLOTS, again};

/// The accesses that the open chunk keeps, each in the slot that it hashes to.
pub(in crate::rt) struct KeptAccesses {
    /// Which access it is; 0 if there is none.
    keys: [Cell<u64>; SLOTS],
    /// What stands for the next one like it, with the same value.
    words: [u16; SLOTS],
}

/// What tells a cell of a thread from its others: a number above all bits of an address, and below
/// them what makes accesses of different cells at one place hash to different slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u64);

const NUMBER_SHIFT: u32 = 48;

/// Places in the program are this far apart, at least, and often three times as far: so cells that
/// are used at two places after each other do not get in each other's way if they are twice as far
/// apart.
const PLACE: u64 = align_of::<Location<'static>>() as u64;
const SPREAD: u64 = 2 * PLACE;

impl Tag {
    pub(in crate::rt) const FIRST: Self = Self(0);

    /// The tag after this; `None` after the last.
    pub(in crate::rt) fn next(self) -> Option<Self> {
        let number = (self.0 >> NUMBER_SHIFT) + 1;
        let spread = number * SPREAD % (SLOTS as u64 * PLACE);
        (number < 1 << (u64::BITS - NUMBER_SHIFT)).then_some(Self(number << NUMBER_SHIFT | spread))
    }

    pub(in crate::rt) const fn get(self) -> u64 {
        self.0
    }

    pub(in crate::rt) const fn from_raw(tag: u64) -> Self {
        Self(tag)
    }
}

/// An access: where in the program, of which cell, and whether it writes.
#[derive(Clone, Copy)]
pub(crate) struct KeptAccess {
    pub(crate) caller: &'static Location<'static>,
    pub(crate) tag: Tag,
    pub(crate) write: bool,
}

/// The address of a place is even, so there is room for a bit.
const _: () = assert!(PLACE > 1);

impl KeptAccess {
    #[inline(always)]
    fn address(self) -> u64 {
        std::ptr::from_ref(self.caller).addr() as u64
    }

    /// No two accesses have the same, if their places are where programs are: systems give them no
    /// addresses of more than 48 bits unless they ask for such.
    #[inline(always)]
    fn key(self) -> u64 {
        (self.address() | u64::from(self.write)).wrapping_add(self.tag.0)
    }

    /// The slot for this access.
    #[inline(always)]
    pub(in crate::rt) fn slot(self) -> usize {
        (self.key() / PLACE) as usize % SLOTS
    }
}

impl KeptAccesses {
    pub(in crate::rt) fn new() -> Self {
        Self { keys: [const { Cell::new(0) }; SLOTS], words: std::array::from_fn(again) }
    }

    /// What stands for this access, with the same value as the last of the cell, if one like it is
    /// kept.
    #[inline(always)]
    pub(in crate::rt) fn find(&self, access: KeptAccess) -> Option<u16> {
        let slot = access.slot();
        (self.keys[slot].get() == access.key()).then(|| self.words[slot])
    }

    /// Keeps an access in its slot.
    pub(in crate::rt) fn keep(&self, access: KeptAccess) {
        if access.address() < 1 << (NUMBER_SHIFT - 1) {
            self.keys[access.slot()].set(access.key());
        }
    }

    /// A new chunk keeps nothing.
    pub(in crate::rt) fn clear(&self) {
        self.keys.iter().for_each(|key| key.set(0));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_thread_knows_its_cells_apart() {
        let tags: Vec<Tag> = std::iter::successors(Some(Tag::FIRST), |tag| tag.next()).collect();
        assert_eq!(tags.len(), 1 << 16);
        let callers = [Location::caller(), Location::caller()];
        let keys: HashSet<u64> = tags
            .iter()
            .flat_map(|tag| callers.map(|caller| [false, true].map(|write| (*tag, caller, write))))
            .flatten()
            .map(|(tag, caller, write)| KeptAccess { caller, tag, write }.key())
            .collect();
        assert_eq!(keys.len(), tags.len() * callers.len() * 2);
    }

    #[test]
    fn cells_that_are_read_and_written_by_a_loop_have_slots_of_their_own() {
        let tags = std::iter::successors(Some(Tag::FIRST), |tag| tag.next()).take(SLOTS / 2);
        let first = Location::caller();
        let distance = 3 * PLACE as usize / size_of::<Location<'_>>();
        assert_eq!(distance * size_of::<Location<'_>>(), 3 * PLACE as usize);
        let slots: HashSet<usize> = tags
            .flat_map(|tag| {
                let slot = KeptAccess { caller: first, tag, write: false }.slot();
                [slot, (slot + 3) % SLOTS]
            })
            .collect();
        assert_eq!(slots.len(), SLOTS);
    }
}
