//! One thread's part of a trace.

use std::cell::{Cell, UnsafeCell};
use std::panic::Location as Caller;
use std::sync::Arc;

use super::file::{Full, Slot};
use super::session::Session;
use super::strings::publish;
use crate::trace::binary::chunk::{Chunk, HEADER_LEN, Kind};
use crate::trace::binary::event::Coder;
use crate::trace::binary::primitive::Out;
use crate::trace::{Event, LocId, Op, Stamp, ThreadId, Value, VarId};

/// Where in the program an operation was called; `None` where nobody called it.
pub(crate) type Here = Option<&'static Caller<'static>>;

/// A thread's first chunk is small, for there may be many threads that do little; then they grow.
const FIRST_CHUNK: usize = 4 * 1024;
const LARGEST_CHUNK: usize = 256 * 1024;

/// How many locations a thread remembers.
const REMEMBERED: usize = 256;

/// What a thread writes its events to. Only the thread itself uses it.
pub(crate) struct ThreadLog {
    session: Arc<Session>,
    thread: ThreadId,
    clock: Cell<u64>,
    recorded: Cell<bool>,
    chunk: Cell<Option<Slot>>,
    /// How far the chunk is written.
    at: Cell<usize>,
    events: Cell<u32>,
    first_stamp: Cell<u64>,
    next_size: Cell<usize>,
    coder: UnsafeCell<Coder>,
    /// Locations by the address of their `Caller`, in the places that their addresses hash to.
    locations: Box<[Cell<(usize, u32)>]>,
}

impl ThreadLog {
    /// A log whose events come after `clock`.
    pub(super) fn new(session: Arc<Session>, thread: ThreadId, clock: u64) -> Self {
        Self {
            session,
            thread,
            clock: Cell::new(clock),
            recorded: Cell::new(false),
            chunk: Cell::new(None),
            at: Cell::new(0),
            events: Cell::new(0),
            first_stamp: Cell::new(0),
            next_size: Cell::new(FIRST_CHUNK),
            coder: UnsafeCell::new(Coder::new(1)),
            locations: vec![Cell::new((0, 0)); REMEMBERED].into(),
        }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn session_number(&self) -> u32 {
        self.session.number()
    }

    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    pub(crate) fn clock(&self) -> u64 {
        self.clock.get()
    }

    /// The next stamp for an operation on an object with this clock.
    pub(crate) fn after(&self, clock: u64) -> u64 {
        self.clock.get().max(clock) + 1
    }

    /// The stamp was taken.
    pub(crate) fn advance(&self, stamp: u64) {
        self.clock.set(stamp);
    }

    /// Takes the next stamp for an operation that is exclusive on its object, which has this clock.
    pub(crate) fn tick(&self, clock: u64) -> u64 {
        let stamp = self.after(clock);
        self.advance(stamp);
        stamp
    }

    /// Records an event of this thread alone.
    pub(crate) fn emit_alone(&self, op: Op, here: Here) {
        self.emit(self.tick(0), op, here);
    }

    /// Records an event.
    pub(crate) fn emit(&self, stamp: u64, op: Op, here: Here) {
        self.write(stamp, op, here, self.recorded.get());
    }

    /// Records an event that the thread's control flow depends on, whatever code it is in.
    pub(crate) fn emit_decision(&self, stamp: u64, op: Op, here: Here) {
        self.write(stamp, op, here, false);
    }

    /// Records the initial value of a variable that is used for the first time.
    pub(crate) fn emit_init(&self, stamp: u64, var: VarId, value: Value) {
        self.append(stamp, None, |coder, out| {
            coder.encode_init(Stamp::new(stamp), var, value, out);
        });
    }

    /// Records that a checked property held.
    pub(crate) fn emit_assert(&self, text: &str, here: Here) {
        let stamp = self.tick(0);
        match self.session.text(text) {
            Ok((text, offset)) => {
                // The chunk of the event must come after that of the text.
                if self.chunk.get().is_some_and(|open| open.offset < offset) {
                    self.seal();
                }
                self.emit(stamp, Op::Assert(text), here);
            }
            Err(_) => self.session.lose(stamp),
        }
    }

    fn write(&self, stamp: u64, op: Op, here: Here, recorded: bool) {
        if self.session.is_stopped() {
            return self.session.lose(stamp);
        }
        let located = here.map(|caller| self.locate(caller)).transpose();
        let Ok(located) = located else {
            return self.session.lose(stamp);
        };
        let location = located.map(|(id, _)| id);
        let event = Event { thread: self.thread, stamp: Stamp::new(stamp), op, location, recorded };
        let defined_at = located.and_then(|(_, offset)| offset);
        self.append(stamp, defined_at, |coder, out| coder.encode(&event, out));
    }

    /// The location's id and, if it is new to this thread, the offset of the chunk that defines it.
    fn locate(&self, caller: &'static Caller<'static>) -> Result<(LocId, Option<u64>), Full> {
        let address = std::ptr::from_ref(caller).addr();
        let place = &self.locations[(address >> 3) % REMEMBERED];
        let (known, id) = place.get();
        if known == address {
            return Ok((LocId::new(id), None));
        }
        let (id, offset) = self.session.locate(caller)?;
        place.set((address, id.get()));
        Ok((id, Some(offset)))
    }

    /// Appends what `encode` writes. It goes to a chunk that comes after `defined_at` in the file.
    fn append(
        &self,
        stamp: u64,
        defined_at: Option<u64>,
        encode: impl Fn(&mut Coder, &mut Scratch),
    ) {
        let mut chunk = self.chunk.get();
        if let (Some(open), Some(offset)) = (chunk, defined_at)
            && open.offset < offset
        {
            self.seal();
            chunk = None;
        }
        if let Some(open) = chunk
            && self.try_append(open, &encode)
        {
            return;
        }
        match self.open_chunk(stamp) {
            Ok(open) => {
                let fits = self.try_append(open, &encode);
                debug_assert!(fits, "an event fits into an empty chunk");
            }
            Err(full) => {
                self.session.stop(&full);
                self.session.lose(stamp);
            }
        }
    }

    fn try_append(&self, chunk: Slot, encode: &impl Fn(&mut Coder, &mut Scratch)) -> bool {
        // SAFETY: only this thread uses its log, and nothing below calls back into it.
        let coder = unsafe { &mut *self.coder.get() };
        let before = coder.clone();
        let mut scratch = Scratch::new();
        encode(coder, &mut scratch);
        let bytes = &scratch.bytes[..scratch.len];
        let at = self.at.get();
        if at + bytes.len() > chunk.len {
            *coder = before;
            return false;
        }
        publish(chunk, at, bytes);
        self.at.set(at + bytes.len());
        self.events.set(self.events.get() + 1);
        true
    }

    /// Seals the chunk that is full and opens the next, whose first event has this stamp.
    fn open_chunk(&self, first_stamp: u64) -> Result<Slot, Full> {
        self.seal();
        let thread = self.thread;
        let size = self.next_size.get();
        self.next_size.set((size * 4).min(LARGEST_CHUNK));
        let slot = self.session.file().allocate(size, |slot| {
            let chunk = Chunk {
                kind: Kind::Events,
                open: true,
                thread,
                payload_len: (slot.len - HEADER_LEN) as u32,
                events: 0,
                first_stamp,
                last_stamp: 0,
            };
            publish(slot, 0, &chunk.encode(&[]));
        })?;
        self.chunk.set(Some(slot));
        self.at.set(HEADER_LEN);
        self.events.set(0);
        self.first_stamp.set(first_stamp);
        // SAFETY: only this thread uses its log.
        unsafe { *self.coder.get() = Coder::new(first_stamp) };
        Ok(slot)
    }

    /// Marks the open chunk as complete. The next event opens another.
    pub(super) fn seal(&self) {
        let Some(slot) = self.chunk.take() else { return };
        // SAFETY: only this thread uses its log.
        let last_stamp = unsafe { (*self.coder.get()).stamp() };
        let (thread, events) = (self.thread, self.events.get());
        let first_stamp = self.first_stamp.get();
        if events > 0 {
            seal_chunk(slot, |payload_len| Chunk {
                kind: Kind::Events,
                open: false,
                thread,
                payload_len,
                events,
                first_stamp,
                last_stamp,
            });
        }
    }
}

/// Gives a chunk its final header. Whoever is killed in the middle of that leaves a header that
/// does not fit its checksum, so it is as short as can be.
pub(super) fn seal_chunk(slot: Slot, chunk: impl FnOnce(u32) -> Chunk) {
    // SAFETY: the slot is ours, and all of it is mapped.
    let bytes = unsafe { std::slice::from_raw_parts_mut(slot.start, slot.len) };
    let (header, payload) = bytes.split_at_mut(HEADER_LEN);
    let sealed = chunk(payload.len() as u32).encode(payload);
    header.copy_from_slice(&sealed);
}

/// Room for one event.
struct Scratch {
    bytes: [u8; 160],
    len: usize,
}

impl Scratch {
    const fn new() -> Self {
        Self { bytes: [0; 160], len: 0 }
    }
}

impl Out for Scratch {
    #[inline]
    fn put(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }
}
