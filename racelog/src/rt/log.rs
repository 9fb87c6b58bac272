//! One thread's part of a trace.

use std::cell::Cell;
use std::panic::Location as Caller;
use std::sync::Arc;

use super::chunks::{Chunks, Cursor, Entry};
use super::raw::{Held, Open};
use super::session::Session;
use crate::sched;
use crate::trace::binary::code::{self, code_of};
use crate::trace::binary::event::Coder;
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
    chunks: Chunks,
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
            chunks: Chunks::new(thread),
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
                self.go_behind(offset);
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
                self.go_behind(offset);
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
        self.go_behind(offset);
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
        if !self.chunks.try_append(&entry) {
            // Only a copy has to be in memory: the compiler can take the entry itself apart.
            let copy = entry;
            self.append_slowly(&copy);
        }
    }

    /// Appends to a chunk that may be too short, or to a new one.
    #[cold]
    #[inline(never)]
    fn append_slowly(&self, entry: &dyn Entry) {
        self.session.reached(self.chunks.stamp());
        match self.chunks.append_slowly(self.session.file(), entry) {
            Ok(_) => self.session.reached(entry.stamp()),
            Err(full) => {
                // In this order: whoever notices the end knows where it is.
                self.session.lose(entry.stamp());
                self.session.stop(&full);
            }
        }
    }

    /// Sees to it that the next event comes after what is defined at this offset.
    fn go_behind(&self, offset: u64) {
        if self.chunks.is_before(offset) {
            self.seal();
        }
    }

    /// Marks the open chunk as complete. The next event opens another.
    pub(super) fn seal(&self) {
        self.session.reached(self.chunks.stamp());
        // If there is no room to make it complete it stays as it is, which is readable, too.
        let _ = self.chunks.seal(self.session.file());
    }
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
