//! The frame around every chunk.

use crate::trace::ThreadId;

const MAGIC: [u8; 4] = *b"RLck";

/// The length of a chunk's header; the payload follows.
pub(crate) const HEADER_LEN: usize = 40;

/// Where the checksum stands: over all header bytes before it, then the payload.
const CHECKSUM_AT: usize = 36;

/// No writer makes a payload that is longer, so a longer one is damage and not an allocation.
pub(crate) const MAX_PAYLOAD: u32 = 1 << 24;

/// Where it says how far the chunk is.
pub(crate) const STATE_AT: usize = 5;

/// The chunk is complete.
pub(crate) const SEALED: u8 = 0;
/// The chunk is being written.
pub(crate) const OPEN: u8 = 1;
/// The chunk is being sealed: what else the header says of that may be half written, so the chunk
/// counts as open, and there is no checksum to go by.
pub(crate) const SEALING: u8 = 2;

/// The chunk is a copy of another that is being made: it holds nothing yet.
pub(crate) const COPYING: u8 = 3;

/// What a chunk holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Events of one thread.
    Events,
    /// Dictionary entries and initial values.
    Tables,
    /// The end of the trace.
    End,
    /// What is known to be lost.
    State,
}

/// A chunk's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chunk {
    pub(crate) kind: Kind,
    /// Whether the chunk is still being written: it may end before its payload does, and the
    /// checksum is over the header alone.
    pub(crate) open: bool,
    /// The thread whose events these are; 0 in other chunks.
    pub(crate) thread: ThreadId,
    /// The payload's length in bytes.
    pub(crate) payload_len: u32,
    /// How many events and initial values the payload holds; 0 in other and in open chunks.
    pub(crate) events: u32,
    /// The stamps of the first and the last event; 0 in other chunks, the last also in open ones.
    pub(crate) first_stamp: u64,
    pub(crate) last_stamp: u64,
}

/// Why the bytes at some place are no chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotAChunk {
    Magic,
    Kind,
    TooLong,
}

impl Chunk {
    /// A chunk that holds no events.
    pub(crate) fn without_events(kind: Kind, payload_len: u32) -> Self {
        let thread = ThreadId::new(0);
        Self { kind, open: false, thread, payload_len, events: 0, first_stamp: 0, last_stamp: 0 }
    }

    /// The header's bytes, with the checksum over it and the payload.
    pub(crate) fn encode(&self, payload: &[u8]) -> [u8; HEADER_LEN] {
        self.encode_as(if self.open { OPEN } else { SEALED }, payload)
    }

    /// The header's bytes while the chunk is a copy that is being made.
    #[cfg(any(feature = "record", test))]
    pub(crate) fn encode_as_copy(&self) -> [u8; HEADER_LEN] {
        let unfinished = Self { open: true, events: 0, last_stamp: 0, ..*self };
        unfinished.encode_as(COPYING, &[])
    }

    fn encode_as(&self, state: u8, payload: &[u8]) -> [u8; HEADER_LEN] {
        let kind = match self.kind {
            Kind::Events => 1,
            Kind::Tables => 2,
            Kind::End => 3,
            Kind::State => 4,
        };
        let mut bytes = [0; HEADER_LEN];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4] = kind;
        bytes[STATE_AT] = state;
        bytes[8..12].copy_from_slice(&self.thread.get().to_le_bytes());
        bytes[12..16].copy_from_slice(&self.payload_len.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.events.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.first_stamp.to_le_bytes());
        bytes[28..36].copy_from_slice(&self.last_stamp.to_le_bytes());
        let checksum = checksum(&bytes, payload);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header. Whether it can be trusted only the checksum tells: [`is_intact`].
    pub(crate) fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Self, NotAChunk> {
        if bytes[0..4] != MAGIC {
            return Err(NotAChunk::Magic);
        }
        let kind = match bytes[4] {
            1 => Kind::Events,
            2 => Kind::Tables,
            3 => Kind::End,
            4 => Kind::State,
            _ => return Err(NotAChunk::Kind),
        };
        let open = match bytes[STATE_AT] {
            SEALED => false,
            OPEN | SEALING | COPYING => true,
            _ => return Err(NotAChunk::Kind),
        };
        let payload_len = u32_at(bytes, 12);
        if payload_len > MAX_PAYLOAD {
            return Err(NotAChunk::TooLong);
        }
        Ok(Self {
            kind,
            open,
            thread: ThreadId::new(u32_at(bytes, 8)),
            payload_len,
            events: if open { 0 } else { u32_at(bytes, 16) },
            first_stamp: u64_at(bytes, 20),
            last_stamp: if open { 0 } else { u64_at(bytes, 28) },
        })
    }
}

/// Whether a header is that of a copy that is being made.
pub(crate) fn is_unfinished_copy(header: &[u8; HEADER_LEN]) -> bool {
    header[STATE_AT] == COPYING
}

/// Whether the checksum of a header fits the header and its payload.
pub(crate) fn is_intact(header: &[u8; HEADER_LEN], payload: &[u8]) -> bool {
    header[STATE_AT] == SEALING || u32_at(header, CHECKSUM_AT) == checksum(header, payload)
}

fn checksum(header: &[u8; HEADER_LEN], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..CHECKSUM_AT]);
    if header[STATE_AT] == SEALED {
        hasher.update(payload);
    }
    hasher.finalize()
}

fn u32_at(bytes: &[u8; HEADER_LEN], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8; HEADER_LEN], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_and_every_flipped_bit_is_seen() {
        let payload = [1, 2, 3];
        let chunk = Chunk {
            kind: Kind::Events,
            open: false,
            thread: ThreadId::new(7),
            payload_len: 3,
            events: 2,
            first_stamp: 10,
            last_stamp: 1 << 40,
        };
        let bytes = chunk.encode(&payload);
        assert_eq!(Chunk::decode(&bytes), Ok(chunk));
        assert!(is_intact(&bytes, &payload));
        for bit in 0..HEADER_LEN * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            if damaged[5] == SEALING {
                assert!(Chunk::decode(&damaged).is_ok_and(|chunk| chunk.open));
                continue;
            }
            assert!(!is_intact(&damaged, &payload), "bit {bit}");
        }
    }
}
