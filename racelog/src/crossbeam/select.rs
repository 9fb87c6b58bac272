//! Waiting for several channels at once, as crossbeam's `Select` does.
//!
//! The trace has the operation of the arm that was chosen, as if its thread had done only that. If
//! it may have waited, it is one with a time-out in the trace, for it need not have waited for
//! ever: another arm might have gone on. What other arms had is recorded where the thread goes by
//! that: by a selection that ends without an operation, and by one that prefers its first arms. A
//! thread that waits in a selection asks for nothing in the trace, so that no finding says that it
//! waits for ever. What `ready` and its like find is recorded only if that is nothing.
//!
//! Under control the seed says which of several arms is chosen that could go on; a search that is
//! exhaustive asks them in their order, and does not try the others. A replay chooses the arm that
//! its schedule has next. If the channels of several arms are new to it, it takes the first of
//! them, and may diverge there.

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{
    ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError, TrySelectError,
};

use super::channel::{Receiver, Sender};
use crate::rt::CallSite;
use crate::sched::{self, Action, Deadline, Intent};
use crate::sync::mpsc::channel::arms::{Arm, Found, Look, Reserved};
use crate::sync::mpsc::patience::Patience;
use crate::sync::mpsc::selection::{Selection, Side};
use crate::time::Instant;
use crate::trace;

/// Waits for any of several operations, as [`crossbeam_channel::Select`].
///
/// ```
/// use racelog::crossbeam::channel::{Select, unbounded};
///
/// let (sender, numbers) = unbounded();
/// let (_words, words) = unbounded::<&str>();
/// sender.send(7).unwrap();
/// let mut select = Select::new();
/// let number = select.recv(&numbers);
/// let word = select.recv(&words);
/// let selected = select.select();
/// assert!(selected.index() == number && number != word);
/// assert_eq!(selected.recv(&numbers), Ok(7));
/// ```
#[derive(Clone)]
pub struct Select<'a> {
    arms: Vec<Numbered<'a>>,
    /// The number of the next arm.
    next: usize,
    /// Whether the first arm is chosen that can go on.
    biased: bool,
}

#[derive(Clone, Copy)]
struct Numbered<'a> {
    index: usize,
    arm: Arm<'a>,
}

/// An operation that can go on now, as [`crossbeam_channel::SelectedOperation`].
#[must_use]
pub struct SelectedOperation<'a> {
    index: usize,
    arm: Arm<'a>,
    reserved: Reserved,
    patience: trace::Patience,
    here: Option<CallSite>,
}

/// An arm that was chosen: its place, and what is reserved there.
type Chosen = (usize, Reserved);

/// What a thread waits for, how long, and where.
#[derive(Clone, Copy)]
struct Asked {
    patience: Patience,
    action: Action,
    here: Option<CallSite>,
}

impl<'a> Select<'a> {
    /// As [`crossbeam_channel::Select::new`].
    #[must_use]
    pub fn new() -> Self {
        Self { arms: Vec::new(), next: 0, biased: false }
    }

    /// As [`crossbeam_channel::Select::new_biased`].
    #[must_use]
    pub fn new_biased() -> Self {
        Self { biased: true, ..Self::new() }
    }

    /// As [`crossbeam_channel::Select::send`].
    pub fn send<T>(&mut self, s: &'a Sender<T>) -> usize {
        self.add(Arm { channel: s.channel(), side: Side::Send })
    }

    /// As [`crossbeam_channel::Select::recv`].
    pub fn recv<T>(&mut self, r: &'a Receiver<T>) -> usize {
        self.add(Arm { channel: r.channel(), side: Side::Receive })
    }

    fn add(&mut self, arm: Arm<'a>) -> usize {
        let index = self.next;
        self.arms.push(Numbered { index, arm });
        self.next += 1;
        index
    }

    /// As [`crossbeam_channel::Select::remove`].
    ///
    /// # Panics
    ///
    /// If there is no operation with this index.
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.next, "index out of bounds; {index} >= {}", self.next);
        let at = self.arms.iter().position(|arm| arm.index == index);
        self.arms.swap_remove(at.expect("no operation with this index"));
    }

    /// As [`crossbeam_channel::Select::try_select`].
    ///
    /// # Errors
    ///
    /// If no operation could go on at once.
    #[track_caller]
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        self.select_within(Patience::None, Some(CallSite::caller())).ok_or(TrySelectError)
    }

    /// As [`crossbeam_channel::Select::select`].
    ///
    /// # Panics
    ///
    /// If there are no operations.
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'a> {
        assert!(!self.arms.is_empty(), "no operations have been added to `Select`");
        let selected = self.select_within(Patience::Forever, Some(CallSite::caller()));
        selected.expect("who waits for ever goes on with an operation")
    }

    /// As [`crossbeam_channel::Select::select_timeout`].
    ///
    /// # Errors
    ///
    /// If no operation could go on in that time.
    #[track_caller]
    pub fn select_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        let selected = self.select_within(Patience::of(timeout), Some(CallSite::caller()));
        selected.ok_or(SelectTimeoutError)
    }

    /// As [`crossbeam_channel::Select::select_deadline`].
    ///
    /// # Errors
    ///
    /// If no operation could go on until then.
    #[track_caller]
    pub fn select_deadline(
        &mut self,
        deadline: impl Into<Instant>,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        let patience = Patience::Until(Deadline::at(deadline.into()));
        self.select_within(patience, Some(CallSite::caller())).ok_or(SelectTimeoutError)
    }

    /// As [`crossbeam_channel::Select::try_ready`].
    ///
    /// # Errors
    ///
    /// If no operation could go on at once.
    #[track_caller]
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        self.ready_within(Patience::None, Some(CallSite::caller())).ok_or(TryReadyError)
    }

    /// As [`crossbeam_channel::Select::ready`].
    ///
    /// # Panics
    ///
    /// If there are no operations.
    #[track_caller]
    pub fn ready(&mut self) -> usize {
        assert!(!self.arms.is_empty(), "no operations have been added to `Select`");
        let ready = self.ready_within(Patience::Forever, Some(CallSite::caller()));
        ready.expect("who waits for ever goes on with an operation")
    }

    /// As [`crossbeam_channel::Select::ready_timeout`].
    ///
    /// # Errors
    ///
    /// If no operation could go on in that time.
    #[track_caller]
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        let ready = self.ready_within(Patience::of(timeout), Some(CallSite::caller()));
        ready.ok_or(ReadyTimeoutError)
    }

    /// As [`crossbeam_channel::Select::ready_deadline`].
    ///
    /// # Errors
    ///
    /// If no operation could go on until then.
    #[track_caller]
    pub fn ready_deadline(
        &mut self,
        deadline: impl Into<Instant>,
    ) -> Result<usize, ReadyTimeoutError> {
        let patience = Patience::Until(Deadline::at(deadline.into()));
        self.ready_within(patience, Some(CallSite::caller())).ok_or(ReadyTimeoutError)
    }

    fn select_within(
        &self,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Option<SelectedOperation<'a>> {
        let (at, reserved) = self.wait(patience, here, Self::reserve, true)?;
        let Numbered { index, arm } = self.arms[at];
        Some(SelectedOperation { index, arm, reserved, patience: in_trace(patience), here })
    }

    fn ready_within(&self, patience: Patience, here: Option<CallSite>) -> Option<usize> {
        let at = self.wait(patience, here, Self::look, false)?;
        Some(self.arms[at].index)
    }

    /// Waits until `attempt` finds something among the arms that it is given. If it `takes` it, it
    /// waits as one that other threads can bind.
    fn wait<R: FromBound>(
        &self,
        patience: Patience,
        here: Option<CallSite>,
        attempt: fn(&Self, &[usize], &Look<'_>) -> Option<R>,
        takes: bool,
    ) -> Option<R> {
        let sends = self.arms.iter().all(|arm| arm.arm.side == Side::Send);
        let action = if sends { Action::Send } else { Action::Receive };
        let asked = Asked { patience, action, here };
        sched::point_of(|| self.intent(&asked), here);
        loop {
            let is_over = patience.is_over(action, here);
            let selection = Arc::new(Selection::new(takes));
            let patience = in_trace(patience);
            let goes_by_nothing = self.biased || is_over;
            let look = Look { selection: &selection, patience, goes_by_nothing, here };
            let mut arms = self.order();
            let found = attempt(self, &arms, &look);
            if found.is_some() || is_over {
                return found;
            }
            if let Some(wanted) = self.wanted() {
                arms = vec![wanted];
            }
            let entered = Entered::new(self, &arms, &selection, here);
            // What came before the thread was entered has woken nobody.
            let found = attempt(self, &arms, &look);
            if found.is_none() && selection.is_open() {
                self.sleep(&arms, &selection, &asked);
            }
            let bound = if selection.close() { None } else { selection.bound() };
            drop(entered);
            let found = found.or_else(|| {
                let (at, look) = (bound?, Look { goes_by_nothing: false, ..look });
                let arm = self.arms[at].arm;
                Some(R::from_bound(at, arm.channel.reserve_bound(arm.side, &look)?))
            });
            if found.is_some() {
                return found;
            }
        }
    }

    /// Chooses one of the arms that can go on, and reserves what it needs.
    fn reserve(&self, arms: &[usize], look: &Look<'_>) -> Option<Chosen> {
        for &at in arms {
            let arm = self.arms[at].arm;
            match arm.channel.reserve(arm.side, look) {
                Found::Reserved(reserved) => return Some((at, reserved)),
                Found::Nothing => {}
                Found::Bound => return None,
            }
        }
        None
    }

    /// One of the arms that can go on.
    fn look(&self, arms: &[usize], look: &Look<'_>) -> Option<usize> {
        arms.iter().copied().find(|&at| {
            let arm = self.arms[at].arm;
            arm.channel.look(arm.side, look)
        })
    }

    /// Waits for news of these arms, or the end of patience; under control, until one can go on.
    fn sleep(&self, arms: &[usize], selection: &Selection, asked: &Asked) {
        let deadline = match asked.patience {
            Patience::Until(deadline) => Some(deadline),
            Patience::None | Patience::Forever => None,
        };
        let all = || arms.iter().map(|&at| self.arms[at].arm);
        // It is asked at each step of the others, most of which do not change the channels.
        let seen = Cell::new((0, false));
        let is_ready = || {
            let changes = all().fold(0u64, |sum, arm| sum.wrapping_add(arm.channel.changes()));
            if seen.get().0 != changes || changes == 0 {
                let ready = all().any(|arm| arm.channel.is_possible(arm.side, selection));
                seen.set((changes, ready));
            }
            seen.get().1 || selection.bound().is_some()
        };
        if !sched::block(|| self.intent(asked), deadline, &|late| late || is_ready()) {
            selection.bell.wait(deadline);
        }
    }

    /// What the thread is about to do. The order of it and what others do at the channels matters;
    /// of more than two channels, that of anything.
    fn intent(&self, asked: &Asked) -> Intent {
        let mut channels = self.arms.iter().map(|arm| arm.arm.channel.address());
        let (first, second) = (channels.next().unwrap_or(0), channels.next().unwrap_or(0));
        let several = channels.next().is_some();
        Intent::new(asked.action, first, asked.here).with_second(second).timed(several)
    }

    /// The places of the arms, in the order in which they are asked.
    fn order(&self) -> Vec<usize> {
        let count = self.arms.len();
        let mut places: Vec<usize> = (0..count).collect();
        if !self.biased && count > 1 {
            let first = self.wanted().or_else(|| sched::any_of(count));
            places.rotate_left(first.unwrap_or_else(|| any_number() % count));
        }
        places
    }

    /// The place of the arm that a replay goes on with.
    fn wanted(&self) -> Option<usize> {
        let what = |arm: &Numbered<'_>| (arm.arm.channel.object(), arm.arm.side == Side::Receive);
        sched::where_to_go_on(&|| self.arms.iter().map(what).collect())
    }
}

/// What an arm leads to that another thread has bound a selection to.
trait FromBound: Sized {
    fn from_bound(at: usize, reserved: Reserved) -> Self;
}

impl FromBound for Chosen {
    fn from_bound(at: usize, reserved: Reserved) -> Self {
        (at, reserved)
    }
}

impl FromBound for usize {
    /// Who only looks is never bound.
    fn from_bound(at: usize, _: Reserved) -> Self {
        at
    }
}

/// A selection that is entered at its channels.
struct Entered<'a> {
    select: &'a Select<'a>,
    arms: &'a [usize],
    selection: &'a Arc<Selection>,
    here: Option<CallSite>,
}

impl<'a> Entered<'a> {
    fn new(
        select: &'a Select<'_>,
        arms: &'a [usize],
        selection: &'a Arc<Selection>,
        here: Option<CallSite>,
    ) -> Self {
        let entered = Self { select, arms, selection, here };
        for &at in arms {
            let arm = select.arms[at].arm;
            arm.channel.enter(selection, at, arm.side, here);
        }
        entered
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        for &at in self.arms {
            self.select.arms[at].arm.channel.leave(self.selection, self.here);
        }
    }
}

/// How long a selection waits, as the trace says it of its operation.
fn in_trace(patience: Patience) -> trace::Patience {
    match patience {
        Patience::None => trace::Patience::Try,
        Patience::Until(_) | Patience::Forever => trace::Patience::Timed,
    }
}

/// A number that is as good as any other. Each thread has its own.
fn any_number() -> usize {
    std::thread_local! {
        static STATE: Cell<u32> = const { Cell::new(0x9e37_79b9) };
    }
    let next = STATE.try_with(|state| {
        let mut next = state.get();
        next ^= next << 13;
        next ^= next >> 17;
        next ^= next << 5;
        state.set(next);
        next
    });
    next.unwrap_or(0) as usize
}

impl Default for Select<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Select { .. }")
    }
}

impl SelectedOperation<'_> {
    /// As [`crossbeam_channel::SelectedOperation::index`].
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// As [`crossbeam_channel::SelectedOperation::send`].
    ///
    /// # Errors
    ///
    /// If there is no receiver any more.
    ///
    /// # Panics
    ///
    /// If it is not the sender that was selected.
    #[track_caller]
    pub fn send<T>(self, s: &Sender<T>, msg: T) -> Result<(), SendError<T>> {
        let channel = s.channel();
        assert!(self.arm.is_at(channel, Side::Send), "passed a sender that wasn't selected");
        let (reserved, patience, here) = (self.reserved, self.patience, self.here);
        mem::forget(self);
        match reserved {
            Reserved::Place => channel.send_reserved(msg, patience, here).map_err(SendError),
            _ => {
                channel.refuse(here);
                Err(SendError(msg))
            }
        }
    }

    /// As [`crossbeam_channel::SelectedOperation::recv`].
    ///
    /// # Errors
    ///
    /// If there is no message and no sender any more.
    ///
    /// # Panics
    ///
    /// If it is not the receiver that was selected.
    pub fn recv<T>(self, r: &Receiver<T>) -> Result<T, RecvError> {
        let channel = r.channel();
        assert!(self.arm.is_at(channel, Side::Receive), "passed a receiver that wasn't selected");
        let reserved = self.reserved;
        mem::forget(self);
        match reserved {
            Reserved::Message(number) => Ok(channel.receive_reserved(number)),
            _ => Err(RecvError),
        }
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SelectedOperation { .. }")
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        if let Reserved::Place = self.reserved {
            self.arm.channel.give_back();
        }
        // What unwinds through it has not forgotten it.
        if !std::thread::panicking() {
            panic!("dropped `SelectedOperation` without completing the operation");
        }
    }
}
