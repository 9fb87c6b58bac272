//! Which parts of memory have entries in the table: counters by memory line and page.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

const LINE: usize = 64;
pub(in crate::rt) const PAGE: usize = 4096;

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
pub(in crate::rt) fn watch(address: usize) {
    counter(&LINES, address / LINE).fetch_add(1, Ordering::Relaxed);
    counter(&PAGES, address / PAGE).fetch_add(1, Ordering::Relaxed);
}

/// The entry is gone.
pub(in crate::rt) fn unwatch(address: usize) {
    counter(&LINES, address / LINE).fetch_sub(1, Ordering::Relaxed);
    counter(&PAGES, address / PAGE).fetch_sub(1, Ordering::Relaxed);
}

/// Calls `f` with the parts of a range that may have entries, each within one memory line.
#[inline]
pub(in crate::rt) fn each_used_line(range: Range<usize>, mut f: impl FnMut(Range<usize>)) {
    // The stack of a thread is hundreds of pages, so a page without entries has to cost little.
    for page in range.start / PAGE..range.end.div_ceil(PAGE) {
        if counter(&PAGES, page).load(Ordering::Relaxed) > 0 {
            let start = range.start.max(page * PAGE);
            let end = range.end.min(next_multiple(start, PAGE));
            each_part(start..end, LINE, |line| {
                if counter(&LINES, line.start / LINE).load(Ordering::Relaxed) > 0 {
                    f(line);
                }
            });
        }
    }
}

/// Calls `f` with the parts of a range that lie between multiples of `unit`.
#[inline]
pub(in crate::rt) fn each_part(range: Range<usize>, unit: usize, mut f: impl FnMut(Range<usize>)) {
    let mut start = range.start;
    while start < range.end {
        let end = next_multiple(start, unit).min(range.end);
        f(start..end);
        start = end;
    }
}

/// Whether the page of an address may have entries.
pub(in crate::rt) fn is_page_used(address: usize) -> bool {
    counter(&PAGES, address / PAGE).load(Ordering::Relaxed) > 0
}

/// The next multiple after a number that may be one itself.
#[inline]
pub(in crate::rt) fn next_multiple(number: usize, unit: usize) -> usize {
    (number | (unit - 1)).saturating_add(1)
}
