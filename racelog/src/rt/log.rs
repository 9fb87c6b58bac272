//! One thread's part of a trace.

use std::cell::{Cell, UnsafeCell};
use std::panic::Location as Caller;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::file::{Full, Slot};
use super::raw::{Held, Open};
use super::session::Session;
use super::strings::publish;
use crate::sched;
use crate::trace::binary::chunk::{Chunk, HEADER_LEN, Kind, SEALING, STATE_AT};
use crate::trace::binary::code::{self, code_of};
use crate::trace::binary::event::{Coder, LONGEST};
use crate::trace::binary::primitive::Out;
use crate::trace::{LocId, Op, Stamp, ThreadId, Value, VarId};

/// Where in the program an operation was called; `None` where nobody called it.
pub(crate) type Here = Option<&'static Caller<'static>>;

/// Which events are of code that records all its branches.
///
/// Instrumented code says so for the extent of one operation, which runs no code of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// None: whatever happens, it is done by code that was not instrumented.
    Nothing,
    /// Those of the operation of ours that is called at this place.
    At(&'static Caller<'static>),
    /// The access of bare memory that the recorder itself is writing down.
    Bare,
}

/// A thread's first chunk is small, for there may be many threads that do little; then they grow.
const FIRST_CHUNK: usize = 4 * 1024;
const LARGEST_CHUNK: usize = 256 * 1024;

/// How many locations a thread remembers.
const REMEMBERED: usize = 256;

/// What a thread writes its events to. Only the thread itself uses it.
pub(crate) struct ThreadLog {
    session: Arc<Session>,
    session_number: u32,
    thread: ThreadId,
    clock: Cell<u64>,
    /// Which event, if any, is one of instrumented code. All others are of code that does not
    /// record its branches.
    expected: Cell<Expected>,
    /// Whether something was read that no branch has followed yet.
    pending: Cell<bool>,
    /// Locks the bare memory that the thread is about to access.
    pub(super) held: Cell<Option<Held>>,
    /// The access of bare memory that the thread is in the middle of, if its event is not written
    /// yet.
    pub(super) open_access: Cell<Option<Open>>,
    chunk: Cell<Option<Slot>>,
    /// How far the chunk is written.
    at: Cell<usize>,
    events: Cell<u32>,
    first_stamp: Cell<u64>,
    next_size: Cell<usize>,
    coder: UnsafeCell<Coder>,
    /// Locations by the address of their `Caller`, in the places that their addresses hash to.
    locations: Box<[Cell<(usize, u32)>; REMEMBERED]>,
    /// Whether a replay compares the events with what it expects.
    watched: bool,
}

impl ThreadLog {
    /// A log whose events come after `clock`.
    pub(super) fn new(session: Arc<Session>, thread: ThreadId, clock: u64) -> Self {
        Self {
            session_number: session.number(),
            session,
            thread,
            clock: Cell::new(clock),
            expected: Cell::new(Expected::Nothing),
            pending: Cell::new(false),
            held: Cell::new(None),
            open_access: Cell::new(None),
            chunk: Cell::new(None),
            at: Cell::new(0),
            events: Cell::new(0),
            first_stamp: Cell::new(0),
            next_size: Cell::new(FIRST_CHUNK),
            coder: UnsafeCell::new(Coder::new(1)),
            locations: Box::new([const { Cell::new((0, 0)) }; REMEMBERED]),
            watched: sched::is_replay(),
        }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    #[inline]
    pub(crate) fn session_number(&self) -> u32 {
        self.session_number
    }

    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    #[inline]
    pub(crate) fn clock(&self) -> u64 {
        self.clock.get()
    }

    /// The next stamp for an operation on an object with this clock.
    #[inline]
    pub(crate) fn after(&self, clock: u64) -> u64 {
        // A branch that is still owed comes first, and needs a stamp of its own.
        let owed = u64::from(self.pending.get());
        self.clock.get().max(clock).max(self.session.floor()) + 1 + owed
    }

    /// The stamp was taken.
    #[inline]
    pub(crate) fn advance(&self, stamp: u64) {
        self.clock.set(stamp);
    }

    /// Takes the next stamp for an operation that is exclusive on its object, which has this clock.
    #[inline]
    pub(crate) fn tick(&self, clock: u64) -> u64 {
        let stamp = self.after(clock);
        self.advance(stamp);
        stamp
    }

    /// Records an event of this thread alone.
    #[inline(always)]
    pub(crate) fn emit_alone(&self, op: Op, here: Here) {
        self.emit(self.tick(0), op, here);
    }

    /// Records an event.
    #[inline(always)]
    pub(crate) fn emit(&self, stamp: u64, op: Op, here: Here) {
        if self.is_expected(here) {
            if op.learns() {
                self.pending.set(true);
            }
            self.write(stamp, op, here, true);
        } else {
            self.emit_decision(stamp, op, here);
        }
    }

    /// Records an event that the thread's control flow depends on, whatever code it is in.
    #[inline(always)]
    pub(crate) fn emit_decision(&self, stamp: u64, op: Op, here: Here) {
        if self.pending.get() {
            self.pay(stamp - 1, here);
        }
        self.write(stamp, op, here, false);
    }

    /// Records the branch that is owed before an event of code that does not record its own.
    #[cold]
    #[inline(never)]
    fn pay(&self, stamp: u64, here: Here) {
        self.pending.set(false);
        self.write(stamp, Op::Branch, here, true);
    }

    /// Records a branch, whether or not something was read.
    #[inline]
    pub(crate) fn branch(&self, here: Here) {
        let stamp = self.tick(0);
        self.pending.set(false);
        self.write(stamp, Op::Branch, here, true);
    }

    /// Whether something was read that no branch has followed yet.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.get()
    }

    /// Says which events are of instrumented code from now on; returns what was said before.
    #[inline]
    pub(crate) fn expect(&self, expected: Expected) -> Expected {
        self.expected.replace(expected)
    }

    /// Whether an event at this place is one that instrumented code is about to make.
    #[inline]
    pub(crate) fn is_expected(&self, here: Here) -> bool {
        match (self.expected.get(), here) {
            (Expected::Nothing, _) | (Expected::At(_), None) => false,
            (Expected::Bare, _) => true,
            (Expected::At(place), Some(here)) => {
                // One place can have several addresses.
                std::ptr::eq(place, here)
                    || (place.line(), place.column()) == (here.line(), here.column())
                        && place.file() == here.file()
            }
        }
    }

    /// Records the initial value of a variable that is used for the first time.
    pub(crate) fn emit_init(&self, stamp: u64, var: VarId, value: Value) {
        self.append(Init { stamp, var, value });
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

    /// Says which memory a variable stands for, before its first use in this session.
    #[cold]
    pub(super) fn define_memory(&self, var: VarId, address: usize, size: u32) {
        match self.session.memory(var, address as u64, size) {
            Ok(offset) => {
                // The chunk of the event must come after that of the definition.
                if self.chunk.get().is_some_and(|open| open.offset < offset) {
                    self.seal();
                }
            }
            Err(_) => self.session.lose(self.after(0)),
        }
    }

    // Inlined where the kind of operation is known: what is left of the encoding is then little.
    #[inline(always)]
    fn write(&self, stamp: u64, op: Op, here: Here, recorded: bool) {
        if self.watched {
            sched::observe(&op, here);
        }
        // What was stamped just before recording ended still belongs to the trace.
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.session.lose(stamp);
        }
        let location = match here {
            None => None,
            Some(caller) => match self.remembered(caller) {
                Some(id) => Some(id),
                None => return self.write_from_afar(stamp, op, caller, recorded),
            },
        };
        self.append(Step { stamp, op, location, recorded });
    }

    /// Records an event that no code of the program makes: it keeps those of one operation together. It
    /// decides nothing, and whoever replays the program does not see it.
    pub(crate) fn emit_hidden(&self, stamp: u64, op: Op) {
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.session.lose(stamp);
        }
        self.append(Step { stamp, op, location: None, recorded: true });
    }

    /// Records an event at a location that is new to this thread.
    #[cold]
    #[inline(never)]
    fn write_from_afar(
        &self,
        stamp: u64,
        op: Op,
        caller: &'static Caller<'static>,
        recorded: bool,
    ) {
        let Ok((id, offset)) = self.session.locate(caller) else {
            return self.session.lose(stamp);
        };
        let address = std::ptr::from_ref(caller).addr();
        self.place_of(address).set((address, id.get()));
        // The chunk of the event must come after that of the location.
        if self.chunk.get().is_some_and(|open| open.offset < offset) {
            self.seal();
        }
        self.append(Step { stamp, op, location: Some(id), recorded });
    }

    /// The id of a location that this thread remembers.
    #[inline]
    fn remembered(&self, caller: &'static Caller<'static>) -> Option<LocId> {
        let address = std::ptr::from_ref(caller).addr();
        let (known, id) = self.place_of(address).get();
        (known == address).then_some(LocId::new(id))
    }

    #[inline]
    fn place_of(&self, address: usize) -> &Cell<(usize, u32)> {
        &self.locations[(address >> 3) % REMEMBERED]
    }

    #[inline(always)]
    fn append(&self, entry: impl Entry + Copy) {
        match self.chunk.get() {
            Some(open) if open.len - self.at.get() >= LONGEST => self.append_in_place(open, &entry),
            _ => {
                // Only a copy has to be in memory: the compiler can take the entry itself apart.
                let copy = entry;
                self.append_slowly(&copy);
            }
        }
    }

    /// Appends to a chunk that has room for any entry: without a detour.
    #[inline(always)]
    fn append_in_place(&self, chunk: Slot, entry: &impl Entry) {
        // SAFETY: only this thread uses its log, and nothing below calls back into it.
        let coder = unsafe { &mut *self.coder.get() };
        let at = self.at.get();
        debug_assert!(at + LONGEST <= chunk.len, "the entry fits");
        // SAFETY: the slot is ours, and has room for an entry from `at` on.
        let start = unsafe { chunk.start.add(at) };
        // SAFETY: so there is room for all of it but the first byte behind that.
        let mut rest = Cursor { next: unsafe { start.add(1) } };
        entry.encode_rest(coder, &mut rest);
        // SAFETY: the place is ours. The first byte, which says that there is something, is written
        // as an atomic, so that the compiler keeps it last.
        unsafe { AtomicU8::from_ptr(start).store(entry.code(), Ordering::Release) };
        self.at.set(rest.next.addr() - chunk.start.addr());
        self.events.set(self.events.get() + 1);
    }

    /// Appends to a chunk that may be too short, or to a new one.
    #[cold]
    #[inline(never)]
    fn append_slowly(&self, entry: &dyn Entry) {
        if let Some(open) = self.chunk.get()
            && self.try_append(open, entry)
        {
            return;
        }
        match self.open_chunk(entry.stamp()) {
            Ok(open) => {
                let fits = self.try_append(open, entry);
                debug_assert!(fits, "an entry fits into an empty chunk");
            }
            Err(full) => {
                // In this order: whoever notices the end knows where it is.
                self.session.lose(entry.stamp());
                self.session.stop(&full);
            }
        }
    }

    fn try_append(&self, chunk: Slot, entry: &dyn Entry) -> bool {
        // SAFETY: only this thread uses its log, and nothing below calls back into it.
        let coder = unsafe { &mut *self.coder.get() };
        let before = coder.clone();
        let mut bytes = [0; LONGEST];
        bytes[0] = entry.code();
        let start = bytes.as_mut_ptr();
        // SAFETY: there is room for an entry from `start` on.
        let mut rest = Cursor { next: unsafe { start.add(1) } };
        entry.encode_rest(coder, &mut rest);
        let len = rest.next.addr() - start.addr();
        let at = self.at.get();
        if at + len > chunk.len {
            *coder = before;
            return false;
        }
        publish(chunk, at, &bytes[..len]);
        self.at.set(at + len);
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
        self.session.reached(first_stamp);
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
        self.session.reached(last_stamp);
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

/// Gives a chunk its final header. Whoever is killed in the middle of that leaves one that says
/// so.
pub(super) fn seal_chunk(slot: Slot, chunk: impl FnOnce(u32) -> Chunk) {
    // SAFETY: the slot is ours, and all of it is mapped.
    let payload =
        unsafe { std::slice::from_raw_parts(slot.start.add(HEADER_LEN), slot.len - HEADER_LEN) };
    let sealed = chunk(payload.len() as u32).encode(payload);
    // SAFETY: the slot is ours, and a header stands at its start.
    unsafe {
        let state = AtomicU8::from_ptr(slot.start.add(STATE_AT));
        state.store(SEALING, Ordering::SeqCst);
        let rest = STATE_AT + 1;
        let from = sealed[rest..].as_ptr();
        std::ptr::copy_nonoverlapping(from, slot.start.add(rest), HEADER_LEN - rest);
        state.store(sealed[STATE_AT], Ordering::SeqCst);
    }
}

/// What is written to a chunk at once. No entry has more than [`LONGEST`] bytes.
trait Entry {
    fn stamp(&self) -> u64;

    /// Its first byte.
    fn code(&self) -> u8;

    /// Encodes what follows the first byte.
    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor);
}

/// An event.
#[derive(Clone, Copy)]
struct Step {
    stamp: u64,
    op: Op,
    location: Option<LocId>,
    recorded: bool,
}

impl Entry for Step {
    fn stamp(&self) -> u64 {
        self.stamp
    }

    #[inline(always)]
    fn code(&self) -> u8 {
        code_of(&self.op)
    }

    #[inline(always)]
    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor) {
        coder.encode_rest(Stamp::new(self.stamp), &self.op, self.location, self.recorded, out);
    }
}

/// An initial value.
#[derive(Clone, Copy)]
struct Init {
    stamp: u64,
    var: VarId,
    value: Value,
}

impl Entry for Init {
    fn stamp(&self) -> u64 {
        self.stamp
    }

    fn code(&self) -> u8 {
        code::INIT
    }

    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor) {
        coder.encode_init_rest(Stamp::new(self.stamp), self.var, self.value, out);
    }
}

/// Where the bytes of one entry go; whoever makes it sees to it that there is room for them.
struct Cursor {
    next: *mut u8,
}

impl Out for Cursor {
    #[inline]
    fn put(&mut self, byte: u8) {
        // SAFETY: there is room for the longest entry, and one is all that is written.
        unsafe {
            self.next.write(byte);
            self.next = self.next.add(1);
        }
    }
}
