//! The queue between senders and receivers, and who waits for whom: the engine of all channels.
//! Those of [`std::sync::mpsc`] have one receiver, those of crossbeam any number.

use super::patience::Patience;
use super::record::Record;
use super::selection::{Selecting, Side};
use crate::rt::{CallSite, Unordered};
use crate::sched::{self, Action, Intent};
use crate::trace;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, TrySendError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "crossbeam")]
pub(crate) mod arms;
mod rendezvous;
#[cfg(feature = "crossbeam")]
mod several;

/// What senders and receivers share.
///
/// No code of the program, such as the destructor of a message, runs while the state is locked.
pub(crate) struct Channel<T> {
    state: Mutex<State<T>>,
    /// How often the state was locked by who may change it.
    changes: AtomicU64,
    /// Receivers wait here for a message, or for the last sender to go.
    filled: Signal,
    /// Senders wait here for room or for their message to be taken, or for the last receiver to
    /// go.
    emptied: Signal,
}

/// What threads sleep on that wait for the same.
struct Signal {
    condvar: Condvar,
    /// Which arms of selections wait for it, too.
    side: Side,
}

struct State<T> {
    /// On a rendezvous channel: what is offered.
    queue: VecDeque<Message<T>>,
    bound: Bound,
    senders: usize,
    receivers: usize,
    /// How many of them wait for a message.
    waiting: usize,
    /// How many threads sleep on one of the condvars: if there are none, none has to be woken.
    sleepers: usize,
    /// Threads that wait for this channel among others.
    selecting: Selecting,
    /// How many messages selections have been promised a place for, and not sent yet. On a
    /// rendezvous channel it is a receiver that is promised to them: so many of those that wait
    /// stay.
    promised: usize,
    /// What selections have received, until they take it.
    aside: Vec<(u64, T)>,
    /// Whether messages that were not received stay when the last receiver goes.
    keeps: bool,
    /// The number of the next message.
    next: u64,
    /// Messages whose senders are held by a rendezvous, in the order in which they may go on. They
    /// go on in the order in which their messages were taken, so that the trace's acknowledgements
    /// can form a queue.
    held: VecDeque<u64>,
    record: Record,
}

struct Message<T> {
    number: u64,
    value: T,
    /// The session that recorded its sending; 0 for none.
    session: u32,
    /// Whether its sender is held until it is taken.
    held: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    None,
    Messages(usize),
    Rendezvous,
}

type Guard<'a, T> = MutexGuard<'a, State<T>>;

impl<T> Channel<T> {
    /// A channel without bound, with one sender and one receiver.
    pub(crate) fn unbounded() -> Self {
        Self::new(Bound::None, Record::new())
    }

    /// A channel for up to `bound` messages, with one sender and one receiver.
    pub(crate) fn bounded(bound: usize) -> Self {
        match bound {
            0 => Self::new(Bound::Rendezvous, Record::new()),
            _ => Self::new(Bound::Messages(bound), Record::with_room(bound)),
        }
    }

    fn new(bound: Bound, record: Record) -> Self {
        let state = State {
            queue: VecDeque::new(),
            bound,
            senders: 1,
            receivers: 1,
            waiting: 0,
            sleepers: 0,
            selecting: Selecting::default(),
            promised: 0,
            aside: Vec::new(),
            keeps: false,
            next: 0,
            held: VecDeque::new(),
            record,
        };
        Self {
            state: Mutex::new(state),
            changes: AtomicU64::new(0),
            filled: Signal { condvar: Condvar::new(), side: Side::Receive },
            emptied: Signal { condvar: Condvar::new(), side: Side::Send },
        }
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Waits for something to happen, or for the end of patience; under control, until the state
    /// is as `ready` says.
    fn wait<'a>(
        &'a self,
        signal: &Signal,
        state: Guard<'a, T>,
        patience: Patience,
        (action, here): (Action, Option<CallSite>),
        ready: &dyn Fn(&State<T>) -> bool,
    ) -> Guard<'a, T> {
        if !sched::is_controlled() {
            return wait(&signal.condvar, state, patience);
        }
        drop(state);
        let deadline = match patience {
            Patience::Until(deadline) => Some(deadline),
            Patience::None | Patience::Forever => None,
        };
        let intent = || Intent::new(action, self.key(), here);
        // It is asked at each step of the others, most of which do not change the channel.
        let seen = Cell::new((0, false));
        let is_ready = || {
            let changes = self.changes.load(Ordering::Acquire);
            if seen.get().0 != changes {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                seen.set((changes, ready(&state)));
            }
            seen.get().1
        };
        sched::block(intent, deadline, &|late| late || is_ready());
        self.lock()
    }

    fn lock(&self) -> Guard<'_, T> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever sees the old number, sees it before anything is changed.
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes + 1, Ordering::Release);
        state
    }

    /// Sends, as soon as there is room; on a rendezvous channel, returns when the message is taken.
    /// [`TrySendError::Full`] if there is no patience left.
    pub(crate) fn send(
        &self,
        value: T,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Result<(), TrySendError<T>> {
        sched::point(Action::Send, self.key(), here);
        let mut state = self.lock();
        while state.receivers > 0 && state.is_full() {
            if patience.is_over(Action::Send, here) {
                state.record.found_full(here);
                return Err(TrySendError::Full(value));
            }
            if state.bound != Bound::Rendezvous {
                state.record.waits_for_room(state.next, patience.in_trace(), here);
            }
            let has_room = |state: &State<T>| state.receivers == 0 || !state.is_full();
            state = self.wait(&self.emptied, state, patience, (Action::Send, here), &has_room);
        }
        if state.receivers == 0 {
            state.is_refused(here);
            return Err(TrySendError::Disconnected(value));
        }
        let held = state.bound == Bound::Rendezvous;
        if held {
            state.find_taker(None);
        }
        // A message that a waiting receiver takes is as good as taken.
        let time_left = if state.has_taker() { Patience::Forever } else { patience };
        let (number, session) = state.push(value, held, patience.in_trace(), here);
        state.wake_one(&self.filled);
        if held {
            self.rendezvous(state, (number, session), (patience, time_left), here)
        } else {
            Ok(())
        }
    }

    /// Sends if that is possible at once.
    pub(crate) fn try_send(&self, value: T, here: Option<CallSite>) -> Result<(), TrySendError<T>> {
        sched::point(Action::Send, self.key(), here);
        let mut state = self.lock();
        if state.receivers == 0 {
            state.is_refused(here);
            return Err(TrySendError::Disconnected(value));
        }
        let taker = state.bound == Bound::Rendezvous && state.find_taker(None);
        if state.bound == Bound::Rendezvous {
            state.record.saw_waiting(taker, here);
        }
        if state.is_full() || (state.bound == Bound::Rendezvous && !taker) {
            state.record.found_full(here);
            return Err(TrySendError::Full(value));
        }
        state.push(value, false, trace::Patience::Try, here);
        state.wake_one(&self.filled);
        Ok(())
    }

    /// Receives; [`RecvTimeoutError::Timeout`] if there is nothing and no patience left.
    pub(crate) fn receive(
        &self,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Result<T, RecvTimeoutError> {
        sched::point(Action::Receive, self.key(), here);
        let mut state = self.lock();
        loop {
            if let Some((_, value)) = self.take(&mut state, patience.in_trace(), here) {
                return Ok(value);
            }
            if state.senders == 0 {
                state.record.saw_end(patience.in_trace(), here);
                return Err(RecvTimeoutError::Disconnected);
            }
            if patience.is_over(Action::Receive, here) && !state.find_sender(None) {
                state.record.found_nothing(here);
                return Err(RecvTimeoutError::Timeout);
            }
            self.set_waiting(&mut state, here);
            state.record.waits_for_message(patience.in_trace(), here);
            if !state.is_counted_on() {
                let has_news = |state: &State<T>| !state.queue.is_empty() || state.senders == 0;
                let what = (Action::Receive, here);
                state = self.wait(&self.filled, state, patience, what, &has_news);
            }
            state = self.stay(state, here);
        }
    }

    /// Takes a message, if there is one, in an operation that would have waited that long.
    fn take(
        &self,
        state: &mut State<T>,
        patience: trace::Patience,
        here: Option<CallSite>,
    ) -> Option<(u64, T)> {
        let Message { number, value, session, held } = state.queue.pop_front()?;
        state.record.received((number, session), held, patience, here);
        match state.bound {
            Bound::None => {}
            Bound::Messages(_) => state.wake_one(&self.emptied),
            Bound::Rendezvous => {
                state.wake_all(&self.emptied);
                // Another one may be needed no longer.
                state.wake_all(&self.filled);
            }
        }
        Some((number, value))
    }

    /// There is one more sender.
    pub(crate) fn add_sender(&self) {
        sched::point(Action::Disconnect, self.key(), None);
        self.lock().senders += 1;
    }

    /// A sender goes.
    pub(crate) fn drop_sender(&self) {
        sched::point(Action::Disconnect, self.key(), None);
        let mut state = self.lock();
        state.senders -= 1;
        state.record.closed();
        if state.senders == 0 {
            state.wake_all(&self.filled);
        }
    }

    /// A receiver goes, and with the last one all messages that were not received. Offers of
    /// senders that wait go back to them.
    pub(crate) fn drop_receiver(&self) {
        sched::point(Action::Disconnect, self.key(), None);
        let mut state = self.lock();
        state.receivers -= 1;
        let left = state.receivers;
        state.record.receiver_dropped(left);
        if left > 0 {
            return;
        }
        let unreceived = match state.bound {
            Bound::Rendezvous => VecDeque::new(),
            _ if state.keeps => VecDeque::new(),
            _ => mem::take(&mut state.queue),
        };
        state.wake_all(&self.emptied);
        drop(state);
        // Nothing is received, so nothing is recorded that orders this with what the senders did.
        drop(Unordered::new(unreceived));
    }
}

impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The last thread drops what is left; which one that is, is not recorded.
        drop(Unordered::new((mem::take(&mut state.queue), mem::take(&mut state.aside))));
    }
}

impl<T> State<T> {
    /// Wakes one of those who sleep there, and all selections.
    fn wake_one(&self, signal: &Signal) {
        if self.sleepers > 0 {
            signal.condvar.notify_one();
        }
        self.selecting.wake(signal.side);
    }

    /// Wakes all who sleep there, and all selections.
    fn wake_all(&self, signal: &Signal) {
        if self.sleepers > 0 {
            signal.condvar.notify_all();
        }
        self.selecting.wake(signal.side);
    }

    /// How many places are taken, by messages that are there or by those that were promised one.
    fn used(&self) -> usize {
        self.queue.len() + self.promised
    }

    fn is_full(&self) -> bool {
        match self.bound {
            Bound::None => false,
            Bound::Messages(bound) => self.used() >= bound,
            // Who is promised a receiver would not get it if another message came first.
            Bound::Rendezvous => self.promised > 0 && !self.has_taker(),
        }
    }

    /// Whether a waiting receiver takes the next message, even if its time runs out meanwhile.
    fn has_taker(&self) -> bool {
        self.waiting > self.used()
    }

    /// A message cannot be sent, for there is no receiver. It has a number as if it could.
    fn is_refused(&mut self, here: Option<CallSite>) {
        let number = self.next;
        self.next += 1;
        self.record.saw_no_receiver(number, here);
    }

    /// Puts a message into the queue; returns its number and the session that recorded it.
    fn push(
        &mut self,
        value: T,
        held: bool,
        patience: trace::Patience,
        here: Option<CallSite>,
    ) -> (u64, u32) {
        let number = self.next;
        self.next += 1;
        let session = self.record.sent(number, patience, here);
        self.queue.push_back(Message { number, value, session, held });
        if held {
            self.held.push_back(number);
        }
        (number, session)
    }
}

fn wait<'a, T>(condvar: &Condvar, mut state: Guard<'a, T>, patience: Patience) -> Guard<'a, T> {
    state.sleepers += 1;
    let mut state = match patience {
        Patience::None => state,
        Patience::Until(deadline) => {
            condvar.wait_timeout(state, deadline.left()).unwrap_or_else(PoisonError::into_inner).0
        }
        Patience::Forever => condvar.wait(state).unwrap_or_else(PoisonError::into_inner),
    };
    state.sleepers -= 1;
    state
}
