//! Memory that is given back, and used again for something else.
//!
//! Two objects that live at one address one after the other are two. What orders them is the
//! allocator, which no trace knows of; were they one variable, their accesses would look like
//! races. So:
//!
//! - The recorder's allocator, [`Recorded`](crate::alloc::Recorded), says what is freed before it
//!   is. What is known of that memory is then forgotten; what comes next is another variable. The
//!   trace says when memory that variables stood for was given back
//!   ([`freed_vars`](super::freed_vars)), so that its readers do not take the two for parts of one
//!   another.
//! - The same happens to the stack of a thread, or of a fiber, at its end.
//! - With the feature `recorded-arc` a free is a write, too, by the thread that frees: see
//!   `objects::free`.
//! - Where the program has another allocator nothing is known, so the order of all accesses of bare
//!   memory is kept ([`keeps_order`](super::allocator::keeps_order)): none of them is ever said to
//!   race. Only statics are never freed.
//!
//! What is missed: memory that the program gets from the system and gives back by itself (`mmap`,
//! `malloc`), and pools of its own that are synchronised by means that are not recorded. It can say
//! so: [`crate::alloc::forget`].

use std::ops::Range;

use super::freeing::{is_quiet, quiet};
use super::table;
use super::watched::{PAGE, each_part, each_used_line, is_page_used, next_multiple};

/// So many bytes from an address on are about to be given back: whatever stands there next is
/// something else. It may be called from within an allocator.
#[inline]
pub(crate) fn forget_memory(start: usize, size: usize) {
    if table::is_used() && size > 0 {
        forget_used(start..start.saturating_add(size));
    }
}

/// Forgets what is known of a range.
pub(in crate::rt) fn forget_used(range: Range<usize>) {
    each_used_line(range, |line| {
        if !is_quiet() {
            let _quiet = quiet();
            each_word(line, |word| table::forget_part(word, None));
        }
    });
}

/// Calls `f` with the words of a range, each of which is in one stripe of the table.
#[cold]
#[inline(never)]
pub(in crate::rt) fn each_word(range: Range<usize>, f: impl FnMut(Range<usize>)) {
    each_part(range, table::WORD, f);
}

/// The bare memory that is known in a range: where each piece starts, and how many bytes.
pub(in crate::rt) fn known_in(range: Range<usize>) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    if !table::is_used() {
        return found;
    }
    let mut start = range.start;
    while start < range.end {
        let end = next_multiple(start, PAGE).min(range.end);
        if is_page_used(start) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rt::memory::freed_vars;
    use crate::rt::memory::table::Kind;
    use crate::trace::VarId;

    /// A place in memory that no other test uses, and that is not freed.
    fn place() -> usize {
        Box::leak(Box::new([0u64; 1024])).as_ptr().addr().next_multiple_of(PAGE)
    }

    fn know(address: usize, size: u32) -> VarId {
        table::lock(address).entry(address, Kind::Bytes(size)).var
    }

    #[test]
    fn what_is_freed_is_forgotten_and_its_neighbours_are_not() {
        let start = place();
        let vars = [0, 3, 4, 8, 11, 12].map(|at| know(start + at, 1));
        forget_memory(start + 3, 9);
        let now = [0, 3, 4, 8, 11, 12].map(|at| know(start + at, 1));
        let same: Vec<bool> = vars.iter().zip(&now).map(|(old, new)| old == new).collect();
        assert_eq!(same, [true, false, false, false, false, true]);
        let mut told = Vec::new();
        freed_vars::since(0, |var, _| told.push(var));
        let freed = told.into_iter().filter(|var| vars.contains(var)).collect::<Vec<_>>();
        assert_eq!(freed, vars[1..5]);
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
