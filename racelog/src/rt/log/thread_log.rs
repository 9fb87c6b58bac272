//! One thread's part of a trace.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::clocks::Clock;
use super::kept::{KeptAccesses, Tag};
use super::looks::Looks;
use super::owner::Owner;
use super::pending::{Armed, LockedMemory, OpenAccess, OpenHeld};
use super::saying::Saying;
use super::session::Session;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::rt::store::chunks::Chunks;
use crate::trace::ThreadId;

/// Which events are of code that records all its branches.
///
/// Instrumented code says so for the extent of one operation, which runs no code of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// None: whatever happens, it is done by code that was not instrumented.
    Nothing,
    /// Those of the operation of ours that is called at this place.
    At(CallSite),
    /// The use of what a lock guards, by its guard, at this place.
    Held(CallSite, HeldUse),
    /// The access of bare memory that the recorder itself is writing down.
    Bare,
}

/// What instrumented code does with what a lock guards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeldUse {
    /// It reads it, and says when it is done.
    Read,
    /// It reads it, and does not say when it is done.
    Look,
    /// It writes it without reading it.
    Write,
    /// It reads it and writes it, by an operator.
    Update,
}

/// Why the next event cannot be a short one: bits of [`ThreadLog::bars_short`]. Something was read
/// that no branch has followed yet.
pub(super) const PENDING: u8 = 1;
/// An event of instrumented code is expected.
const EXPECTING: u8 = 2;
/// A look was repeated, and the next event has to say how often.
pub(super) const REPEATED: u8 = 4;
/// Something was read since the last branch that goes only where instrumented code follows it.
pub(super) const KEPT: u8 = 8;

/// How many locations a thread remembers.
pub(super) const REMEMBERED: usize = 256;

/// What a thread writes its events to. Only the thread itself uses it.
pub(crate) struct ThreadLog {
    pub(super) session: Arc<Session>,
    pub(super) session_number: u32,
    pub(super) thread: ThreadId,
    pub(super) clock: Clock,
    /// Whether the thread is foreign: no recorded thread has started it.
    pub(super) foreign: bool,
    /// How many locks it holds.
    pub(super) holds: Cell<u32>,
    /// Which event, if any, is one of instrumented code. All others are of code that does not
    /// record its branches.
    pub(super) expected: Cell<Expected>,
    pub(super) bars_short: Cell<u8>,
    /// Locks the bare memory that the thread is about to access.
    pub(in crate::rt) held: Cell<Option<LockedMemory>>,
    /// The access of bare memory that the thread is in the middle of, if its event is not written
    /// yet.
    pub(in crate::rt) open_access: Cell<Option<OpenAccess>>,
    /// The change of what a lock guards that the thread is in the middle of.
    pub(in crate::rt) open_held: Cell<Option<OpenHeld>>,
    /// Accesses by methods whose arguments are being evaluated.
    pub(in crate::rt) armed: RefCell<Vec<Armed>>,
    /// Where memory went out of sight, by the address of the place in the source.
    pub(super) blind_spots: RefCell<FxHashSet<usize>>,
    pub(super) chunks: Chunks,
    /// What the open chunk keeps.
    pub(super) kept: KeptAccesses,
    /// The last tag that was given to a cell.
    pub(super) last_tag: Cell<Tag>,
    /// What cells that belong to this thread know it by.
    pub(super) owner: Cell<Option<&'static Owner>>,
    /// Locations by the address of their call sites, in the places that their addresses hash to.
    pub(super) locations: Box<[Cell<(usize, u32)>; REMEMBERED]>,
    /// Whether a replay compares the events with what it expects.
    pub(super) watched: bool,
    /// Whether an event is lost. None is recorded after that, for all depend on it.
    pub(super) lost: Cell<bool>,
    /// Whether the next lost event is counted already.
    pub(super) counted_ahead: Cell<bool>,
    /// What instrumented code says of values.
    pub(super) saying: Saying,
    /// The look that the thread may repeat.
    pub(super) looks: Looks,
}

impl ThreadLog {
    /// A log whose events come after `clock`.
    pub(in crate::rt) fn new(session: Arc<Session>, thread: ThreadId, clock: u64) -> Self {
        Self {
            clock: session.clocks().begin(clock),
            foreign: false,
            holds: Cell::new(0),
            session_number: session.number(),
            session,
            thread,
            expected: Cell::new(Expected::Nothing),
            bars_short: Cell::new(0),
            held: Cell::new(None),
            open_access: Cell::new(None),
            open_held: Cell::new(None),
            armed: RefCell::default(),
            blind_spots: RefCell::default(),
            chunks: Chunks::new(thread),
            kept: KeptAccesses::new(),
            last_tag: Cell::new(Tag::FIRST),
            owner: Cell::new(None),
            locations: Box::new([const { Cell::new((0, 0)) }; REMEMBERED]),
            watched: control::follows_schedule(),
            lost: Cell::new(false),
            counted_ahead: Cell::new(false),
            saying: Saying::default(),
            looks: Looks::default(),
        }
    }

    /// The log is that of a foreign thread, which no recorded thread has started.
    pub(in crate::rt) fn of_foreign_thread(self) -> Self {
        Self { foreign: true, ..self }
    }

    /// Whether the thread is foreign: no recorded thread has started it.
    pub(in crate::rt) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Whether a replay compares the events with what it expects.
    pub(in crate::rt) fn is_watched(&self) -> bool {
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
        debug_assert!(
            !self.chunks.has_uncounted(),
            "short events are counted before a stamp is taken"
        );
        self.chunks.forbid_short();
        self.clock.set(stamp);
        if self.foreign {
            self.session.raise_floor(stamp);
        }
    }

    /// Counts the short events since the last other one: each has advanced the clock by one.
    #[inline]
    pub(super) fn count_short(&self) {
        if self.chunks.has_uncounted() {
            self.clock.set(self.clock.get() + self.chunks.count_short());
        }
    }

    #[inline]
    pub(super) fn mark(&self, bit: u8, on: bool) {
        let others = self.bars_short.get() & !bit;
        self.bars_short.set(if on { others | bit } else { others });
        self.decide_on_short();
    }

    /// Sees to it that the next event can be a short one if that is right, and only then.
    #[inline]
    pub(super) fn decide_on_short(&self) {
        if let Some(owner) = self.owner.get() {
            self.decide_on_short_of(owner);
        }
    }

    fn decide_on_short_of(&self, owner: &Owner) {
        let clock = self.clock();
        if self.bars_short.get() == 0 && self.chunks.stamp() == clock {
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

    /// Whether an event of instrumented code is expected.
    pub(in crate::rt) fn is_expecting(&self) -> bool {
        self.bars_short.get() & EXPECTING != 0
    }

    /// Whether something was read that no branch has followed yet. A thread that panics may do so
    /// by whatever it has read.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        let bars = self.bars_short.get();
        bars & PENDING != 0 || bars & KEPT != 0 && std::thread::panicking()
    }

    /// Says which events are of instrumented code from now on; returns what was said before.
    #[inline]
    pub(crate) fn expect(&self, expected: Expected) -> Expected {
        self.mark(EXPECTING, !matches!(expected, Expected::Nothing));
        self.expected.replace(expected)
    }

    /// Whether an event at this place is one that instrumented code is about to make.
    #[inline]
    pub(crate) fn is_expected(&self, call_site: Option<CallSite>) -> bool {
        match (self.expected.get(), call_site) {
            (Expected::Nothing, _) | (Expected::At(_) | Expected::Held(..), None) => false,
            (Expected::Bare, _) => true,
            (Expected::At(expected) | Expected::Held(expected, _), Some(call_site)) => {
                expected == call_site
            }
        }
    }

    /// Whether it was not said yet that memory goes out of sight at a place in the source.
    pub(in crate::rt) fn is_new_blind_spot(&self, place: usize) -> bool {
        self.blind_spots.borrow_mut().insert(place)
    }

    /// What a cell that is to belong to this thread knows it by, and what the thread then knows the
    /// cell by; `None` if no cell can.
    pub(in crate::rt) fn adopt(&self) -> Option<(&'static Owner, Tag)> {
        if !self.may_own() {
            return None;
        }
        let next = self.owner.get().zip(self.last_tag.get().next());
        let (owner, tag) = next.unwrap_or_else(|| {
            // There are no more tags: what belonged to the thread is another's now.
            self.kept.clear();
            (Owner::new(std::ptr::from_ref(self).cast()), Tag::FIRST)
        });
        if !self.clock.may_own(owner, self.session.clocks()) {
            return None;
        }
        self.owner.set(Some(owner));
        self.last_tag.set(tag);
        Some((owner, tag))
    }

    /// What cells that belong to this thread know it by, if there are any.
    pub(in crate::rt) fn owner(&self) -> Option<&'static Owner> {
        self.owner.get().filter(|_| self.may_own())
    }

    /// Under control others may go before every access.
    fn may_own(&self) -> bool {
        !self.watched && !self.session.clocks().have_foreign() && !control::controls_thread()
    }

    /// The thread has taken a lock.
    #[inline]
    pub(in crate::rt) fn takes_lock(&self) {
        self.holds.set(self.holds.get() + 1);
    }

    /// The thread gives a lock back.
    #[inline]
    pub(in crate::rt) fn gives_lock_back(&self) {
        self.holds.set(self.holds.get().saturating_sub(1));
    }

    /// Whether the thread holds a lock, or waits to have one back.
    pub(in crate::rt) fn holds_locks(&self) -> bool {
        self.holds.get() > 0
    }
}

impl fmt::Debug for ThreadLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadLog({:?})", self.thread())
    }
}
