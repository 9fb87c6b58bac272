//! The address table: what the recorder knows of memory, by address and kind.
//!
//! It is striped: neighbouring words are in different stripes, each behind a spin lock that is held
//! while an operation is done, stamped and written. A stripe is a hash table of our own, with open
//! addressing: it is looked at before every access, and nearly always finds what it looks for in
//! the first place.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cell_record::CellRecord;
use super::freed_vars;
use super::freeing::quiet;
use super::watched::{unwatch, watch};
use crate::rt::base::ids::counters;
use crate::rt::base::spin::{Spin, SpinGuard, wait_a_little};
use crate::trace::VarId;

/// What stands at an address. An atomic inside a cell has the cell's address and is another thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Atomic,
    Plain,
    /// Nothing: it is there to see what becomes of it.
    Probe,
    /// So many bytes that were reached through a raw pointer, or are a `static mut`. The trace says
    /// which, so that those who read it know what overlaps.
    Bytes(u32),
}

impl Kind {
    /// A number that no other kind has; never [`FREE`].
    #[inline]
    fn code(self) -> u64 {
        match self {
            Self::Atomic => 1,
            Self::Plain => 2,
            Self::Probe => 3,
            Self::Bytes(size) => u64::from(size) << 2,
        }
    }
}

/// Where there is no entry. No access has no bytes.
const FREE: u64 = 0;

/// What the recorder knows of one thing at an address.
#[derive(Debug)]
pub(in crate::rt) struct Entry {
    pub(in crate::rt) var: VarId,
    /// Whether the order of all accesses is to be kept: see `memory::allocator`.
    pub(in crate::rt) in_order: bool,
    /// Whether a reference was made that what it holds may have been changed through since.
    pub(in crate::rt) lent: bool,
    pub(in crate::rt) record: CellRecord,
}

#[derive(Debug)]
struct Slot {
    address: usize,
    code: u64,
    entry: Entry,
}

impl Slot {
    const fn free() -> Self {
        let entry =
            Entry { var: VarId::new(0), in_order: false, lent: false, record: CellRecord::new() };
        Self { address: 0, code: FREE, entry }
    }

    fn is_bytes(&self) -> bool {
        self.code > Kind::Probe.code()
    }
}

/// What the recorder knows of the addresses of one stripe.
#[derive(Debug)]
pub(in crate::rt) struct Cells {
    /// None, or a power of two, at most half of them in use.
    slots: Vec<Slot>,
    used: usize,
}

/// How many neighbouring bytes are always in the same stripe.
pub(in crate::rt) const WORD: usize = 4;

/// What the addresses of one word have in common, spread over all bits.
#[inline]
fn mix(address: usize) -> u64 {
    ((address / WORD) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Cells {
    const fn new() -> Self {
        Self { slots: Vec::new(), used: 0 }
    }

    /// Where an address is looked for first. Other bits than those that choose the stripe.
    #[inline]
    fn home(&self, address: usize) -> usize {
        (mix(address) >> 24) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    #[inline]
    fn position(&self, address: usize, code: u64) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(address);
        loop {
            let slot = &self.slots[at];
            if slot.address == address && slot.code == code {
                return Some(at);
            }
            if slot.code == FREE {
                return None;
            }
            at = self.after(at);
        }
    }

    /// What is known of a thing at an address, if anything is.
    #[inline]
    pub(in crate::rt) fn get(&mut self, address: usize, kind: Kind) -> Option<&mut Entry> {
        let at = self.position(address, kind.code())?;
        Some(&mut self.slots[at].entry)
    }

    /// What is known of a thing at an address; nothing yet, if it is new.
    #[inline]
    pub(in crate::rt) fn entry(&mut self, address: usize, kind: Kind) -> &mut Entry {
        let at = match self.position(address, kind.code()) {
            Some(at) => at,
            None => self.insert(address, kind, false),
        };
        &mut self.slots[at].entry
    }

    /// What is known of so many bytes of bare memory at an address. If they are new, `keeps_order`
    /// says whether all accesses of them keep their order.
    #[inline]
    pub(in crate::rt) fn bytes(
        &mut self,
        address: usize,
        size: u32,
        keeps_order: fn(usize) -> bool,
    ) -> &mut Entry {
        let kind = Kind::Bytes(size);
        let at = match self.position(address, kind.code()) {
            Some(at) => at,
            None => self.insert(address, kind, keeps_order(address)),
        };
        &mut self.slots[at].entry
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, address: usize, kind: Kind, in_order: bool) -> usize {
        if (self.used + 1) * 2 > self.slots.len() {
            let larger = (self.slots.len() * 2).max(8);
            let old = std::mem::take(&mut self.slots);
            self.slots.resize_with(larger, Slot::free);
            for slot in old.into_iter().filter(|slot| slot.code != FREE) {
                self.put(slot);
            }
        }
        self.used += 1;
        watch(address);
        let entry = Entry {
            var: VarId::new(match kind {
                // No trace has it.
                Kind::Probe => 0,
                _ => counters::VARS.fetch_add(1, Ordering::Relaxed),
            }),
            in_order,
            lent: false,
            record: CellRecord::new(),
        };
        self.put(Slot { address, code: kind.code(), entry })
    }

    /// Puts something new into a free place, of which there is one.
    fn put(&mut self, slot: Slot) -> usize {
        let mut at = self.home(slot.address);
        while self.slots[at].code != FREE {
            at = self.after(at);
        }
        self.slots[at] = slot;
        at
    }

    /// Forgets one thing.
    pub(in crate::rt) fn remove(&mut self, address: usize, kind: Kind) -> Option<Entry> {
        let at = self.position(address, kind.code())?;
        Some(self.vacate(at).entry)
    }

    /// Forgets something in a part of one word, if there is anything.
    fn remove_any(&mut self, part: &Range<usize>) -> Option<Slot> {
        self.remove_where(part, |_| true)
    }

    /// Forgets some bare memory in a part of one word, if there is any.
    pub(in crate::rt) fn remove_bytes(&mut self, part: &Range<usize>) -> Option<Entry> {
        self.remove_where(part, Slot::is_bytes).map(|slot| slot.entry)
    }

    /// The bare memory in a part of one word: where it starts, and how many bytes.
    fn bytes_in(&self, part: &Range<usize>, found: &mut Vec<(usize, u32)>) {
        if self.slots.is_empty() {
            return;
        }
        let mut at = self.home(part.start);
        while self.slots[at].code != FREE {
            let slot = &self.slots[at];
            if part.contains(&slot.address) && slot.is_bytes() {
                found.push((slot.address, (slot.code >> 2) as u32));
            }
            at = self.after(at);
        }
    }

    fn remove_where(&mut self, part: &Range<usize>, which: fn(&Slot) -> bool) -> Option<Slot> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(part.start);
        while self.slots[at].code != FREE {
            let slot = &self.slots[at];
            if part.contains(&slot.address) && which(slot) {
                return Some(self.vacate(at));
            }
            at = self.after(at);
        }
        None
    }

    /// Frees a place. Those behind it move up, so that all can still be found.
    fn vacate(&mut self, mut hole: usize) -> Slot {
        let mask = self.slots.len() - 1;
        let mut next = self.after(hole);
        while self.slots[next].code != FREE {
            let from_home = next.wrapping_sub(self.home(self.slots[next].address)) & mask;
            if from_home >= next.wrapping_sub(hole) & mask {
                self.slots.swap(hole, next);
                hole = next;
            }
            next = self.after(next);
        }
        self.used -= 1;
        let slot = std::mem::replace(&mut self.slots[hole], Slot::free());
        unwatch(slot.address);
        slot
    }
}

/// So that stripes that neighbours use do not share a cache line.
#[repr(align(128))]
struct Stripe {
    cells: Spin<Cells>,
    /// Whether memory of this stripe was given back while it was locked.
    doomed: AtomicBool,
}

const STRIPES: usize = 1024;

static TABLE: [Stripe; STRIPES] =
    [const { Stripe { cells: Spin::new(Cells::new()), doomed: AtomicBool::new(false) } }; STRIPES];

/// Whether anything was ever put into the table: until then nothing has to be forgotten.
static USED: AtomicBool = AtomicBool::new(false);

/// See [`USED`].
#[inline]
pub(in crate::rt) fn is_used() -> bool {
    USED.load(Ordering::Relaxed)
}

#[inline]
fn stripe_number(address: usize) -> usize {
    (mix(address) >> (u64::BITS - STRIPES.trailing_zeros())) as usize
}

/// Makes this thread the only one that accesses what stands at an address.
#[inline]
pub(in crate::rt) fn lock(address: usize) -> SpinGuard<'static, Cells> {
    if !USED.load(Ordering::Relaxed) {
        USED.store(true, Ordering::Relaxed);
    }
    let stripe = &TABLE[stripe_number(address)];
    let mut cells = stripe.cells.lock();
    if stripe.doomed.load(Ordering::Relaxed) {
        carry_out(stripe_number(address), &mut cells);
    }
    cells
}

/// Adds the bare memory that is known in a part of one word.
pub(in crate::rt) fn bytes_in(part: &Range<usize>, found: &mut Vec<(usize, u32)>) {
    let cells = lock(part.start);
    cells.bytes_in(part, found);
}

/// Parts of words whose entries are to be removed before they are looked up again.
static DOOMED: Spin<Vec<Range<usize>>> = Spin::new(Vec::new());

/// What is done with bare memory that is freed, before it is forgotten.
pub(in crate::rt) type Freed = fn(&mut Entry);

/// Forgets what is known of a part of one word: now, or before it is looked up again. It waits for
/// no thread that may be waiting for this one: it runs within the program's allocator, under
/// whatever locks. Bare memory is handed to `freed` if it can be forgotten now.
pub(in crate::rt) fn forget_part(part: Range<usize>, freed: Option<Freed>) {
    let number = stripe_number(part.start);
    let stripe = &TABLE[number];
    let tries = if freed.is_some() { TRIES } else { 1 };
    match try_lock(stripe, tries) {
        Some(mut cells) => remove_all(&mut cells, &part, freed),
        None => {
            DOOMED.lock().push(part);
            stripe.doomed.store(true, Ordering::Release);
        }
    }
}

/// How often a locked stripe is tried. It is soon unlocked, unless this thread itself holds it, or
/// its holder waits for this thread.
const TRIES: u32 = 256;

fn try_lock(stripe: &'static Stripe, most: u32) -> Option<SpinGuard<'static, Cells>> {
    let mut tries = 0;
    loop {
        let cells = stripe.cells.try_lock();
        if cells.is_some() || tries + 1 >= most {
            return cells;
        }
        wait_a_little(&mut tries);
    }
}

/// Forgets what was to be forgotten of a stripe that was locked then.
#[cold]
#[inline(never)]
fn carry_out(number: usize, cells: &mut Cells) {
    let _quiet = quiet();
    TABLE[number].doomed.store(false, Ordering::Relaxed);
    let mut doomed = DOOMED.lock();
    doomed.retain(|part| {
        let here = stripe_number(part.start) == number;
        if here {
            remove_all(cells, part, None);
        }
        !here
    });
}

fn remove_all(cells: &mut Cells, part: &Range<usize>, freed: Option<Freed>) {
    while let Some(mut slot) = cells.remove_any(part) {
        if slot.is_bytes() {
            if let Some(freed) = freed {
                freed(&mut slot.entry);
            }
            freed_vars::add(slot.entry.var);
        }
    }
}
