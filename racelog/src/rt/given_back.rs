//! Memory that is given back, and used again for something else.
//!
//! Two objects that live at one address one after the other are two. What orders them is the allocator,
//! which no trace knows of; were they one variable, their accesses would look like races. So:
//!
//! - The recorder's allocator, [`Recorded`](crate::alloc::Recorded), says what is freed before it is.
//!   What is known of that memory is then forgotten; what comes next is another variable. The trace
//!   says when memory that variables stood for was given back ([`ended`]), so that its readers do not
//!   take the two for parts of one another.
//! - The same happens to the stack of a thread, or of a fiber, at its end.
//! - With the feature `recorded-arc` a free is a write, too, by the thread that frees: see [`freed`].
//! - Where the program has another allocator nothing is known, so the order of all accesses of bare
//!   memory is kept ([`keeps_order`]): none of them is ever said to race. Only statics are never
//!   freed.
//!
//! What is missed: memory that the program gets from the system and gives back by itself (`mmap`,
//! `malloc`), and pools of its own that are synchronised by means that are not recorded. It can say so:
//! [`crate::alloc::forget`].

use std::alloc::Layout;
use std::cell::Cell;
use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::ops::{Deref, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::freed;
use super::meta::Spin;
use super::statics::is_static;
use super::table::{self, Kind};
use crate::trace::VarId;

const LINE: usize = 64;
const PAGE: usize = 4096;

/// How many entries of the table are in memory lines and in pages, by a hash of their number: where
/// there are none, nothing has to be forgotten.
static LINES: [AtomicU32; 1 << 16] = [const { AtomicU32::new(0) }; 1 << 16];
static PAGES: [AtomicU32; 1 << 14] = [const { AtomicU32::new(0) }; 1 << 14];

#[inline]
fn counter(counters: &[AtomicU32], unit: usize) -> &AtomicU32 {
    let mixed = (unit as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    &counters[(mixed >> (u64::BITS - counters.len().trailing_zeros())) as usize]
}

/// There is an entry for an address.
pub(super) fn watch(address: usize) {
    counter(&LINES, address / LINE).fetch_add(1, Ordering::Relaxed);
    counter(&PAGES, address / PAGE).fetch_add(1, Ordering::Relaxed);
}

/// The entry is gone.
pub(super) fn unwatch(address: usize) {
    counter(&LINES, address / LINE).fetch_sub(1, Ordering::Relaxed);
    counter(&PAGES, address / PAGE).fetch_sub(1, Ordering::Relaxed);
}

/// Whose the memory is that a thread frees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Owner {
    /// The program's. What orders the free with the accesses of others is recorded, if anything does.
    Program,
    /// The program's, but what makes this thread the one that frees it is not recorded: the count of an
    /// `Arc` of std's within a type of ours.
    Unordered,
    /// The recorder's.
    Recorder,
}

thread_local! {
    static OWNER: Cell<Owner> = const { Cell::new(Owner::Program) };
}

/// Puts back what was assumed before of the memory that a thread frees.
pub(crate) struct Frees(Owner);

impl Drop for Frees {
    fn drop(&mut self) {
        OWNER.set(self.0);
    }
}

fn freeing(owner: Owner) -> Frees {
    let before = OWNER.get();
    OWNER.set(before.max(owner));
    Frees(before)
}

/// Until the result is dropped, what this thread frees is the recorder's own.
pub(super) fn quiet() -> Frees {
    freeing(Owner::Recorder)
}

/// Until the result is dropped, what this thread frees is forgotten, and no more: it is not recorded
/// what makes this thread the one that frees it.
pub(crate) fn unordered_frees() -> Frees {
    freeing(Owner::Unordered)
}

/// Something that an `Arc` of std's within the recorder's types may own: which of its owners frees it is
/// not recorded.
pub(crate) struct Unordered<T>(ManuallyDrop<T>);

impl<T> Unordered<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, nor dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T> Deref for Unordered<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Unordered<T> {
    fn drop(&mut self) {
        let _unordered = unordered_frees();
        // SAFETY: it is dropped once, and not used after that.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

/// So many bytes from an address on are about to be given back: whatever stands there next is
/// something else. It may be called from within an allocator.
#[inline]
pub(crate) fn forget_memory(start: usize, size: usize) {
    if table::is_used() && size > 0 {
        forget_used(start..start.saturating_add(size));
    }
}

/// As [`forget_memory`], where the calling thread frees the bytes: a write of all of them, as far as
/// that is recorded.
#[inline]
pub(crate) fn free_memory(start: usize, size: usize) {
    if !cfg!(feature = "recorded-arc") {
        forget_memory(start, size);
    } else if table::is_used() && size > 0 {
        free_used(start..start.saturating_add(size));
    }
}

fn forget_used(range: Range<usize>) {
    each_used_line(range, |line| {
        if OWNER.get() < Owner::Recorder {
            let _quiet = quiet();
            each_word(line, |word| table::forget_part(word, None));
        }
    });
}

fn free_used(range: Range<usize>) {
    if OWNER.get() > Owner::Program || !freed::is_recorded() {
        return forget_used(range);
    }
    freed::about_to_free(&range);
    each_used_line(range, |line| {
        let _quiet = quiet();
        each_word(line, |word| table::forget_part(word, Some(freed::record)));
    });
}

/// Calls `f` with the parts of a range that may have entries, each within one memory line.
#[inline]
fn each_used_line(range: Range<usize>, mut f: impl FnMut(Range<usize>)) {
    let mut start = range.start;
    while start < range.end {
        let page = start..next_multiple(start, PAGE).min(range.end);
        start = page.end;
        if counter(&PAGES, page.start / PAGE).load(Ordering::Relaxed) > 0 {
            each_part(page, LINE, |line| {
                if counter(&LINES, line.start / LINE).load(Ordering::Relaxed) > 0 {
                    f(line);
                }
            });
        }
    }
}

#[cold]
#[inline(never)]
fn each_word(range: Range<usize>, f: impl FnMut(Range<usize>)) {
    each_part(range, table::WORD, f);
}

/// Calls `f` with the parts of a range that lie between multiples of `unit`.
#[inline]
fn each_part(range: Range<usize>, unit: usize, mut f: impl FnMut(Range<usize>)) {
    let mut start = range.start;
    while start < range.end {
        let end = next_multiple(start, unit).min(range.end);
        f(start..end);
        start = end;
    }
}

/// The bare memory that is known in a range: where each piece starts, and how many bytes.
pub(super) fn known_in(range: Range<usize>) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    if !table::is_used() {
        return found;
    }
    let mut start = range.start;
    while start < range.end {
        let end = next_multiple(start, PAGE).min(range.end);
        if counter(&PAGES, start / PAGE).load(Ordering::Relaxed) > 0 {
            while start < end {
                let part = start..next_multiple(start, table::WORD).min(end);
                start = part.end;
                table::bytes_in(&part, &mut found);
            }
        }
        start = end;
    }
    found
}

/// The next multiple after a number that may be one itself.
#[inline]
fn next_multiple(number: usize, unit: usize) -> usize {
    (number | (unit - 1)).saturating_add(1)
}

/// The variables whose memory was given back, in that order.
static ENDED: Spin<Vec<VarId>> = Spin::new(Vec::new());

/// The memory that a variable stood for was given back.
pub(super) fn ended(var: VarId) {
    let _quiet = quiet();
    ENDED.lock().push(var);
}

/// How many there are.
pub(super) fn count() -> u32 {
    ENDED.lock().len() as u32
}

/// Calls `f` with those whose memory was given back after the first so many, each with how many
/// there were then, itself included. Returns how many there are.
pub(super) fn ended_since(mut seen: u32, mut f: impl FnMut(VarId, u32)) -> u32 {
    loop {
        // What `f` does must not be done under the lock.
        let mut some = [None; 64];
        let all = ENDED.lock();
        let new = all.get(seen as usize..).unwrap_or_default();
        if new.is_empty() {
            return seen;
        }
        for (place, var) in some.iter_mut().zip(new) {
            *place = Some(*var);
        }
        drop(all);
        for var in some.into_iter().flatten() {
            seen += 1;
            f(var, seen);
        }
    }
}

/// Whether nobody says when bare memory at this address is freed.
pub(crate) fn keeps_order(address: usize) -> bool {
    !is_told() && !is_static(address)
}

/// Finds out what cannot be found out later, under locks.
pub(super) fn find_out() {
    keeps_order(0);
}

/// Whether the program's allocator says what it frees. That is found out by trying, before anything
/// is recorded.
fn is_told() -> bool {
    static TOLD: OnceLock<bool> = OnceLock::new();
    *TOLD.get_or_init(|| {
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the layout has a size, and what is allocated is freed with the same one.
        let address = unsafe {
            let place = black_box(std::alloc::alloc(layout));
            if place.is_null() {
                return false;
            }
            table::lock(place.addr()).entry(place.addr(), Kind::Probe);
            std::alloc::dealloc(place, layout);
            place.addr()
        };
        table::lock(address).remove(address, Kind::Probe).is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place in memory that nobody else uses, and that is not freed.
    fn place() -> usize {
        Box::leak(Box::new([0u64; 1024])).as_ptr().addr().next_multiple_of(PAGE)
    }

    fn know(address: usize, size: u32) -> VarId {
        table::lock(address).entry(address, Kind::Bytes(size)).var
    }

    #[test]
    fn what_is_given_back_is_forgotten_and_its_neighbours_are_not() {
        let start = place();
        let vars = [0, 3, 4, 8, 11, 12].map(|at| know(start + at, 1));
        forget_memory(start + 3, 9);
        let now = [0, 3, 4, 8, 11, 12].map(|at| know(start + at, 1));
        let same: Vec<bool> = vars.iter().zip(&now).map(|(old, new)| old == new).collect();
        assert_eq!(same, [true, false, false, false, false, true]);
        let mut told = Vec::new();
        ended_since(0, |var, _| told.push(var));
        let given_back = told.into_iter().filter(|var| vars.contains(var)).collect::<Vec<_>>();
        assert_eq!(given_back, vars[1..5]);
    }

    #[test]
    fn what_is_known_is_found() {
        let start = place();
        for at in [0, 3, 4, 4000] {
            know(start + at, 1);
        }
        know(start + 4, 8);
        let mut found = known_in(start + 3..start + 4000);
        found.sort_unstable();
        assert_eq!(found, [(start + 3, 1), (start + 4, 1), (start + 4, 8)]);
    }

    #[test]
    fn what_is_locked_is_forgotten_before_it_is_seen_again() {
        let address = place();
        let var = know(address, 8);
        let held = table::lock(address);
        forget_memory(address, 8);
        drop(held);
        assert_ne!(know(address, 8), var);
    }

    #[test]
    fn whether_anybody_says_what_is_freed_is_found_out() {
        static STATIC: u32 = 1;
        let on_heap = Box::new(2);
        assert_eq!(is_told(), cfg!(feature = "allocator"));
        assert_eq!(keeps_order((&raw const *on_heap).addr()), !is_told());
        assert!(!keeps_order((&raw const STATIC).addr()) || !cfg!(target_os = "linux"));
    }

    #[test]
    fn a_crowded_table_finds_what_is_left() {
        let memory: &'static [u64] = Box::leak(vec![0; 20_000].into_boxed_slice());
        let address = |at: usize| memory.as_ptr().addr() + at * 8;
        let vars: Vec<VarId> = (0..memory.len()).map(|at| know(address(at), 8)).collect();
        for at in (0..memory.len()).filter(|at| at % 3 == 1) {
            forget_memory(address(at), 8);
        }
        for (at, var) in vars.iter().enumerate() {
            assert_eq!(know(address(at), 8) == *var, at % 3 != 1, "{at}");
        }
    }
}
