//! What is known to be lost of a trace, as far as its recorder got to say it.
//!
//! A recorder puts this chunk right behind the header before it records anything, and changes it in
//! place: so whatever way the process ends, what is lost is known.

use super::chunk::{Chunk, HEADER_LEN, Kind};
use super::primitive::Malformed;

/// What is lost of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    /// The stamp from which on events are not to be trusted, because others before them may be
    /// lost. The largest number if there is none.
    pub(crate) cut: u64,
    /// How many events are known to be lost.
    pub(crate) lost: u64,
    /// Whether that was for want of room.
    pub(crate) full: bool,
}

/// The last bytes of the payload: three numbers of eight bytes each.
pub(crate) const STATE_LEN: usize = 24;

/// Where the numbers stand, from the first of these bytes on.
pub(crate) const CUT_AT: usize = 0;
pub(crate) const LOST_AT: usize = 8;
pub(crate) const FULL_AT: usize = 16;

impl State {
    /// Nothing is lost.
    pub(crate) const WHOLE: Self = Self { cut: u64::MAX, lost: 0, full: false };

    /// The chunk, header and payload, that stands at `offset` of its file. It ends at a multiple of
    /// eight, so that its numbers can be changed in place.
    pub(crate) fn encode(self, offset: usize) -> Vec<u8> {
        let end = (offset + HEADER_LEN + STATE_LEN).next_multiple_of(8);
        let payload_len = end - offset - HEADER_LEN;
        // Open: what it says may change, so the checksum is not about it.
        let chunk = Chunk { open: true, ..Chunk::without_events(Kind::State, payload_len as u32) };
        let mut bytes = chunk.encode(&[]).to_vec();
        bytes.resize(HEADER_LEN + payload_len - STATE_LEN, 0);
        bytes.extend(self.cut.to_le_bytes());
        bytes.extend(self.lost.to_le_bytes());
        bytes.extend(u64::from(self.full).to_le_bytes());
        bytes
    }

    /// Reads a payload.
    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let start = payload.len().checked_sub(STATE_LEN).ok_or(Malformed)?;
        let number = |at: usize| {
            let bytes = &payload[start + at..start + at + 8];
            u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
        };
        let full = match number(FULL_AT) {
            0 => false,
            1 => true,
            _ => return Err(Malformed),
        };
        Ok(Self { cut: number(CUT_AT), lost: number(LOST_AT), full })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_and_end_at_a_multiple_of_eight() {
        let state = State { cut: 1 << 40, lost: 7, full: true };
        for offset in 20..40 {
            let bytes = state.encode(offset);
            assert!((offset + bytes.len()) % 8 == 0);
            assert_eq!(State::decode(&bytes[HEADER_LEN..]), Ok(state));
        }
        assert!(State::decode(&[0; STATE_LEN - 1]).is_err());
        assert!(State::decode(&[9; STATE_LEN]).is_err());
    }
}
