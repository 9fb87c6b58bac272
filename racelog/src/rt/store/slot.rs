//! Pieces of the trace file, and how bytes are put into them.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::trace::binary::chunk::{HEADER_LEN, SEALING, STATE_AT};

/// Chunks are multiples of this, but for the first; so windows can be cut into chunks without rest.
pub(in crate::rt) const UNIT: usize = 512;

/// There is no room: the disk is full, or the file has reached its greatest size.
#[derive(Debug)]
pub(in crate::rt) struct Full(pub(in crate::rt) String);

/// A piece of the file, for one owner.
#[derive(Clone, Copy, Debug)]
pub(in crate::rt) struct Slot {
    pub(in crate::rt) start: *mut u8,
    pub(in crate::rt) len: usize,
    /// Where in the file it is.
    pub(in crate::rt) offset: u64,
}

impl Slot {
    /// What is in a part of it.
    pub(in crate::rt) fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.end <= self.len, "a slot is not read past its end");
        // SAFETY: the slot is ours and is that long, and all of it is mapped.
        unsafe { std::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }
}

// SAFETY: a slot is a piece of memory that only its owner writes to, whichever thread that is.
unsafe impl Send for Slot {}

/// Writes bytes so that they appear all at once: the first of them, which says that there is
/// something, last.
pub(in crate::rt) fn publish(slot: Slot, at: usize, bytes: &[u8]) {
    assert!(at + bytes.len() <= slot.len, "a chunk is not written past its end");
    let [first, rest @ ..] = bytes else { return };
    // SAFETY: the slot is ours and reaches from `start` over `len` bytes; the assertion keeps us in
    // it. The first byte is written as an atomic, so that the compiler keeps it last.
    unsafe {
        let start = slot.start.add(at);
        std::ptr::copy_nonoverlapping(rest.as_ptr(), start.add(1), rest.len());
        AtomicU8::from_ptr(start).store(*first, Ordering::Release);
    }
}

/// Gives a chunk another header. A process that is killed meanwhile leaves a header that says so.
pub(in crate::rt) fn put_header(slot: Slot, header: &[u8; HEADER_LEN]) {
    // SAFETY: the slot is ours, and a header stands at its start.
    unsafe {
        let state = AtomicU8::from_ptr(slot.start.add(STATE_AT));
        state.store(SEALING, Ordering::SeqCst);
        let rest = STATE_AT + 1;
        let from = header[rest..].as_ptr();
        std::ptr::copy_nonoverlapping(from, slot.start.add(rest), HEADER_LEN - rest);
        state.store(header[STATE_AT], Ordering::SeqCst);
    }
}
