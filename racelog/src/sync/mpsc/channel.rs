//! The queue between senders and receivers, and who waits for whom: the engine of all channels.
//! Those of [`std::sync::mpsc`] have one receiver, those of crossbeam any number.

use super::record::Record;
use crate::rt::{CallSite, Unordered};
use crate::sched::{self, Action, Deadline, Intent};
use crate::trace;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, TrySendError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What senders and receivers share.
///
/// No code of the program, such as the destructor of a message, runs while the state is locked.
pub(crate) struct Channel<T> {
    state: Mutex<State<T>>,
    /// How often the state was locked by who may change it.
    changes: AtomicU64,
    /// Receivers wait here for a message, or for the last sender to go.
    filled: Condvar,
    /// Senders wait here for room or for their message to be taken, or for the last receiver to
    /// go.
    emptied: Condvar,
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

/// How long a thread waits.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    None,
    Until(Deadline),
    Forever,
}

impl Patience {
    /// So long from now; for ever, if no clock reaches that.
    pub(crate) fn of(timeout: Duration) -> Self {
        Deadline::after(timeout).map_or(Self::Forever, Self::Until)
    }

    /// The same, as the trace says it.
    fn in_trace(self) -> trace::Patience {
        match self {
            Self::None => trace::Patience::Try,
            Self::Until(_) => trace::Patience::Timed,
            Self::Forever => trace::Patience::Forever,
        }
    }

    /// Whether the calling thread, in this operation, waits no longer.
    fn is_over(self, action: Action, here: Option<CallSite>) -> bool {
        match self {
            Self::None => true,
            Self::Until(deadline) => deadline.has_passed(action, here),
            Self::Forever => false,
        }
    }
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
            keeps: false,
            next: 0,
            held: VecDeque::new(),
            record,
        };
        Self {
            state: Mutex::new(state),
            changes: AtomicU64::new(0),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Waits for something to happen, or for the end of patience; under control, until the state
    /// is as `ready` says.
    fn wait<'a>(
        &'a self,
        condvar: &Condvar,
        state: Guard<'a, T>,
        patience: Patience,
        (action, here): (Action, Option<CallSite>),
        ready: &dyn Fn(&State<T>) -> bool,
    ) -> Guard<'a, T> {
        if !sched::is_controlled() {
            return wait(condvar, state, patience);
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

    /// Keeps messages that were not received when the last receiver goes, until the senders go too.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn keeping(mut self) -> Self {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).keeps = true;
        self
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
            state.record.waits_for_room(state.next, patience.in_trace(), here);
            let has_room = |state: &State<T>| state.receivers == 0 || !state.is_full();
            state = self.wait(&self.emptied, state, patience, (Action::Send, here), &has_room);
        }
        if state.receivers == 0 {
            state.is_refused(here);
            return Err(TrySendError::Disconnected(value));
        }
        let held = state.bound == Bound::Rendezvous;
        // A message that a waiting receiver takes is as good as taken.
        let time_left = if state.has_taker() { Patience::Forever } else { patience };
        let (number, session) = state.push(value, held, patience, here);
        state.wake_one(&self.filled);
        if held {
            self.rendezvous(state, (number, session), (patience, time_left), here)
        } else {
            Ok(())
        }
    }

    /// Waits until the message is taken, or cannot be any more. Of the two patiences the first is
    /// what the program has asked for, the second what is left.
    fn rendezvous<'a>(
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

    /// Sends if that is possible at once.
    pub(crate) fn try_send(&self, value: T, here: Option<CallSite>) -> Result<(), TrySendError<T>> {
        sched::point(Action::Send, self.key(), here);
        let mut state = self.lock();
        if state.receivers == 0 {
            state.is_refused(here);
            return Err(TrySendError::Disconnected(value));
        }
        let taker = state.has_taker();
        if state.bound == Bound::Rendezvous {
            state.record.saw_waiting(taker, here);
        }
        if state.is_full() || (state.bound == Bound::Rendezvous && !taker) {
            state.record.found_full(here);
            return Err(TrySendError::Full(value));
        }
        state.push(value, false, Patience::None, here);
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
            if let Some(message) = state.queue.pop_front() {
                let Message { number, value, session, held } = message;
                state.record.received((number, session), held, patience.in_trace(), here);
                match state.bound {
                    Bound::None => {}
                    Bound::Messages(_) => state.wake_one(&self.emptied),
                    Bound::Rendezvous => state.wake_all(&self.emptied),
                }
                return Ok(value);
            }
            if state.senders == 0 {
                state.record.saw_end(patience.in_trace(), here);
                return Err(RecvTimeoutError::Disconnected);
            }
            if patience.is_over(Action::Receive, here) {
                state.record.found_nothing(here);
                return Err(RecvTimeoutError::Timeout);
            }
            state.set_waiting(true, here);
            state.record.waits_for_message(patience.in_trace(), here);
            let has_news = |state: &State<T>| !state.queue.is_empty() || state.senders == 0;
            state = self.wait(&self.filled, state, patience, (Action::Receive, here), &has_news);
            state.set_waiting(false, here);
        }
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

    /// There is one more receiver.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn add_receiver(&self, here: Option<CallSite>) {
        sched::point(Action::Disconnect, self.key(), here);
        let mut state = self.lock();
        let further = state.receivers;
        state.receivers += 1;
        state.record.receiver_added(further, here);
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

    /// How many messages are there. That there are none, or that there is no room for more, is
    /// recorded.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn len(&self, here: Option<CallSite>) -> usize {
        sched::point(Action::Look, self.key(), here);
        let mut state = self.lock();
        if state.bound == Bound::Rendezvous {
            return 0;
        }
        if state.queue.is_empty() {
            match state.senders {
                0 => state.record.saw_end(trace::Patience::Try, here),
                _ => state.record.found_nothing(here),
            }
        } else if state.is_full() && state.receivers > 0 {
            state.record.found_full(here);
        }
        state.queue.len()
    }

    /// The most messages that may be there.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn capacity(&self) -> Option<usize> {
        match self.lock().bound {
            Bound::None => None,
            Bound::Messages(bound) => Some(bound),
            Bound::Rendezvous => Some(0),
        }
    }
}

impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The last thread drops what is left; which one that is, is not recorded.
        drop(Unordered::new(mem::take(&mut state.queue)));
    }
}

impl<T> State<T> {
    /// Wakes one of those who sleep there.
    fn wake_one(&self, condvar: &Condvar) {
        if self.sleepers > 0 {
            condvar.notify_one();
        }
    }

    /// Wakes all who sleep there.
    fn wake_all(&self, condvar: &Condvar) {
        if self.sleepers > 0 {
            condvar.notify_all();
        }
    }

    fn is_full(&self) -> bool {
        matches!(self.bound, Bound::Messages(bound) if self.queue.len() >= bound)
    }

    /// Whether the sender of an offer need not wait any longer.
    fn is_settled(&self, number: u64) -> bool {
        let offered = self.queue.iter().any(|message| message.number == number);
        if offered { self.receivers == 0 } else { self.held.front() == Some(&number) }
    }

    /// Whether a waiting receiver takes the next message, even if its time runs out meanwhile.
    fn has_taker(&self) -> bool {
        self.waiting > self.queue.len()
    }

    fn set_waiting(&mut self, waiting: bool, here: Option<CallSite>) {
        if waiting {
            self.waiting += 1;
        } else {
            self.waiting -= 1;
        }
        if self.bound == Bound::Rendezvous {
            if waiting {
                // It would not wait if a sender offered something.
                self.record.found_nothing(here);
            }
            self.record.receivers_wait(self.waiting, here);
        }
    }

    /// A message cannot be sent, for there is no receiver. It has a number as if it could.
    fn is_refused(&mut self, here: Option<CallSite>) {
        let number = self.next;
        self.next += 1;
        self.record.saw_no_receiver(number, here);
    }

    /// Takes an offer back to its sender.
    fn take_back(&mut self, position: usize) -> T {
        let message = self.queue.remove(position).expect("it was found there");
        self.held.retain(|held| *held != message.number);
        message.value
    }

    /// Puts a message into the queue; returns its number and the session that recorded it.
    fn push(
        &mut self,
        value: T,
        held: bool,
        patience: Patience,
        here: Option<CallSite>,
    ) -> (u64, u32) {
        let number = self.next;
        self.next += 1;
        let session = self.record.sent(number, patience.in_trace(), here);
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
