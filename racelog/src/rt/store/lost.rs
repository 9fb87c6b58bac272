//! What is lost of a trace, said in the mapped file itself: so whatever way the process ends, even
//! in the next instant, readers of the file know it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::trace::binary::state::{CUT_AT, FULL_AT, LOST_AT, STATE_LEN};

/// The numbers of the state chunk of a trace that is being recorded.
pub(in crate::rt) struct Lost {
    numbers: *mut u8,
}

// SAFETY: the numbers are only used as atomics.
unsafe impl Send for Lost {}
// SAFETY: as above.
unsafe impl Sync for Lost {}

impl Lost {
    /// What the state chunk says that ends at `end`.
    ///
    /// # Safety
    ///
    /// The chunk was made by `State::encode` for this place of a file whose pages are mapped to
    /// memory from a multiple of eight on, and stays there for as long as the result. Nobody uses
    /// it but by this.
    pub(in crate::rt) unsafe fn new(end: *mut u8) -> Self {
        debug_assert!(end.addr() % 8 == 0, "an encoded state ends where numbers can");
        // SAFETY: a state chunk is longer than its numbers.
        Self { numbers: unsafe { end.sub(STATE_LEN) } }
    }

    fn number(&self, at: usize) -> &AtomicU64 {
        // SAFETY: there is a number, aligned, that lives and is used as said in `new`.
        unsafe { AtomicU64::from_ptr(self.numbers.add(at).cast()) }
    }

    /// The stamp from which on nothing is used of what is recorded.
    pub(in crate::rt) fn cut(&self) -> u64 {
        u64::from_le(self.number(CUT_AT).load(Ordering::Acquire))
    }

    /// From this stamp on nothing is used.
    pub(in crate::rt) fn cut_at(&self, stamp: u64) {
        let lower = |cut: u64| (stamp < u64::from_le(cut)).then_some(stamp.to_le());
        // Nothing is to be done where it is cut before that already.
        let _ = self.number(CUT_AT).fetch_update(Ordering::AcqRel, Ordering::Acquire, lower);
    }

    /// One more event is lost.
    pub(in crate::rt) fn count(&self) {
        let lost = self.number(LOST_AT);
        if cfg!(target_endian = "little") {
            lost.fetch_add(1, Ordering::Relaxed);
        } else {
            let more = |lost| Some((u64::from_le(lost) + 1).to_le());
            let _ = lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        }
    }

    /// There was no room.
    pub(in crate::rt) fn say_full(&self) {
        self.number(FULL_AT).store(1u64.to_le(), Ordering::Release);
    }

    pub(in crate::rt) fn is_full(&self) -> bool {
        self.number(FULL_AT).load(Ordering::Acquire) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::binary::chunk::HEADER_LEN;
    use crate::trace::binary::state::State;

    #[test]
    fn the_chunk_says_what_is_lost() {
        let bytes = State::WHOLE.encode(0);
        let mut memory: Vec<u64> =
            bytes.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
        let end = memory.as_mut_ptr_range().end;
        // SAFETY: the memory holds the chunk, and outlives what is made of it.
        let lost = unsafe { Lost::new(end.cast()) };
        assert_eq!((lost.cut(), lost.is_full()), (u64::MAX, false));
        lost.cut_at(70);
        lost.cut_at(50);
        lost.cut_at(60);
        lost.count();
        lost.count();
        lost.say_full();
        assert_eq!((lost.cut(), lost.is_full()), (50, true));
        let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let state = State::decode(&bytes[HEADER_LEN..]);
        assert_eq!(state, Ok(State { cut: 50, lost: 2, full: true }));
    }
}
