//! The queue between senders and receiver, and who waits for whom.

use std::collections::VecDeque;
use std::mem;
use std::sync::mpsc::{RecvTimeoutError, SendError, TrySendError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::record::Record;
use crate::rt::Here;

/// What senders and receiver share.
///
/// No code of the program, such as the destructor of a message, runs while the state is locked.
pub(super) struct Channel<T> {
    state: Mutex<State<T>>,
    /// The receiver waits here for a message, or for the last sender to go.
    filled: Condvar,
    /// Senders wait here for room or for their message to be taken, or for the receiver to go.
    emptied: Condvar,
}

struct State<T> {
    /// On a rendezvous channel: what is offered.
    queue: VecDeque<Message<T>>,
    bound: Bound,
    senders: usize,
    /// Whether the receiver lives.
    receiver: bool,
    /// Whether the receiver waits for a message.
    waiting: bool,
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

/// How long a receiver waits.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    None,
    Until(Instant),
    Forever,
}

type Guard<'a, T> = MutexGuard<'a, State<T>>;

impl<T> Channel<T> {
    /// A channel without bound, with one sender.
    pub(super) fn unbounded() -> Self {
        Self::new(Bound::None, Record::new())
    }

    /// A channel for up to `bound` messages, with one sender.
    pub(super) fn bounded(bound: usize, here: Here) -> Self {
        match bound {
            0 => Self::new(Bound::Rendezvous, Record::new()),
            _ => Self::new(Bound::Messages(bound), Record::with_places(bound, here)),
        }
    }

    fn new(bound: Bound, record: Record) -> Self {
        let state = State {
            queue: VecDeque::new(),
            bound,
            senders: 1,
            receiver: true,
            waiting: false,
            next: 0,
            held: VecDeque::new(),
            record,
        };
        Self { state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new() }
    }

    fn lock(&self) -> Guard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends, as soon as there is room; on a rendezvous channel, returns when the message is taken.
    pub(super) fn send(&self, value: T, here: Here) -> Result<(), SendError<T>> {
        let mut state = self.lock();
        while state.receiver && state.is_full() {
            state = wait(&self.emptied, state);
        }
        if !state.receiver {
            state.record.saw_no_receiver(here);
            return Err(SendError(value));
        }
        let held = state.bound == Bound::Rendezvous;
        let (number, session) = state.push(value, held, here);
        self.filled.notify_one();
        if held { self.rendezvous(state, number, session, here) } else { Ok(()) }
    }

    /// Waits until the message is taken, or cannot be any more.
    fn rendezvous(
        &self,
        mut state: Guard<'_, T>,
        number: u64,
        session: u32,
        here: Here,
    ) -> Result<(), SendError<T>> {
        loop {
            let offered = state.queue.iter().position(|message| message.number == number);
            match offered {
                None if state.held.front() == Some(&number) => {
                    state.held.pop_front();
                    state.record.acknowledged(number, session, here);
                    self.emptied.notify_all();
                    return Ok(());
                }
                Some(position) if !state.receiver => {
                    let message = state.queue.remove(position);
                    state.held.retain(|held| *held != number);
                    state.record.saw_no_receiver(here);
                    return Err(SendError(message.expect("it was found there").value));
                }
                _ => state = wait(&self.emptied, state),
            }
        }
    }

    /// Sends if that is possible at once.
    pub(super) fn try_send(&self, value: T, here: Here) -> Result<(), TrySendError<T>> {
        let mut state = self.lock();
        if !state.receiver {
            state.record.saw_no_receiver(here);
            return Err(TrySendError::Disconnected(value));
        }
        // A receiver that waits takes the message even if its time runs out meanwhile.
        let taker = state.waiting && state.queue.is_empty();
        if state.bound == Bound::Rendezvous {
            state.record.saw_waiting(taker, here);
        }
        if state.is_full() || (state.bound == Bound::Rendezvous && !taker) {
            state.record.found_full(here);
            return Err(TrySendError::Full(value));
        }
        state.push(value, false, here);
        self.filled.notify_one();
        Ok(())
    }

    /// Receives; [`RecvTimeoutError::Timeout`] if there is nothing and no patience left.
    pub(super) fn receive(&self, patience: Patience, here: Here) -> Result<T, RecvTimeoutError> {
        let mut state = self.lock();
        loop {
            if let Some(message) = state.queue.pop_front() {
                let Message { number, value, session, held } = message;
                state.record.received(number, session, held, here);
                match state.bound {
                    Bound::None => {}
                    Bound::Messages(_) => self.emptied.notify_one(),
                    Bound::Rendezvous => self.emptied.notify_all(),
                }
                return Ok(value);
            }
            if state.senders == 0 {
                state.record.saw_end(here);
                return Err(RecvTimeoutError::Disconnected);
            }
            let give_up = match patience {
                Patience::None => true,
                Patience::Until(deadline) => deadline <= Instant::now(),
                Patience::Forever => false,
            };
            if give_up {
                state.record.found_nothing(here);
                return Err(RecvTimeoutError::Timeout);
            }
            state.set_waiting(true, here);
            state = match patience {
                Patience::Until(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let woken = self.filled.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                _ => wait(&self.filled, state),
            };
            state.set_waiting(false, here);
        }
    }

    /// There is one more sender.
    pub(super) fn add_sender(&self) {
        self.lock().senders += 1;
    }

    /// A sender goes.
    pub(super) fn drop_sender(&self) {
        let mut state = self.lock();
        state.senders -= 1;
        state.record.closed();
        if state.senders == 0 {
            self.filled.notify_one();
        }
    }

    /// The receiver goes, and with it what it has not received. Offers of senders that wait go
    /// back to them.
    pub(super) fn drop_receiver(&self) {
        let mut state = self.lock();
        state.receiver = false;
        state.record.receiver_dropped();
        let unreceived = match state.bound {
            Bound::Rendezvous => VecDeque::new(),
            _ => mem::take(&mut state.queue),
        };
        self.emptied.notify_all();
        drop(state);
        drop(unreceived);
    }
}

impl<T> State<T> {
    fn is_full(&self) -> bool {
        matches!(self.bound, Bound::Messages(bound) if self.queue.len() >= bound)
    }

    fn set_waiting(&mut self, waiting: bool, here: Here) {
        self.waiting = waiting;
        if self.bound == Bound::Rendezvous {
            self.record.receiver_waits(waiting, here);
        }
    }

    /// Puts a message into the queue; returns its number and the session that recorded it.
    fn push(&mut self, value: T, held: bool, here: Here) -> (u64, u32) {
        let number = self.next;
        self.next += 1;
        let session = self.record.sent(number, here);
        self.queue.push_back(Message { number, value, session, held });
        if held {
            self.held.push_back(number);
        }
        (number, session)
    }
}

fn wait<'a, T>(condvar: &Condvar, state: Guard<'a, T>) -> Guard<'a, T> {
    condvar.wait(state).unwrap_or_else(PoisonError::into_inner)
}
