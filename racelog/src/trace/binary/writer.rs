//! Writes a trace, chunk by chunk, in bounded memory.

use std::io::{self, Write};

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::chunk::{Chunk, Kind, MAX_PAYLOAD};
use super::event::Coder;
use super::header;
use super::state::State;
use super::tables::{self, Init};
use crate::trace::{Dictionary, End, Event, Item, Metadata, Said, Stamp, ThreadId, Value, VarId};

/// A chunk is written out when it has grown to this.
const CHUNK_BYTES: usize = 64 * 1024;

/// All threads' unwritten events together stay below this, however many threads there are.
const BUFFERED_BYTES: usize = 16 * 1024 * 1024;

/// Why an event could not be written.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum WriteError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("stamp {} of thread {} does not rise, its last was {}", stamp.get(), thread.get(), last.get())]
    StampOrder { thread: ThreadId, stamp: Stamp, last: Stamp },
}

/// Writes the binary format.
///
/// Call [`Writer::finish`] at the end: a file without its last chunk counts as cut off.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// How large a chunk grows.
    chunk_size: usize,
    threads: FxHashMap<ThreadId, Pending>,
    buffered: usize,
    /// How many entries of the dictionary are in the file.
    defined: usize,
    inits: Vec<Init>,
    /// The largest stamp so far.
    latest: u64,
    /// How many events there are, with the requests among them.
    events: u64,
    /// How many events are known to be missing.
    lost: u64,
}

/// Events of one thread that are not yet in the file.
#[derive(Debug, Default)]
struct Pending {
    /// The last stamp of the thread, whether still here or already in the file.
    last_stamp: u64,
    first_stamp: u64,
    coder: Coder,
    events: u32,
    payload: Vec<u8>,
    /// What is said of the next event.
    said: Vec<Said>,
}

impl<W: Write> Writer<W> {
    /// Starts a file.
    pub fn new(out: W, metadata: &Metadata) -> io::Result<Self> {
        Self::with_chunk_size(out, metadata, CHUNK_BYTES)
    }

    /// Starts a file whose chunks have about this many bytes. Smaller ones make a larger file that
    /// loses less to damage.
    pub fn with_chunk_size(mut out: W, metadata: &Metadata, chunk_size: usize) -> io::Result<Self> {
        header::write(&mut out, metadata)?;
        Ok(Self {
            out,
            chunk_size: chunk_size.min(CHUNK_BYTES),
            threads: FxHashMap::default(),
            buffered: 0,
            defined: 0,
            inits: Vec::new(),
            latest: 0,
            events: 0,
            lost: 0,
        })
    }

    /// Writes an item. `dictionary` holds all that the item refers to; it may have grown since the
    /// last call, and must not have changed otherwise.
    pub fn write(&mut self, dictionary: &Dictionary, item: &Item) -> Result<(), WriteError> {
        match item {
            Item::Init { var, value } => {
                self.init(*var, *value);
                Ok(())
            }
            Item::Event(event) => self.event(dictionary, event, true),
            Item::Request(event) => self.event(dictionary, event, false),
            Item::Said { thread, said } => {
                self.threads.entry(*thread).or_default().said.push(*said);
                Ok(())
            }
        }
    }

    fn init(&mut self, var: VarId, value: Value) {
        self.inits.push(Init { var, value, before: self.latest.saturating_add(1) });
    }

    /// Writes an event, or a request of one.
    fn event(
        &mut self,
        dictionary: &Dictionary,
        event: &Event,
        happened: bool,
    ) -> Result<(), WriteError> {
        let stamp = event.stamp.get();
        let pending = self.threads.entry(event.thread).or_default();
        if stamp <= pending.last_stamp {
            return Err(WriteError::StampOrder {
                thread: event.thread,
                stamp: event.stamp,
                last: Stamp::new(pending.last_stamp),
            });
        }
        if pending.events == 0 {
            pending.first_stamp = stamp;
            pending.coder = Coder::new(stamp);
        }
        let before = pending.payload.len();
        if happened && !pending.said.is_empty() {
            pending.coder.encode_said(&pending.said, &mut pending.payload);
            pending.said.clear();
        }
        match happened {
            true => pending.coder.encode(event, &mut pending.payload),
            false => pending.coder.encode_request(event, &mut pending.payload),
        }
        pending.last_stamp = stamp;
        pending.events += 1;
        self.buffered += pending.payload.len() - before;
        self.latest = self.latest.max(stamp);
        self.events += 1;
        if pending.payload.len() >= self.chunk_size {
            self.flush_thread(dictionary, event.thread)?;
        } else if self.buffered >= BUFFERED_BYTES {
            self.flush_all(dictionary)?;
        }
        Ok(())
    }

    /// So many events are known to be missing in the trace.
    pub fn set_lost_events(&mut self, lost: u64) {
        self.lost = lost;
    }

    /// Writes all that is left, and the end.
    pub fn finish(mut self, dictionary: &Dictionary, end: End) -> io::Result<W> {
        self.flush_all(dictionary)?;
        self.flush_tables(dictionary)?;
        if self.lost > 0 {
            let state = State { lost: self.lost, full: end == End::Full, ..State::WHOLE };
            // Nobody will change it in place, so it may stand anywhere.
            self.out.write_all(&state.encode(0))?;
        }
        let payload = tables::encode_end(end, Some(self.events));
        self.put_chunk(Chunk::without_events(Kind::End, payload.len() as u32), &payload)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn flush_all(&mut self, dictionary: &Dictionary) -> io::Result<()> {
        let mut threads: Vec<ThreadId> = self.threads.keys().copied().collect();
        // In order, so that the same events always make the same file.
        threads.sort_unstable();
        for thread in threads {
            self.flush_thread(dictionary, thread)?;
        }
        Ok(())
    }

    fn flush_thread(&mut self, dictionary: &Dictionary, thread: ThreadId) -> io::Result<()> {
        let Some(pending) = self.threads.get_mut(&thread).filter(|pending| pending.events > 0)
        else {
            return Ok(());
        };
        let payload = std::mem::take(&mut pending.payload);
        let chunk = Chunk {
            kind: Kind::Events,
            open: false,
            thread,
            payload_len: payload.len() as u32,
            events: std::mem::take(&mut pending.events),
            first_stamp: pending.first_stamp,
            last_stamp: pending.last_stamp,
        };
        self.buffered -= payload.len();
        // What the events refer to has to stand before them.
        self.flush_tables(dictionary)?;
        self.put_chunk(chunk, &payload)
    }

    fn flush_tables(&mut self, dictionary: &Dictionary) -> io::Result<()> {
        let mut payload = Vec::new();
        for definition in &dictionary.definitions()[self.defined..] {
            tables::put_definition(&mut payload, definition);
            if payload.len() >= self.chunk_size {
                self.put_tables(&mut payload)?;
            }
        }
        self.defined = dictionary.definitions().len();
        for init in std::mem::take(&mut self.inits) {
            tables::put_init(&mut payload, init);
            if payload.len() >= self.chunk_size {
                self.put_tables(&mut payload)?;
            }
        }
        if payload.is_empty() { Ok(()) } else { self.put_tables(&mut payload) }
    }

    fn put_tables(&mut self, payload: &mut Vec<u8>) -> io::Result<()> {
        self.put_chunk(Chunk::without_events(Kind::Tables, payload.len() as u32), payload)?;
        payload.clear();
        Ok(())
    }

    fn put_chunk(&mut self, chunk: Chunk, payload: &[u8]) -> io::Result<()> {
        if chunk.payload_len > MAX_PAYLOAD {
            return Err(io::Error::other("a string of the trace is too long"));
        }
        self.out.write_all(&chunk.encode(payload))?;
        self.out.write_all(payload)
    }
}
