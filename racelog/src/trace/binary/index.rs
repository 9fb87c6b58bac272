//! The first pass over a file: which chunks are whole, and what they say before any event is read.
//!
//! Chunks are checked in file order, and the first that is not whole ends the trace: what follows
//! may depend on what is lost. So whatever the damage, the events before it are exactly those of
//! the chunks before it.
//!
//! Chunks that were being written count last. A recorder writes the same chunk over and over again,
//! and a copy of it to the end of the file whenever it is full: what is in it then is newer than
//! all copies, or it is in the last of them.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use rustc_hash::FxHashMap;

use super::chunk::{self, Chunk, HEADER_LEN, Kind, NotAChunk};
use super::event::Coder;
use super::header::{is_all_zeros, read_up_to};
use super::state::State;
use super::tables::{self, Init, PoisonFlag, Record};
use crate::trace::{Dictionary, DictionaryError, End, ThreadId};

/// Where a file is damaged, and what that costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The byte at which the first chunk that is not whole starts.
    pub offset: u64,
    /// What is wrong there.
    pub kind: DamageKind,
    /// How many bytes, from there to the end of the file, were not used.
    pub bytes_lost: u64,
    /// How many events the headers after that place still speak of; there may have been more.
    pub events_lost: u64,
}

/// What is wrong with a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DamageKind {
    /// The file ends within the chunk.
    Cut,
    /// There is no chunk here.
    NotAChunk,
    /// The chunk is of a kind that this version does not know.
    UnknownKind,
    /// The checksum does not fit.
    Checksum,
    /// The checksum fits, but not what the chunk says: its writer is to blame.
    Malformed(&'static str),
    /// The checksum fits, but not the tables in the chunk: their writer is to blame.
    Dictionary(DictionaryError),
    /// The file goes on after its end.
    AfterEnd,
    /// The end speaks of another number of events than the file holds.
    EventCount {
        /// What the end says.
        stated: u64,
        /// What the file holds.
        found: u64,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        match &self.kind {
            DamageKind::Cut => write!(f, "the file ends in the middle of a chunk")?,
            DamageKind::NotAChunk => write!(f, "no chunk starts here")?,
            DamageKind::UnknownKind => write!(f, "a chunk of unknown kind")?,
            DamageKind::Checksum => write!(f, "the checksum of the chunk does not fit")?,
            DamageKind::Malformed(what) => write!(f, "the chunk is malformed: {what}")?,
            DamageKind::Dictionary(error) => write!(f, "the chunk is malformed: {error}")?,
            DamageKind::AfterEnd => write!(f, "the file goes on after the end of the trace")?,
            DamageKind::EventCount { stated, found } => {
                write!(f, "the end speaks of {stated} events, the file holds {found}")?;
            }
        }
        write!(f, "; {} bytes from here on were not used", self.bytes_lost)?;
        if self.events_lost > 0 {
            write!(f, ", {} or more events among them", self.events_lost)?;
        }
        Ok(())
    }
}

const NOT_RISING: &str = "its stamps do not rise";

/// Where the events of a chunk are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChunkPlace {
    /// The byte at which the chunk starts.
    pub(super) offset: u64,
    pub(super) chunk: Chunk,
}

/// What the first pass found.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Each thread's chunks, in order.
    pub(super) threads: FxHashMap<ThreadId, Vec<ChunkPlace>>,
    /// Chunks that were being written, in file order, while there may be others to come.
    open: Vec<ChunkPlace>,
    pub(super) dictionary: Dictionary,
    /// Initial values, by their place among the events.
    pub(super) inits: Vec<Init>,
    /// The locks that are poisoned somewhere.
    pub(super) poisoned: Vec<PoisonFlag>,
    pub(super) events: u64,
    /// `None` while no end was seen.
    end: Option<End>,
    /// What the recorder says is lost.
    state: Option<State>,
    /// What the end says: the stamp from which on events are not to be trusted.
    end_cut: Option<u64>,
    pub(super) damage: Option<Damage>,
}

impl Index {
    /// Reads all chunks of `input`, of which the first starts at byte `offset`.
    pub(super) fn scan(input: &mut (impl Read + Seek), offset: u64) -> io::Result<Self> {
        let len = input.seek(SeekFrom::End(0))?;
        let mut index = Self::scan_until(input, offset, len, len)?;
        while let Err(place) = index.take_open() {
            // No recorder leaves this. What came after cannot be trusted, and is in the index.
            index = Self::scan_until(input, offset, place.offset, len)?;
            index.lose(input, place.offset, len, DamageKind::Malformed(NOT_RISING))?;
        }
        index.inits.sort_by_key(|init| init.before);
        Ok(index)
    }

    /// Reads the chunks that start before byte `end`.
    fn scan_until(
        input: &mut (impl Read + Seek),
        mut offset: u64,
        end: u64,
        len: u64,
    ) -> io::Result<Self> {
        input.seek(SeekFrom::Start(offset))?;
        let mut index = Self::default();
        let mut payload = Vec::new();
        while offset < end {
            match index.scan_chunk(input, offset, &mut payload)? {
                Ok(next) => offset = next,
                // A recorder that was killed leaves room that it had not come to use.
                Err(DamageKind::NotAChunk | DamageKind::AfterEnd) if is_unused(input, offset)? => {
                    break;
                }
                Err(kind) => {
                    index.lose(input, offset, len, kind)?;
                    break;
                }
            }
        }
        Ok(index)
    }

    /// The file is damaged at `offset`.
    fn lose(
        &mut self,
        input: &mut (impl Read + Seek),
        offset: u64,
        len: u64,
        kind: DamageKind,
    ) -> io::Result<()> {
        let events_lost = count_events(input, offset, len)?;
        self.damage = Some(Damage { offset, kind, bytes_lost: len - offset, events_lost });
        Ok(())
    }

    /// Takes the chunks that were being written, now that all others are known; says which one fits
    /// in nowhere.
    fn take_open(&mut self) -> Result<(), ChunkPlace> {
        for place in std::mem::take(&mut self.open) {
            let places = self.threads.entry(place.chunk.thread).or_default();
            let last = places.last().map_or(0, |last| last.chunk.last_stamp);
            if place.chunk.first_stamp > last {
                places.push(place);
                self.events += u64::from(place.chunk.events);
            } else if place.chunk.last_stamp > last {
                return Err(place);
            }
        }
        Ok(())
    }

    /// Reads the chunk at `offset` and says where the next one starts, or why it is not whole.
    fn scan_chunk(
        &mut self,
        input: &mut impl Read,
        offset: u64,
        payload: &mut Vec<u8>,
    ) -> io::Result<Result<u64, DamageKind>> {
        if self.end.is_some() {
            return Ok(Err(DamageKind::AfterEnd));
        }
        let mut header = [0; HEADER_LEN];
        let got = read_up_to(input, &mut header)?;
        if got < HEADER_LEN {
            return Ok(Err(DamageKind::Cut));
        }
        let chunk = match Chunk::decode(&header) {
            Ok(chunk) => chunk,
            Err(NotAChunk::Magic) => return Ok(Err(DamageKind::NotAChunk)),
            Err(NotAChunk::Kind) => return Ok(Err(DamageKind::UnknownKind)),
            Err(NotAChunk::TooLong) => return Ok(Err(DamageKind::Checksum)),
        };
        payload.resize(chunk.payload_len as usize, 0);
        if read_up_to(input, payload)? < payload.len() {
            return Ok(Err(DamageKind::Cut));
        }
        if !chunk::is_intact(&header, payload) {
            return Ok(Err(DamageKind::Checksum));
        }
        let place = ChunkPlace { offset, chunk };
        let taken = match chunk.kind {
            _ if chunk::is_unfinished_copy(&header) => Ok(()),
            Kind::Events => self.take_events(place, payload),
            Kind::Tables => self.take_tables(payload),
            Kind::End => self.take_end(payload),
            Kind::State => self.take_state(payload),
        };
        Ok(taken.map(|()| offset + HEADER_LEN as u64 + u64::from(chunk.payload_len)))
    }

    fn take_events(&mut self, mut place: ChunkPlace, payload: &[u8]) -> Result<(), DamageKind> {
        if place.chunk.open {
            count_open(&mut place.chunk, payload)?;
            if place.chunk.events == 0 {
                return Ok(());
            }
        }
        let Chunk { open, thread, events, first_stamp, last_stamp, .. } = place.chunk;
        if events == 0 || first_stamp == 0 || last_stamp < first_stamp {
            return Err(DamageKind::Malformed(NOT_RISING));
        }
        if open {
            self.open.push(place);
            return Ok(());
        }
        let places = self.threads.entry(thread).or_default();
        if places.last().is_some_and(|last| last.chunk.last_stamp >= first_stamp) {
            return Err(DamageKind::Malformed(NOT_RISING));
        }
        places.push(place);
        self.events += u64::from(events);
        Ok(())
    }

    fn take_tables(&mut self, mut payload: &[u8]) -> Result<(), DamageKind> {
        // A recorder may leave room at the end of a chunk.
        while payload.first().is_some_and(|tag| *tag != 0) {
            let record = tables::take_record(&mut payload)
                .map_err(|_| DamageKind::Malformed("a table entry that cannot be read"))?;
            match record {
                Record::Definition(definition) => {
                    self.dictionary.define(definition).map_err(DamageKind::Dictionary)?;
                }
                Record::Init(init) => {
                    self.dictionary.check_value(init.value).map_err(DamageKind::Dictionary)?;
                    self.inits.push(init);
                }
                Record::PoisonFlag(flag) => self.poisoned.push(flag),
            }
        }
        Ok(())
    }

    fn take_end(&mut self, payload: &[u8]) -> Result<(), DamageKind> {
        let (end, stated, cut) = tables::decode_end(payload)
            .map_err(|_| DamageKind::Malformed("an end that cannot be read"))?;
        if let Some(stated) = stated.filter(|stated| *stated != self.events) {
            return Err(DamageKind::EventCount { stated, found: self.events });
        }
        self.end = Some(end);
        self.end_cut = Some(cut);
        Ok(())
    }

    fn take_state(&mut self, payload: &[u8]) -> Result<(), DamageKind> {
        let state = State::decode(payload)
            .map_err(|_| DamageKind::Malformed("a state that cannot be read"))?;
        match self.state.replace(state) {
            None => Ok(()),
            Some(_) => Err(DamageKind::Malformed("a second state")),
        }
    }

    /// What is lost, as far as the recorder got to say it.
    pub(super) fn state(&self) -> State {
        let state = self.state.unwrap_or(State::WHOLE);
        State { cut: self.end_cut.unwrap_or(u64::MAX).min(state.cut), ..state }
    }

    /// How the trace ends.
    pub(super) fn end(&self) -> End {
        match self.end {
            Some(end) if self.damage.is_none() => end,
            _ if self.state().full => End::Full,
            _ => End::CutOff,
        }
    }
}

/// Finds out how far a chunk that was being written got.
fn count_open(chunk: &mut Chunk, mut payload: &[u8]) -> Result<(), DamageKind> {
    let mut coder = Coder::new(chunk.first_stamp);
    while payload.first().is_some_and(|code| *code != 0) {
        coder
            .decode(chunk.thread, &mut payload)
            .map_err(|_| DamageKind::Malformed("an event that cannot be read"))?;
        chunk.events += 1;
        chunk.last_stamp = coder.stamp();
    }
    Ok(())
}

/// Whether there are only zeros from here on.
fn is_unused(input: &mut (impl Read + Seek), offset: u64) -> io::Result<bool> {
    input.seek(SeekFrom::Start(offset))?;
    is_all_zeros(input)
}

/// Counts the events that whole-looking headers from `offset` on speak of.
fn count_events(input: &mut (impl Read + Seek), mut offset: u64, len: u64) -> io::Result<u64> {
    let mut events = 0;
    while offset < len {
        input.seek(SeekFrom::Start(offset))?;
        let mut header = [0; HEADER_LEN];
        if read_up_to(input, &mut header)? < HEADER_LEN {
            break;
        }
        let Ok(chunk) = Chunk::decode(&header) else { break };
        // No event is shorter than two bytes: a larger count is part of the damage.
        events += u64::from(chunk.events.min(chunk.payload_len / 2));
        offset += HEADER_LEN as u64 + u64::from(chunk.payload_len);
    }
    Ok(events)
}
