//! What a selection does at one of its channels.
//!
//! Whichever arm is chosen, its operation is *reserved* under the lock under which it was found to
//! be possible: a message is set aside, a place promised. Its thread completes it later, and nobody
//! can come between.

use super::super::selection::{Selection, Side};
use super::{Bound, Channel, Guard, State};
use crate::rt::CallSite;
use crate::sched::{self, Action};
use crate::trace::{Object, Patience};
use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// What is reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reserved {
    /// The message of this number, to be taken.
    Message(u64),
    /// There will be no message any more.
    End,
    /// A place for a message.
    Place,
    /// There is nobody left to receive.
    Refused,
}

/// What an arm finds.
pub(crate) enum Found {
    /// It is chosen.
    Reserved(Reserved),
    /// It would have to wait.
    Nothing,
    /// The selection is bound to one of its arms by another thread.
    Bound,
}

/// How an arm looks.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) selection: &'a Selection,
    /// How long the selection would wait, as the trace says it.
    pub(crate) patience: Patience,
    /// Whether the thread goes by it that this arm has nothing, so that the trace has to say so.
    pub(crate) goes_by_nothing: bool,
    pub(crate) here: Option<CallSite>,
}

/// A channel, whatever its messages are.
pub(crate) trait Selectable {
    /// What tells it from others.
    fn address(&self) -> usize;

    /// Its name in the trace.
    fn object(&self) -> Object;

    /// A number that changes whenever the channel does.
    fn changes(&self) -> u64;

    /// An arm of a selection starts to wait here.
    fn enter(&self, selection: &Arc<Selection>, arm: usize, side: Side, here: Option<CallSite>);

    /// All arms of a selection end to.
    fn leave(&self, selection: &Arc<Selection>, here: Option<CallSite>);

    /// Whether [`Self::reserve`] would reserve.
    fn is_possible(&self, side: Side, own: &Selection) -> bool;

    /// As [`Self::is_possible`]; records what the thread goes by.
    fn look(&self, side: Side, look: &Look<'_>) -> bool;

    /// Reserves what the arm is for, if that is possible now.
    fn reserve(&self, side: Side, look: &Look<'_>) -> Found;

    /// Reserves what another thread has bound the selection to. Nothing if that has come to nothing
    /// meanwhile.
    fn reserve_bound(&self, side: Side, look: &Look<'_>) -> Option<Reserved>;

    /// A promised place is not used.
    fn give_back(&self);
}

impl<T> Selectable for Channel<T> {
    fn address(&self) -> usize {
        self.key()
    }

    fn object(&self) -> Object {
        Object::Channel(self.state.lock().unwrap_or_else(PoisonError::into_inner).record.channel())
    }

    fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    fn enter(&self, selection: &Arc<Selection>, arm: usize, side: Side, here: Option<CallSite>) {
        let mut state = self.lock();
        let before = state.selecting.receivers();
        state.selecting.enter(selection, arm, side);
        if state.bound == Bound::Rendezvous && state.selecting.receivers() > before {
            if state.queue.is_empty() && state.senders > 0 {
                state.record.found_nothing(here);
            }
            state.says_who_waits(here);
        }
    }

    fn leave(&self, selection: &Arc<Selection>, here: Option<CallSite>) {
        let mut state = self.lock();
        let before = state.selecting.receivers();
        state.selecting.leave(selection);
        if state.bound == Bound::Rendezvous && state.selecting.receivers() < before {
            state.says_who_waits(here);
        }
    }

    fn is_possible(&self, side: Side, own: &Selection) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_possible(side, own)
    }

    fn look(&self, side: Side, look: &Look<'_>) -> bool {
        let mut state = self.lock();
        let possible = state.is_possible(side, look.selection);
        if !possible && look.goes_by_nothing {
            state.says_nothing(side, look.here);
        }
        possible
    }

    fn reserve(&self, side: Side, look: &Look<'_>) -> Found {
        let state = self.lock();
        match side {
            Side::Receive => self.reserve_message(state, look),
            Side::Send => self.reserve_place(state, look),
        }
    }

    fn reserve_bound(&self, side: Side, look: &Look<'_>) -> Option<Reserved> {
        let mut state = self.lock();
        match side {
            // Who bound it has counted it among those who wait.
            Side::Receive => self.take_promised(state, look),
            Side::Send => {
                state.record.saw_waiting(true, look.here);
                Some(Reserved::Place)
            }
        }
    }

    fn give_back(&self) {
        let mut state = self.lock();
        state.promised -= 1;
        state.wake_all(&self.filled);
        state.wake_all(&self.emptied);
    }
}

impl<T> Channel<T> {
    fn reserve_message<'a>(&'a self, mut state: Guard<'a, T>, look: &Look<'_>) -> Found {
        if !state.queue.is_empty() || state.senders == 0 {
            if !look.selection.close() {
                return Found::Bound;
            }
            let message = self.set_aside(&mut state, look);
            return Found::Reserved(message.unwrap_or_else(|| {
                state.record.saw_end(look.patience, look.here);
                Reserved::End
            }));
        }
        if state.find_sender(Some(look.selection)) {
            self.set_waiting(&mut state, look.here);
            return self.take_promised(state, look).map_or(Found::Nothing, Found::Reserved);
        }
        if look.goes_by_nothing {
            state.says_nothing(Side::Receive, look.here);
        }
        Found::Nothing
    }

    fn reserve_place<'a>(&'a self, mut state: Guard<'a, T>, look: &Look<'_>) -> Found {
        if state.receivers == 0 || state.has_place() {
            if !look.selection.close() {
                return Found::Bound;
            }
        } else if state.bound != Bound::Rendezvous || !state.find_taker(Some(look.selection)) {
            if look.goes_by_nothing {
                state.says_nothing(Side::Send, look.here);
            }
            return Found::Nothing;
        }
        if state.receivers == 0 {
            return Found::Reserved(Reserved::Refused);
        }
        if state.bound == Bound::Rendezvous {
            state.record.saw_waiting(true, look.here);
        }
        state.promised += 1;
        Found::Reserved(Reserved::Place)
    }

    /// Takes a message for which the calling thread counts as one that waits. It waits no longer
    /// then, even if the message has gone to somebody else.
    fn take_promised<'a>(&'a self, state: Guard<'a, T>, look: &Look<'_>) -> Option<Reserved> {
        let mut state = self.stay(state, look.here);
        self.set_aside(&mut state, look)
    }

    fn set_aside(&self, state: &mut State<T>, look: &Look<'_>) -> Option<Reserved> {
        let (number, value) = self.take(state, look.patience, look.here)?;
        state.aside.push((number, value));
        Some(Reserved::Message(number))
    }

    /// Takes a message that was set aside.
    pub(crate) fn receive_reserved(&self, number: u64) -> T {
        let mut state = self.lock();
        let found = state.aside.iter().position(|(aside, _)| *aside == number);
        let (_, value) = state.aside.swap_remove(found.expect("it was set aside for this thread"));
        value
    }

    /// Sends to where a place was promised. The message comes back if nobody is left to receive.
    pub(crate) fn send_reserved(
        &self,
        value: T,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Result<(), T> {
        sched::point(Action::Send, self.key(), here);
        let mut state = self.lock();
        state.promised -= 1;
        if state.receivers == 0 {
            state.is_refused(here);
            state.wake_all(&self.emptied);
            return Err(value);
        }
        state.push(value, false, patience, here);
        state.wake_one(&self.filled);
        if state.bound == Bound::Rendezvous {
            state.wake_all(&self.emptied);
        }
        Ok(())
    }

    /// A selection has found no receiver; the message that it would have sent has a number, too.
    pub(crate) fn refuse(&self, here: Option<CallSite>) {
        sched::point(Action::Send, self.key(), here);
        self.lock().is_refused(here);
    }
}

impl<T> State<T> {
    /// Whether there is a place for one more message.
    fn has_place(&self) -> bool {
        match self.bound {
            Bound::None | Bound::Messages(_) => !self.is_full(),
            Bound::Rendezvous => self.has_taker(),
        }
    }

    fn is_possible(&self, side: Side, own: &Selection) -> bool {
        let rendezvous = self.bound == Bound::Rendezvous;
        match side {
            Side::Receive => {
                !self.queue.is_empty()
                    || self.senders == 0
                    || rendezvous && self.selecting.can_bind(Side::Send, Some(own))
            }
            Side::Send => {
                self.receivers == 0
                    || self.has_place()
                    || rendezvous
                        && self.waiting == self.used()
                        && self.selecting.can_bind(Side::Receive, Some(own))
            }
        }
    }

    /// The calling thread goes by it that there is nothing for this side.
    fn says_nothing(&mut self, side: Side, here: Option<CallSite>) {
        match side {
            // What is promised is not sent yet.
            Side::Receive if self.queue.is_empty() && self.senders > 0 => {
                self.record.found_nothing(here);
            }
            Side::Receive => {}
            Side::Send => {
                if self.bound == Bound::Rendezvous {
                    self.record.saw_waiting(false, here);
                }
                self.record.found_full(here);
            }
        }
    }
}

/// An arm of a selection: a channel, and what is to be done there.
#[derive(Clone, Copy)]
pub(crate) struct Arm<'a> {
    pub(crate) channel: &'a dyn Selectable,
    pub(crate) side: Side,
}

// SAFETY: a selection touches no message, but moves it within the channel, under its lock. Who
// takes or gives one has a receiver or a sender, which are sent and shared only if messages can be
// sent.
unsafe impl Send for Arm<'_> {}
// SAFETY: as above.
unsafe impl Sync for Arm<'_> {}

impl Arm<'_> {
    /// Whether it is one of this channel.
    pub(crate) fn is_at<T>(&self, channel: &Channel<T>, side: Side) -> bool {
        ptr::eq(ptr::from_ref(self.channel).cast::<()>(), ptr::from_ref(channel).cast::<()>())
            && self.side == side
    }
}
