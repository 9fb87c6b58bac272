//! One thread's part of a trace.

use std::cell::{Cell, RefCell};
use std::panic::Location as Caller;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::borrow::Armed;
use super::chunks::{Chunks, Cursor, Entry};
use super::clocks::Clock;
use super::control;
use super::file::Full;
use super::given_back;
use super::ownership::Owner;
use super::raw::{Held, Open};
use super::session::Session;
use super::sites::{Site, Sites, Tag};
use crate::trace::binary::code::{self, code_of};
use crate::trace::binary::event::Coder;
use crate::trace::binary::kept::kept_code;
use crate::trace::{LocId, LockId, Op, Stamp, ThreadId, Value, VarId};

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

/// Why the next event cannot be a short one: bits of [`ThreadLog::unusual`]. Something was read that
/// no branch has followed yet.
const PENDING: u8 = 1;
/// An event of instrumented code is expected.
const EXPECTING: u8 = 2;

/// How many locations a thread remembers.
const REMEMBERED: usize = 256;

/// What a thread writes its events to. Only the thread itself uses it.
pub(crate) struct ThreadLog {
    session: Arc<Session>,
    session_number: u32,
    thread: ThreadId,
    clock: Clock,
    /// Whether nobody who is recorded has started the thread.
    foreign: bool,
    /// How many locks it holds.
    holds: Cell<u32>,
    /// Which event, if any, is one of instrumented code. All others are of code that does not
    /// record its branches.
    expected: Cell<Expected>,
    unusual: Cell<u8>,
    /// Locks the bare memory that the thread is about to access.
    pub(super) held: Cell<Option<Held>>,
    /// The access of bare memory that the thread is in the middle of, if its event is not written
    /// yet.
    pub(super) open_access: Cell<Option<Open>>,
    /// Accesses by methods whose arguments are being evaluated.
    pub(super) armed: RefCell<Vec<Armed>>,
    /// Where memory went out of sight, by the address of the place in the source.
    blind_spots: RefCell<FxHashSet<usize>>,
    chunks: Chunks,
    /// What the open chunk keeps.
    sites: Sites,
    /// The last tag that was given to a cell.
    last_tag: Cell<Tag>,
    /// What cells that belong to this thread know it by.
    owner: Cell<Option<&'static Owner>>,
    /// Locations by the address of their `Caller`, in the places that their addresses hash to.
    locations: Box<[Cell<(usize, u32)>; REMEMBERED]>,
    /// Whether a replay compares the events with what it expects.
    watched: bool,
    /// Whether an event is lost. None is recorded after that, for all depend on it.
    lost: Cell<bool>,
    /// Whether the next lost event is counted already.
    counted_ahead: Cell<bool>,
}

impl ThreadLog {
    /// A log whose events come after `clock`.
    pub(super) fn new(session: Arc<Session>, thread: ThreadId, clock: u64) -> Self {
        Self {
            clock: session.clocks().begin(clock),
            foreign: false,
            holds: Cell::new(0),
            session_number: session.number(),
            session,
            thread,
            expected: Cell::new(Expected::Nothing),
            unusual: Cell::new(0),
            held: Cell::new(None),
            open_access: Cell::new(None),
            armed: RefCell::default(),
            blind_spots: RefCell::default(),
            chunks: Chunks::new(thread),
            sites: Sites::new(),
            last_tag: Cell::new(Tag::FIRST),
            owner: Cell::new(None),
            locations: Box::new([const { Cell::new((0, 0)) }; REMEMBERED]),
            watched: control::follows_schedule(),
            lost: Cell::new(false),
            counted_ahead: Cell::new(false),
        }
    }

    /// The log is that of a thread that nobody who is recorded has started.
    pub(super) fn of_foreign_thread(self) -> Self {
        Self { foreign: true, ..self }
    }

    /// Whether nobody who is recorded has started the thread.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Whether a replay compares the events with what it expects.
    pub(super) fn is_watched(&self) -> bool {
        self.watched
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
        self.count_short();
        self.clock.get()
    }

    /// The next stamp for an operation on an object with this clock.
    #[inline]
    pub(crate) fn after(&self, clock: u64) -> u64 {
        // A branch that is still owed comes first, and needs a stamp of its own.
        let owed = u64::from(self.is_pending());
        let mut before = self.clock().max(clock).max(self.session.floor());
        if self.foreign {
            before = before.max(self.session.highest());
        }
        before + 1 + owed
    }

    /// The stamp was taken.
    #[inline]
    pub(crate) fn advance(&self, stamp: u64) {
        debug_assert!(!self.chunks.has_uncounted(), "whoever knows the next stamp has counted");
        self.chunks.forbid_short();
        self.clock.set(stamp);
        if self.foreign {
            self.session.raise_floor(stamp);
        }
    }

    /// Counts the short events since the last other one: each has advanced the clock by one.
    #[inline]
    fn count_short(&self) {
        if self.chunks.has_uncounted() {
            self.clock.set(self.clock.get() + self.chunks.count_short());
        }
    }

    #[inline]
    fn mark(&self, bit: u8, on: bool) {
        let others = self.unusual.get() & !bit;
        self.unusual.set(if on { others | bit } else { others });
        self.decide_on_short();
    }

    /// Sees to it that the next event can be a short one if that is right, and only then.
    #[inline]
    fn decide_on_short(&self) {
        if let Some(owner) = self.owner.get() {
            self.decide_on_short_of(owner);
        }
    }

    fn decide_on_short_of(&self, owner: &Owner) {
        let clock = self.clock();
        if self.unusual.get() == 0 && self.chunks.stamp() == clock {
            owner.will_reach(clock + self.chunks.allow_short());
        } else {
            self.chunks.forbid_short();
        }
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
                self.mark(PENDING, true);
            }
            self.write(stamp, op, here, true, None);
        } else {
            self.emit_decision(stamp, op, here);
        }
    }

    /// Records an event that the thread's control flow depends on, whatever code it is in.
    #[inline(always)]
    pub(crate) fn emit_decision(&self, stamp: u64, op: Op, here: Here) {
        self.pay_if_pending(stamp, here);
        self.write(stamp, op, here, false, None);
    }

    /// Records a plain access of a cell that belongs to this thread: in full, so that the next one
    /// that is like it can be short. False if that may not be.
    pub(crate) fn emit_kept(&self, op: Op, site: Site) -> bool {
        if self.is_expecting() {
            return false;
        }
        let (stamp, here) = (self.tick(0), Some(site.caller));
        self.pay_if_pending(stamp, here);
        self.write(stamp, op, here, false, Some(site.slot()));
        if self.chunks.stamp() == stamp {
            self.sites.keep(site);
        }
        true
    }

    /// Records a plain access like one before, of a value that is so far from what the cell had at the
    /// last access; false if it has to be recorded in full. The cell belongs to this thread.
    #[inline(always)]
    pub(crate) fn emit_again(&self, site: Site, step: i8) -> bool {
        let Some(same) = self.sites.find(site) else { return false };
        self.chunks.append_short(same.wrapping_add((step as u16) << 8))
    }

    /// Whether an event of instrumented code is expected.
    pub(super) fn is_expecting(&self) -> bool {
        self.unusual.get() & EXPECTING != 0
    }

    #[inline(always)]
    fn pay_if_pending(&self, stamp: u64, here: Here) {
        if self.is_pending() {
            self.pay(stamp - 1, here);
        }
    }

    /// Records the branch that is owed before an event of code that does not record its own.
    #[cold]
    #[inline(never)]
    fn pay(&self, stamp: u64, here: Here) {
        self.mark(PENDING, false);
        self.write(stamp, Op::Branch, here, true, None);
    }

    /// Records a branch, whether or not something was read.
    #[inline]
    pub(crate) fn branch(&self, here: Here) {
        let stamp = self.tick(0);
        self.mark(PENDING, false);
        self.write(stamp, Op::Branch, here, true, None);
    }

    /// Whether something was read that no branch has followed yet.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.unusual.get() & PENDING != 0
    }

    /// Says which events are of instrumented code from now on; returns what was said before.
    #[inline]
    pub(crate) fn expect(&self, expected: Expected) -> Expected {
        self.mark(EXPECTING, !matches!(expected, Expected::Nothing));
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
            Err(full) => self.lose(stamp, true, Some(&full)),
        }
    }

    /// Whether it was not said yet that memory goes out of sight at a place in the source.
    pub(super) fn is_new_blind_spot(&self, place: usize) -> bool {
        self.blind_spots.borrow_mut().insert(place)
    }

    /// Says which memory a variable stands for, before its first use in this session.
    #[cold]
    pub(super) fn define_memory(&self, var: VarId, address: usize, size: u32) {
        match self.session.memory(var, address as u64, size) {
            Ok(offset) => {
                // The chunk of the event must come after that of the definition.
                self.go_behind(offset);
            }
            Err(full) => self.lose(self.after(0), false, Some(&full)),
        }
    }

    /// Says which variable a lock's poison flag is, before its first use in this session.
    pub(super) fn define_poison_flag(&self, lock: LockId, flag: VarId) {
        match self.session.poison_flag(lock, flag) {
            // The chunk of the event must come after that of the definition.
            Ok(offset) => self.go_behind(offset),
            Err(full) => self.lose(self.after(0), false, Some(&full)),
        }
    }

    /// Says that the next access of a variable, which is its last, gives its memory back.
    #[cold]
    pub(super) fn define_freed(&self, var: VarId) {
        match self.session.freed(var) {
            // The chunk of the event must come after that of the definition.
            Ok(offset) => self.go_behind(offset),
            Err(full) => self.lose(self.after(0), false, Some(&full)),
        }
    }

    // Inlined where the kind of operation is known: what is left of the encoding is then little.
    #[inline(always)]
    fn write(&self, stamp: u64, op: Op, here: Here, recorded: bool, slot: Option<usize>) {
        if self.watched {
            control::observe(&op, here);
        }
        // What was stamped just before recording ended still belongs to the trace.
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.lose(stamp, true, None);
        }
        let location = match here {
            None => None,
            Some(caller) => match self.remembered(caller) {
                Some(id) => Some(id),
                None => return self.write_from_afar(stamp, op, caller, recorded, slot),
            },
        };
        self.append(Step { stamp, op, location, recorded, slot });
    }

    /// Records the thread's end. In a trace that has ended before nobody misses it.
    pub(super) fn emit_end(&self) {
        // Nobody joins a foreign thread in the trace, and its end may come at any time after those
        // who wait for it went on: to keep its place would only keep others in order.
        if self.foreign {
            return;
        }
        if self.session.is_stopped() {
            return;
        }
        if self.is_pending() {
            self.branch(None);
        }
        let stamp = self.tick(0);
        if self.session.is_stopped() && stamp > self.session.floor() {
            return;
        }
        if self.watched {
            control::observe(&Op::End, None);
        }
        self.append(Step { stamp, op: Op::End, location: None, recorded: false, slot: None });
    }

    /// Records an event that no code of the program makes: it keeps those of one operation together. It
    /// decides nothing, and whoever replays the program does not see it.
    pub(crate) fn emit_hidden(&self, stamp: u64, op: Op) {
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.lose(stamp, true, None);
        }
        self.append(Step { stamp, op, location: None, recorded: true, slot: None });
    }

    /// Records what a thread does by the way: that it found something which its control flow depends on, or
    /// that memory is freed. No code of the program does that by itself, so whoever replays the program does
    /// not see it.
    pub(super) fn emit_by_the_way(&self, stamp: u64, op: Op, here: Here) {
        self.pay_if_pending(stamp, here);
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.lose(stamp, true, None);
        }
        self.append(Step { stamp, op, location: None, recorded: false, slot: None });
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
        slot: Option<usize>,
    ) {
        let (id, offset) = match self.session.locate(caller) {
            Ok(found) => found,
            Err(full) => return self.lose(stamp, true, Some(&full)),
        };
        let address = std::ptr::from_ref(caller).addr();
        self.place_of(address).set((address, id.get()));
        // The chunk of the event must come after that of the location.
        self.go_behind(offset);
        self.append(Step { stamp, op, location: Some(id), recorded, slot });
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
        self.decide_on_short();
    }

    /// Appends to a chunk that may be too short, or to a new one.
    #[cold]
    #[inline(never)]
    fn append_slowly(&self, entry: &dyn Entry) {
        let _quiet = given_back::quiet();
        let is_event = entry.code() != code::INIT;
        if self.lost.get() {
            return self.lose(entry.stamp(), is_event, None);
        }
        self.session.reached(self.chunks.stamp());
        match self.chunks.append_slowly(self.session.file(), entry) {
            Ok(in_new_chunk) => {
                self.session.reached(entry.stamp());
                if in_new_chunk {
                    self.sites.clear();
                }
            }
            Err(full) => self.lose(entry.stamp(), is_event, Some(&full)),
        }
    }

    /// What has this stamp is not recorded, be it an event or what belongs to one, because there is
    /// no room, or because recording has ended.
    #[cold]
    #[inline(never)]
    fn lose(&self, stamp: u64, is_event: bool, full: Option<&Full>) {
        // What belongs to an event stands for it: it is next, and lost as well.
        let counted = self.counted_ahead.replace(!is_event);
        self.lost.set(true);
        self.count_short();
        self.chunks.shut();
        // In this order: whoever notices the end knows where it is.
        self.session.lose(stamp, !counted);
        if let Some(full) = full {
            self.session.stop(full);
        }
    }

    /// What a cell that is to belong to this thread knows it by, and what the thread then knows the
    /// cell by; `None` if no cell can.
    pub(super) fn adopt(&self) -> Option<(&'static Owner, Tag)> {
        if !self.may_own() {
            return None;
        }
        let next = self.owner.get().zip(self.last_tag.get().next());
        let (owner, tag) = next.unwrap_or_else(|| {
            // There are no more tags: what belonged to the thread is another's now.
            self.sites.clear();
            (Owner::new(self), Tag::FIRST)
        });
        if !self.clock.may_own(owner, self.session.clocks()) {
            return None;
        }
        self.owner.set(Some(owner));
        self.last_tag.set(tag);
        Some((owner, tag))
    }

    /// What cells that belong to this thread know it by, if there are any.
    pub(super) fn owner(&self) -> Option<&'static Owner> {
        self.owner.get().filter(|_| self.may_own())
    }

    /// Under control others may go before every access.
    fn may_own(&self) -> bool {
        !self.watched && !self.session.clocks().have_foreign() && !control::controls_thread()
    }

    /// The thread has taken a lock.
    #[inline]
    pub(super) fn takes_lock(&self) {
        self.holds.set(self.holds.get() + 1);
    }

    /// The thread gives a lock back.
    #[inline]
    pub(super) fn gives_lock_back(&self) {
        self.holds.set(self.holds.get().saturating_sub(1));
    }

    /// Whether the thread holds a lock, or waits to have one back.
    pub(super) fn holds_locks(&self) -> bool {
        self.holds.get() > 0
    }

    /// Sees to it that the next event comes after what is defined at this offset.
    fn go_behind(&self, offset: u64) {
        if self.chunks.is_before(offset) {
            self.seal();
        }
    }

    /// Marks the open chunk as complete. The next event opens another.
    pub(super) fn seal(&self) {
        self.count_short();
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
    /// Where it is kept, if it is a plain access that is.
    slot: Option<usize>,
}

impl Entry for Step {
    fn stamp(&self) -> u64 {
        self.stamp
    }

    #[inline(always)]
    fn code(&self) -> u8 {
        match self.slot {
            Some(_) => kept_code(matches!(self.op, Op::Write { .. })),
            None => code_of(&self.op),
        }
    }

    #[inline(always)]
    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor) {
        let Self { op, location, recorded, .. } = *self;
        let stamp = Stamp::new(self.stamp);
        match self.slot {
            Some(slot) => coder.encode_kept_rest(stamp, slot, &op, location, recorded, out),
            None => coder.encode_rest(stamp, &op, location, recorded, out),
        }
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
