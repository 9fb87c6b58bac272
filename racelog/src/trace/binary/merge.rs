//! Merges the threads' events into the trace's total order, one chunk a running thread in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Seek, SeekFrom};

use rustc_hash::FxHashMap;

use super::chunk::HEADER_LEN;
use super::event::Coder;
use super::index::Place;
use super::reader::ReadError;
use crate::trace::{Item, ThreadId};

/// A k-way merge by (stamp, thread).
#[derive(Debug)]
pub(super) struct Merge {
    /// Each thread that has events left, by the stamp of the next one.
    queue: BinaryHeap<Reverse<(u64, ThreadId)>>,
    threads: FxHashMap<ThreadId, Thread>,
    /// Buffers of chunks that were read to their ends.
    spare: Vec<Vec<u8>>,
}

/// One thread's chunks.
#[derive(Debug)]
struct Thread {
    /// The chunks not yet opened, the next one last.
    places: Vec<Place>,
    /// The open chunk.
    cursor: Option<Cursor>,
}

/// A chunk that is being read.
#[derive(Debug)]
struct Cursor {
    place: Place,
    payload: Vec<u8>,
    at: usize,
    coder: Coder,
    /// How many events are still to be decoded.
    left: u32,
    next: Item,
}

impl Merge {
    pub(super) fn new(threads: FxHashMap<ThreadId, Vec<Place>>) -> Self {
        let queue = threads
            .iter()
            .filter_map(|(thread, places)| {
                Some(Reverse((places.first()?.chunk.first_stamp, *thread)))
            })
            .collect();
        let threads = threads
            .into_iter()
            .map(|(thread, mut places)| {
                places.reverse();
                (thread, Thread { places, cursor: None })
            })
            .collect();
        Self { queue, threads, spare: Vec::new() }
    }

    /// The stamp of the next event.
    pub(super) fn peek_stamp(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse((stamp, _))| *stamp)
    }

    /// The next event or initial value.
    pub(super) fn next(
        &mut self,
        input: &mut (impl Read + Seek),
    ) -> Result<Option<Item>, ReadError> {
        let Some(mut top) = self.queue.peek_mut() else { return Ok(None) };
        let Reverse((_, id)) = *top;
        let thread = self.threads.get_mut(&id).expect("every queued thread is known");
        let mut cursor = match thread.cursor.take() {
            Some(cursor) => cursor,
            None => {
                let place = thread.places.pop().expect("a queued thread has events left");
                Cursor::open(input, place, self.spare.pop().unwrap_or_default())?
            }
        };
        let item = cursor.next;
        if cursor.advance()? {
            top.0.0 = cursor.coder.stamp();
            thread.cursor = Some(cursor);
        } else {
            self.spare.push(cursor.payload);
            if let Some(place) = thread.places.last() {
                top.0.0 = place.chunk.first_stamp;
            } else {
                std::collections::binary_heap::PeekMut::pop(top);
                self.threads.remove(&id);
            }
        }
        Ok(Some(item))
    }
}

impl Cursor {
    fn open(
        input: &mut (impl Read + Seek),
        place: Place,
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
        Ok(Self { place, payload, at, coder, left: place.chunk.events - 1, next })
    }

    /// Decodes the next event; false at the end of the chunk.
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
        self.next = self
            .coder
            .decode(self.place.chunk.thread, &mut rest)
            .map_err(|_| ReadError::event(self.place.offset, number + 1))?;
        self.at = self.payload.len() - rest.len();
        self.left -= 1;
        Ok(true)
    }
}
