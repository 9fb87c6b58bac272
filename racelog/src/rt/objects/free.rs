//! Frees as writes: who frees memory writes all of it.
//!
//! A free that nothing orders with an access is a race, whether a destructor does it or a call by
//! hand. The one place that sees all frees is the program's allocator. What happens there is sound
//! only if the trace knows what made this thread the one that frees. For what the program shares by
//! `Arc` that is the count, which is recorded with the feature `recorded-arc`; without it nothing
//! is written here. Where a type of ours counts its owners by an `Arc` of std's, its frees are
//! [`unordered`](crate::rt::memory::freeing::unordered_frees).
//!
//! This runs within the allocator, under unknown locks, perhaps within the recorder:
//!
//! - Nothing is looked up or opened. A thread of which it is not known that it is recorded frees in
//!   silence, and so does a foreign one, which races with no other thread anyway.
//! - What the recorder frees is its own, and passed over.
//! - It waits for no thread but one that writes tables, which waits for none. A stripe that stays
//!   locked is left, and its frees are missed.
//! - There is no turn for others before a free, but when a race is replayed: a thread that is
//!   stopped here may hold a lock that others want. In a replay that shows as a race that could not
//!   be brought about.
//!
//! No event depends on a free, so one that cannot be written because recording has ended is not
//! counted as lost.

use std::ops::Range;

use crate::rt::base::control;
use crate::rt::log::thread_log::ThreadLog;
use crate::rt::memory::forget::{each_word, forget_memory, forget_used};
use crate::rt::memory::freeing::{is_ordered, quiet};
use crate::rt::memory::table::{self, Entry};
use crate::rt::memory::watched::each_used_line;
use crate::rt::threads::current::with_known;
use crate::trace::{Op, Value};

/// As [`forget_memory`], where the calling thread frees the bytes: a write of all of them, as far
/// as that is recorded.
#[inline]
pub(crate) fn free_memory(start: usize, size: usize) {
    if !cfg!(feature = "recorded-arc") {
        forget_memory(start, size);
    } else if table::is_used() && size > 0 {
        free_used(start..start.saturating_add(size));
    }
}

fn free_used(range: Range<usize>) {
    if !is_ordered() || !is_recorded() {
        return forget_used(range);
    }
    about_to_free(&range);
    each_used_line(range, |line| {
        let _quiet = quiet();
        each_word(line, |word| table::forget_part(word, Some(record)));
    });
}

/// Whether what the calling thread frees is recorded.
fn is_recorded() -> bool {
    with_known(|log| !log.is_foreign()).unwrap_or(false)
}

/// The calling thread, which is recorded, is about to free a range. In a replay the thread that it
/// races with may go first. That one has not accessed the memory yet, so nothing may be known of
/// it.
fn about_to_free(range: &Range<usize>) {
    if with_known(ThreadLog::is_watched) == Some(true) {
        control::before_free(range.start, range.len());
    }
}

/// Records that the calling thread frees memory.
fn record(entry: &mut Entry) {
    with_known(|log| {
        if entry.record.is_new_to(log) || entry.in_order || log.session().is_stopped() {
            return;
        }
        log.define_freed(entry.var);
        let stamp = entry.record.step(log);
        let op = Op::Write { var: entry.var, value: Value::Opaque };
        log.emit_by_the_way(stamp, op, None);
    });
}
