//! Reads a trace as a stream of items in its total order.

use std::io::{self, Read, Seek};

use thiserror::Error;

use super::event::NO_ITEM;
use super::index::{Damage, Index};
use super::merge::Merge;
use super::state::State;
use super::tables::Init;
use super::unwritten::UnwrittenReads;
use super::{PATIENCE_SINCE, VERSION, header};
use crate::trace::{Dictionary, DictionaryError, End, Event, Item, Metadata, Op, Patience};

/// Why a file cannot be read at all.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum OpenError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("byte 0: not a racelog trace: the file does not start as one")]
    NotATrace,
    #[error(
        "byte 8: the trace has format version {version}, this build reads versions 1 to {VERSION}: \
         use the racelog that wrote it, or record anew"
    )]
    UnknownVersion { version: u16 },
    #[error(
        "byte {len}: nothing was recorded: {}: the program ended before that, or there was no room \
         for a trace",
        if *.len == 0 { "the file has no header" } else { "the file ends within its header" }
    )]
    NothingRecorded { len: u64 },
    #[error(
        "byte {len}: the file ends within its header: it is damaged, or not all of it was copied"
    )]
    CutHeader { len: u64 },
    #[error("byte 0: the file's header is damaged")]
    DamagedHeader,
}

/// Why reading stopped at an event.
///
/// Damage to a file is found when it is opened ([`Reader::damage`]); this is about chunks whose
/// checksum fits and whose contents do not, and about the disk.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ReadError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("byte {offset}: event {number} of the chunk cannot be read")]
    Event { offset: u64, number: u32 },
    #[error("event {number} of the trace: {error}")]
    Dictionary { number: u64, error: DictionaryError },
}

impl ReadError {
    pub(super) fn event(offset: u64, number: u32) -> Self {
        Self::Event { offset, number }
    }
}

/// Reads the binary format.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    version: u16,
    metadata: Metadata,
    dictionary: Dictionary,
    /// Initial values not yet yielded, the next one last.
    inits: Vec<Init>,
    merge: Merge,
    state: State,
    unwritten: UnwrittenReads,
    end: End,
    damage: Option<Damage>,
    events: u64,
    /// How many events were yielded.
    yielded: u64,
    /// How many were not, because others before them are lost.
    left_out: u64,
    failed: bool,
    /// The last item that was yielded.
    item: Item,
}

impl<R: Read + Seek> Reader<R> {
    /// Opens a trace and checks every chunk of it.
    pub fn open(mut input: R) -> Result<Self, OpenError> {
        input.rewind()?;
        let header = header::read(&mut input)?;
        let mut index = Index::scan(&mut input, header.len)?;
        index.inits.reverse();
        let (state, end) = (index.state(), index.end());
        Ok(Self {
            input,
            version: header.version,
            metadata: header.metadata,
            dictionary: index.dictionary,
            inits: index.inits,
            merge: Merge::new(index.threads),
            state,
            end,
            unwritten: UnwrittenReads::new(&index.poisoned),
            damage: index.damage,
            events: index.events,
            yielded: 0,
            left_out: 0,
            failed: false,
            item: NO_ITEM,
        })
    }

    /// The version of the format that the trace is in.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Whether the trace says how long threads would have waited. If not, it is read as if none
    /// would have waited for ever: who might have gone on by itself is stuck for sure nowhere.
    pub fn says_patience(&self) -> bool {
        self.version >= PATIENCE_SINCE
    }

    /// What the trace says of itself.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// All that the items refer to.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// How many events are written down, at most.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How the trace ends: cut off also where the file has lost its end.
    pub fn end(&self) -> End {
        self.end
    }

    /// How many events are known to be lost, once the trace has been read to its end: those that
    /// the recorder could not write down, and those in the file that may depend on them. There may
    /// be more.
    pub fn lost_events(&self) -> u64 {
        self.state.lost.saturating_add(self.left_out)
    }

    /// What is wrong with the file, if anything is. All items before that are still yielded.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// The next item; `None` after the last. After an error there are no more.
    pub fn next_item(&mut self) -> Result<Option<Item>, ReadError> {
        Ok(self.advance()?.then_some(self.item))
    }

    /// Goes to the next item, which [`Reader::item`] then is; false after the last. After an error
    /// there are no more. It does what [`Reader::next_item`] does, and moves less memory.
    pub fn advance(&mut self) -> Result<bool, ReadError> {
        if self.failed {
            return Ok(false);
        }
        let found = self.read_item();
        self.failed = found.is_err();
        found
    }

    /// The item that [`Reader::advance`] has gone to; it says nothing before.
    pub fn item(&self) -> &Item {
        &self.item
    }

    #[inline]
    fn read_item(&mut self) -> Result<bool, ReadError> {
        if !self.unwritten.is_active() {
            return self.read_written();
        }
        if let Some(read) = self.unwritten.next() {
            self.yielded += 1;
            self.item = read;
            return Ok(true);
        }
        while self.read_written()? {
            if self.unwritten.pass(&mut self.item) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[inline]
    fn read_written(&mut self) -> Result<bool, ReadError> {
        let stamp = self.next_stamp();
        if let Some(init) = self.inits.last().copied() {
            if stamp.is_none_or(|stamp| init.before <= stamp) {
                self.inits.pop();
                self.item = Item::Init { var: init.var, value: init.value };
                return Ok(true);
            }
        }
        if stamp.is_none() {
            self.count_left_out();
            return Ok(false);
        }
        if !self.merge.next(&mut self.input, &mut self.item)? {
            return Ok(false);
        }
        let says_patience = self.says_patience();
        let checked = match &mut self.item {
            Item::Init { value, .. } => self.dictionary.check_value(*value),
            Item::Event(event) => {
                self.yielded += 1;
                if !says_patience && event.op.has_patience() {
                    event.patience = Patience::Timed;
                }
                check(&self.dictionary, event)
            }
            Item::Request(event) => check(&self.dictionary, event),
            Item::Said { said, .. } => self.dictionary.check_said(said),
        };
        match checked {
            Ok(()) => Ok(true),
            Err(error) => Err(ReadError::Dictionary { number: self.yielded, error }),
        }
    }

    /// Reads what comes after the cut, to know how much that is.
    #[cold]
    fn count_left_out(&mut self) {
        let mut item = NO_ITEM;
        // What is wrong with events that are not used is no matter.
        while let Ok(true) = self.merge.next(&mut self.input, &mut item) {
            self.left_out += u64::from(matches!(item, Item::Event(_)));
        }
    }

    #[inline]
    fn next_stamp(&self) -> Option<u64> {
        self.merge.peek_stamp().filter(|stamp| *stamp < self.state.cut)
    }
}

/// Checks that all that the event refers to is there.
#[inline]
fn check(dictionary: &Dictionary, event: &Event) -> Result<(), DictionaryError> {
    if let Some(id) = event.location {
        if dictionary.get_location(id).is_none() {
            return Err(DictionaryError::Undefined { what: "location", number: id.get() });
        }
    }
    match event.op {
        Op::Read { value, .. }
        | Op::Write { value, .. }
        | Op::Load { value, .. }
        | Op::Store { value, .. }
        | Op::Exclusive { value, .. }
        | Op::CasFail { seen: value, .. } => dictionary.check_value(value),
        Op::Send { message, .. } | Op::Recv { message, .. } | Op::SendClosed { message, .. } => {
            dictionary.check_message(message)
        }
        Op::Rmw { old, new, .. } | Op::Cas { old, new, .. } => {
            dictionary.check_value(old)?;
            dictionary.check_value(new)
        }
        Op::Assert(text) | Op::Check { text: Some(text), .. } | Op::AtomicBegin(Some(text)) => {
            dictionary.check_string(text)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::Writer;
    use super::*;
    use crate::trace::{LocId, Location, Object, Patience, Stamp, ThreadId, Value, VarId};

    fn event(thread: u32, stamp: u64, op: Op) -> Event {
        Event {
            thread: ThreadId::new(thread),
            stamp: Stamp::new(stamp),
            op,
            location: Some(LocId::new(0)),
            recorded: true,
            patience: Patience::Forever,
        }
    }

    fn dictionary() -> Dictionary {
        let mut dictionary = Dictionary::new();
        let file = dictionary.string("main.rs").unwrap();
        dictionary.location(Location::Source { file, line: 1, column: Some(2) }).unwrap();
        dictionary.name(Object::Var(VarId::new(0)), "x").unwrap();
        dictionary
    }

    fn write(items: &[Item]) -> Vec<u8> {
        let dictionary = dictionary();
        let mut writer = Writer::new(Vec::new(), &Metadata::default()).unwrap();
        for item in items {
            writer.write(&dictionary, item).unwrap();
        }
        writer.finish(&dictionary, End::Clean).unwrap()
    }

    fn read(bytes: &[u8]) -> Vec<Item> {
        let mut reader = Reader::open(Cursor::new(bytes)).unwrap();
        std::iter::from_fn(|| reader.next_item().unwrap()).collect()
    }

    #[test]
    fn threads_are_merged_by_stamp_and_then_by_thread() {
        let write_x = Op::Write { var: VarId::new(0), value: Value::Nat(1) };
        let init = Item::Init { var: VarId::new(0), value: Value::Nat(9) };
        let first = [init, Item::Event(event(2, 1, Op::Branch)), Item::Event(event(2, 5, write_x))];
        let second = [Item::Event(event(1, 5, Op::Branch)), Item::Event(event(1, 6, write_x))];
        let bytes = write(&[first.as_slice(), &second].concat());
        assert_eq!(read(&bytes), [first[0], first[1], second[0], first[2], second[1]]);
    }

    #[test]
    fn many_chunks_of_many_threads_come_back_in_order() {
        let items: Vec<Item> = (1..200_000)
            .map(|n| {
                let value = Value::Nat(u128::from(n) << 40);
                let var = VarId::new((n % 97) as u32);
                Item::Event(event((n * n % 5) as u32, n, Op::Write { var, value }))
            })
            .collect();
        assert!(read(&write(&items)) == items);
    }

    #[test]
    fn a_stamp_that_does_not_rise_is_refused() {
        let dictionary = dictionary();
        let mut writer = Writer::new(Vec::new(), &Metadata::default()).unwrap();
        writer.write(&dictionary, &Item::Event(event(1, 5, Op::Branch))).unwrap();
        let error = writer.write(&dictionary, &Item::Event(event(1, 5, Op::Branch))).unwrap_err();
        assert_eq!(error.to_string(), "stamp 5 of thread 1 does not rise, its last was 5");
    }

    #[test]
    fn an_undefined_location_is_an_error_at_its_event() {
        let mut bad = event(1, 2, Op::Branch);
        bad.location = Some(LocId::new(7));
        let bytes = write(&[Item::Event(event(1, 1, Op::Branch)), Item::Event(bad)]);
        let mut reader = Reader::open(Cursor::new(bytes)).unwrap();
        assert!(matches!(reader.next_item(), Ok(Some(Item::Event(_)))));
        let error = reader.next_item().unwrap_err();
        assert_eq!(error.to_string(), "event 2 of the trace: location 7 is not defined");
        assert!(matches!(reader.next_item(), Ok(None)));
    }

    #[test]
    fn a_chunk_that_was_being_written_holds_what_was_written() {
        use super::super::chunk::{Chunk, Kind};
        use super::super::event::Coder;

        let mut first = event(3, 7, Op::Branch);
        first.location = None;
        let mut payload = Vec::new();
        Coder::new(7).encode(&first, &mut payload);
        // The code of the next event is not there yet, and what follows it is.
        payload.extend([0, 9, 9, 9]);
        let chunk = Chunk {
            kind: Kind::Events,
            open: true,
            thread: first.thread,
            payload_len: payload.len() as u32,
            events: 0,
            first_stamp: 7,
            last_stamp: 0,
        };
        let mut bytes = Vec::new();
        header::write(&mut bytes, &Metadata::default()).unwrap();
        bytes.extend(chunk.encode(&payload));
        bytes.extend(payload);
        // Room that nobody had come to use.
        bytes.extend([0; 5000]);
        let mut reader = Reader::open(Cursor::new(bytes)).unwrap();
        assert_eq!((reader.end(), reader.damage()), (End::CutOff, None));
        assert_eq!(reader.next_item().unwrap(), Some(Item::Event(first)));
        assert_eq!(reader.next_item().unwrap(), None);
    }

    /// A file of chunks, each of one thread's events with these stamps, and whether they are open.
    fn chunks(chunks: &[(bool, u32, std::ops::Range<u64>)]) -> Vec<u8> {
        use super::super::chunk::{Chunk, Kind};
        use super::super::event::Coder;

        let mut bytes = Vec::new();
        header::write(&mut bytes, &Metadata::default()).unwrap();
        for (open, thread, stamps) in chunks {
            let mut payload = Vec::new();
            let mut coder = Coder::new(stamps.start);
            for stamp in stamps.clone() {
                let event = Event { location: None, ..event(*thread, stamp, Op::Branch) };
                coder.encode(&event, &mut payload);
            }
            let chunk = Chunk {
                kind: Kind::Events,
                open: *open,
                thread: ThreadId::new(*thread),
                payload_len: payload.len() as u32,
                events: if *open { 0 } else { (stamps.end - stamps.start) as u32 },
                first_stamp: stamps.start,
                last_stamp: if *open { 0 } else { stamps.end - 1 },
            };
            bytes.extend(chunk.encode(&payload));
            bytes.extend(payload);
        }
        bytes
    }

    fn stamps(items: &[Item]) -> Vec<u64> {
        let stamp = |item: &Item| match item {
            Item::Event(event) => event.stamp.get(),
            Item::Init { .. } | Item::Request(_) | Item::Said { .. } => {
                unreachable!("there are only events")
            }
        };
        items.iter().map(stamp).collect()
    }

    #[test]
    fn a_chunk_that_is_written_over_and_over_comes_after_its_copies() {
        let newer = chunks(&[(true, 1, 7..9), (false, 1, 1..4), (false, 1, 4..7)]);
        assert_eq!(stamps(&read(&newer)), [1, 2, 3, 4, 5, 6, 7, 8]);
        let copied = chunks(&[(true, 1, 4..7), (false, 1, 1..4), (false, 1, 4..7)]);
        assert_eq!(stamps(&read(&copied)), [1, 2, 3, 4, 5, 6]);
        let half_copied = chunks(&[(true, 1, 4..7), (false, 1, 1..4), (true, 1, 4..5)]);
        assert_eq!(stamps(&read(&half_copied)), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_copy_that_is_being_made_holds_nothing() {
        use super::super::chunk::{Chunk, HEADER_LEN, Kind};

        let mut bytes = chunks(&[(false, 1, 1..4)]);
        let payload_len = 64;
        let copy = Chunk { first_stamp: 4, ..Chunk::without_events(Kind::Events, payload_len) };
        bytes.extend(copy.encode_as_copy());
        // An event that is cut off within.
        bytes.resize(bytes.len() + payload_len as usize, 0xff);
        assert_eq!(copy.encode_as_copy().len(), HEADER_LEN);
        assert_eq!(stamps(&read(&bytes)), [1, 2, 3]);
    }

    #[test]
    fn open_chunks_that_overlap_others_end_the_trace() {
        let bytes =
            chunks(&[(false, 1, 1..4), (true, 2, 3..9), (true, 1, 3..9), (false, 2, 9..10)]);
        let reader = Reader::open(Cursor::new(&bytes)).unwrap();
        let damage = reader.damage().unwrap();
        assert_eq!(
            damage.kind.to_owned(),
            super::super::DamageKind::Malformed("its stamps do not rise")
        );
        assert_eq!(damage.events_lost, 1);
        assert_eq!(reader.events(), 9);
        assert_eq!(stamps(&read(&bytes)), [1, 2, 3, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_file_without_its_end_is_cut_off_and_whole_before() {
        let items = [Item::Event(event(1, 1, Op::Branch)), Item::Event(event(1, 2, Op::Branch))];
        let bytes = write(&items);
        let end_len = super::super::chunk::HEADER_LEN + 11;
        let reader = Reader::open(Cursor::new(&bytes[..bytes.len() - end_len])).unwrap();
        assert_eq!((reader.end(), reader.damage()), (End::CutOff, None));
        let reader = Reader::open(Cursor::new(&bytes[..bytes.len() - 1])).unwrap();
        assert_eq!(reader.end(), End::CutOff);
        let damage = reader.damage().unwrap();
        assert_eq!(damage.kind, super::super::DamageKind::Cut);
        assert_eq!(damage.offset, (bytes.len() - end_len) as u64);
    }
}
