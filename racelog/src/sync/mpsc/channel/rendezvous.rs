//! Messages that go from hand to hand: who offers one, who waits for one, and who of those that
//! select is bound to the other side.
//!
//! A selection that is to send goes on when a receiver is there for its message, which is sent
//! later. Until then the receiver is counted on: so many of those that wait stay, even if their
//! time is up. At no time are there fewer of them than messages that were promised one, with the
//! offers that come before these.

use super::super::patience::Patience;
use super::super::selection::{Selection, Side};
use super::{Bound, Channel, Guard, State};
use crate::rt::CallSite;
use crate::sched::Action;
use std::sync::mpsc::TrySendError;

impl<T> Channel<T> {
    /// Waits until the message is taken, or cannot be any more. Of the two patiences the first is
    /// what the program has asked for, the second what is left.
    pub(super) fn rendezvous<'a>(
        &'a self,
        mut state: Guard<'a, T>,
        (number, session): (u64, u32),
        (asked, patience): (Patience, Patience),
        here: Option<CallSite>,
    ) -> Result<(), TrySendError<T>> {
        state.record.waits_for_taker(asked.in_trace(), here);
        loop {
            let offered = state.queue.iter().position(|message| message.number == number);
            match offered {
                None if state.held.front() == Some(&number) => {
                    state.held.pop_front();
                    state.record.acknowledged((number, session), asked.in_trace(), here);
                    state.wake_all(&self.emptied);
                    return Ok(());
                }
                Some(position) if state.receivers == 0 => {
                    let value = state.take_back(position);
                    state.record.saw_no_receiver(number, here);
                    return Err(TrySendError::Disconnected(value));
                }
                Some(position) if patience.is_over(Action::Send, here) => {
                    let mut before = state.queue.iter().take(position);
                    let front = before.all(|message| message.session == 0);
                    let value = state.take_back(position);
                    state.record.withdrawn(number, session, front, here);
                    return Err(TrySendError::Full(value));
                }
                offered => {
                    let settled = |state: &State<T>| state.is_settled(number);
                    // Once it is taken, only those whose messages were taken before are waited for.
                    let patience = if offered.is_none() { Patience::Forever } else { patience };
                    state =
                        self.wait(&self.emptied, state, patience, (Action::Send, here), &settled);
                }
            }
        }
    }

    /// A receiver starts to wait.
    pub(super) fn set_waiting(&self, state: &mut State<T>, here: Option<CallSite>) {
        state.waiting += 1;
        if state.bound == Bound::Rendezvous {
            // It would not wait if a sender offered something.
            state.record.found_nothing(here);
            state.says_who_waits(here);
            state.wake_all(&self.emptied);
        }
    }

    /// A receiver waits no longer, unless a selection counts on it. Then it does until it is given
    /// that message, or is not needed.
    pub(super) fn stay<'a>(
        &'a self,
        mut state: Guard<'a, T>,
        here: Option<CallSite>,
    ) -> Guard<'a, T> {
        while state.is_counted_on() {
            let may_go = |state: &State<T>| !state.is_counted_on();
            let what = (Action::Receive, here);
            state = self.wait(&self.filled, state, Patience::Forever, what, &may_go);
        }
        state.waiting -= 1;
        if state.bound == Bound::Rendezvous {
            state.says_who_waits(here);
        }
        state
    }
}

impl<T> State<T> {
    /// Whether the sender of an offer need not wait any longer.
    fn is_settled(&self, number: u64) -> bool {
        let offered = self.queue.iter().any(|message| message.number == number);
        if offered { self.receivers == 0 } else { self.held.front() == Some(&number) }
    }

    /// Whether a receiver that waits, and finds nothing, has to stay: a selection counts on it.
    pub(super) fn is_counted_on(&self) -> bool {
        self.bound == Bound::Rendezvous
            && self.queue.is_empty()
            && self.promised > 0
            && !self.has_taker()
    }

    /// Whether a waiting receiver takes the next message of a rendezvous channel. If none waits by
    /// itself, one that selects may be bound to; not by its own selection.
    pub(super) fn find_taker(&mut self, own: Option<&Selection>) -> bool {
        // Behind an offer that nobody takes yet, it would not be the next.
        if !self.has_taker()
            && self.waiting == self.used()
            && self.selecting.bind(Side::Receive, own)
        {
            self.waiting += 1;
        }
        self.has_taker()
    }

    /// Binds a selection to send to the calling thread, which finds a rendezvous channel empty and
    /// is about to wait. False if there is none.
    pub(super) fn find_sender(&mut self, own: Option<&Selection>) -> bool {
        let found = self.bound == Bound::Rendezvous
            && self.queue.is_empty()
            && self.selecting.bind(Side::Send, own);
        self.promised += usize::from(found);
        found
    }

    /// The number of receivers of a rendezvous channel that wait has changed.
    pub(super) fn says_who_waits(&mut self, here: Option<CallSite>) {
        self.record.receivers_wait(self.waiting + self.selecting.receivers(), here);
    }

    /// Takes an offer back to its sender.
    fn take_back(&mut self, position: usize) -> T {
        let message = self.queue.remove(position).expect("it was found there");
        self.held.retain(|held| *held != message.number);
        message.value
    }
}
