//! Merges the threads' events into the trace's total order, one chunk a running thread in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{Read, Seek, SeekFrom};
use std::mem;

use rustc_hash::FxHashMap;

use super::chunk::HEADER_LEN;
use super::event::Coder;
use super::index::ChunkPlace;
use super::reader::ReadError;
use crate::trace::{Item, Said, ThreadId};

/// A thread, by the stamp of its next event: its id, and its place in the list of threads.
type Next = (u64, ThreadId, usize);

/// A k-way merge by (stamp, thread).
#[derive(Debug)]
pub(super) struct Merge {
    /// The thread whose event is next. It stands apart because its next event is often the one
    /// after that.
    current: Option<Next>,
    /// All other threads that have events left.
    others: BinaryHeap<Reverse<Next>>,
    threads: Vec<Thread>,
    /// Buffers of chunks that were read to their ends.
    spare: Vec<Vec<u8>>,
}

/// One thread's chunks.
#[derive(Debug)]
struct Thread {
    /// The chunks not yet opened, the next one last.
    places: Vec<ChunkPlace>,
    /// The open chunk.
    cursor: Option<Cursor>,
}

/// A chunk that is being read.
#[derive(Debug)]
struct Cursor {
    place: ChunkPlace,
    payload: Vec<u8>,
    at: usize,
    coder: Coder,
    /// How many events are still to be decoded.
    left: u32,
    next: Item,
    /// What is said of it and was not yielded yet, the last first.
    said: Vec<Said>,
}

impl Merge {
    pub(super) fn new(threads: FxHashMap<ThreadId, Vec<ChunkPlace>>) -> Self {
        let mut others = BinaryHeap::new();
        let mut list = Vec::new();
        for (thread, mut places) in threads {
            if let Some(first) = places.first() {
                others.push(Reverse((first.chunk.first_stamp, thread, list.len())));
                places.reverse();
                list.push(Thread { places, cursor: None });
            }
        }
        let current = others.pop().map(|Reverse(next)| next);
        Self { current, others, threads: list, spare: Vec::new() }
    }

    /// The stamp of the next event.
    #[inline]
    pub(super) fn peek_stamp(&self) -> Option<u64> {
        self.current.map(|(stamp, ..)| stamp)
    }

    /// Puts the next event or initial value into `item`; false if there is none.
    #[inline]
    pub(super) fn next(
        &mut self,
        input: &mut (impl Read + Seek),
        item: &mut Item,
    ) -> Result<bool, ReadError> {
        let Some((_, id, index)) = self.current else { return Ok(false) };
        let thread = &mut self.threads[index];
        let cursor = match &mut thread.cursor {
            Some(cursor) => cursor,
            none => {
                let place = thread.places.pop().expect("a thread in the queue has events left");
                let buffer = self.spare.pop().unwrap_or_default();
                none.insert(Cursor::open(input, place, buffer)?)
            }
        };
        if let Some(said) = cursor.said.pop() {
            *item = Item::Said { thread: id, said };
            return Ok(true);
        }
        *item = cursor.next;
        let stamp = if cursor.advance()? {
            Some(cursor.coder.stamp())
        } else {
            self.spare.extend(thread.cursor.take().map(|cursor| cursor.payload));
            thread.places.last().map(|place| place.chunk.first_stamp)
        };
        self.go_on(stamp.map(|stamp| (stamp, id, index)));
        Ok(true)
    }

    /// The thread whose event was next has this one now.
    #[inline]
    fn go_on(&mut self, next: Option<Next>) {
        self.current = match (next, self.others.peek_mut()) {
            (Some(next), Some(mut least)) if least.0 < next => {
                Some(mem::replace(&mut *least, Reverse(next)).0)
            }
            (None, Some(least)) => Some(PeekMut::pop(least).0),
            (next, _) => next,
        };
    }
}

impl Cursor {
    fn open(
        input: &mut (impl Read + Seek),
        place: ChunkPlace,
        mut payload: Vec<u8>,
    ) -> Result<Self, ReadError> {
        payload.resize(place.chunk.payload_len as usize, 0);
        input.seek(SeekFrom::Start(place.offset + HEADER_LEN as u64))?;
        input.read_exact(&mut payload)?;
        let mut coder = Coder::new(place.chunk.first_stamp);
        let mut rest = &payload[..];
        let next = coder
            .decode(place.chunk.thread, &mut rest)
            .map_err(|_| ReadError::event(place.offset, 1))?;
        let at = payload.len() - rest.len();
        if coder.stamp() != place.chunk.first_stamp {
            return Err(ReadError::event(place.offset, 1));
        }
        let left = place.chunk.events - 1;
        let mut cursor = Self { place, payload, at, coder, left, next, said: Vec::new() };
        cursor.hold_said();
        Ok(cursor)
    }

    /// Keeps what was said of the event that was decoded last.
    #[inline]
    fn hold_said(&mut self) {
        if let Some(mut said) = self.coder.take_said() {
            said.reverse();
            self.said = said;
        }
    }

    /// Decodes the next event; false at the end of the chunk.
    #[inline]
    fn advance(&mut self) -> Result<bool, ReadError> {
        let mut rest = &self.payload[self.at..];
        let number = self.place.chunk.events - self.left;
        if self.left == 0 {
            // A recorder may leave room at the end of a chunk, and, if it was killed, the rest of
            // an event whose code is not written.
            let ended = self.place.chunk.open || rest.iter().all(|byte| *byte == 0);
            let whole = ended && self.coder.stamp() == self.place.chunk.last_stamp;
            return if whole {
                Ok(false)
            } else {
                Err(ReadError::event(self.place.offset, number))
            };
        }
        self.coder
            .decode_into(self.place.chunk.thread, &mut rest, &mut self.next)
            .map_err(|_| ReadError::event(self.place.offset, number + 1))?;
        self.at = self.payload.len() - rest.len();
        self.left -= 1;
        self.hold_said();
        Ok(true)
    }
}
