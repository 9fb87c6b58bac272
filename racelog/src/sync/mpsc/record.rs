//! What a channel records.
//!
//! Every function here is called under the channel's lock. In the trace's eyes the queue holds the
//! messages whose sending was recorded: messages of others pass unseen. If a recorded message goes
//! to a thread that is not recorded in the same session, the trace's queue would keep it for ever:
//! then the channel is *lost*, and nothing more is recorded of it.
//!
//! What is done to a channel with a bound is several events, and yet it is done at once: no thread
//! ever sees a place taken and no message there. A lock of the trace says so.

use std::collections::VecDeque;

use crate::rt::{CallSite, NumberedId, ThreadLog, counters, with};
use crate::trace::{ChannelId, LockId, Op, Value, VarId};

/// More places than this are not modelled, for each of them is an event at the channel's creation:
/// a larger channel counts as one without bound.
const MOST_PLACES: usize = 4096;

/// The values of the variable that says whether the receiver lives.
const LIVES: Value = Value::Nat(0);
const DROPPED: Value = Value::Nat(1);

/// A channel's part in the trace.
pub(crate) struct Record {
    channel: NumberedId,
    /// What keeps the events of one operation together, where there are several.
    lock: Option<NumberedId>,
    /// The channel that goes back: of free places, or of acknowledgements.
    back: NumberedId,
    /// Whether a receiver lives.
    alive: NumberedId,
    /// How many receivers there are besides the first.
    further: NumberedId,
    /// The session that recorded the first clone of a receiver; 0 for none.
    shared_in: u32,
    /// Whether a receiver of a rendezvous channel waits: 0, or the number of the wait.
    waiting: NumberedId,
    waits: u64,
    /// The value of that variable.
    wait: u64,
    waits_now: bool,
    clock: u64,
    lost: bool,
    places: Option<Places>,
    /// The session that recorded the receiver's drop; 0 for none.
    dropped_in: u32,
}

/// The room of a bounded channel, as far as recorded messages take it up.
struct Places {
    /// The session in which they were made. They are in no other's trace.
    session: u32,
    free: VecDeque<u64>,
    /// The number of the next place: one that becomes free again counts as another.
    next: u64,
}

impl Record {
    /// Of a channel without bound or places.
    pub(crate) fn new() -> Self {
        Self {
            channel: NumberedId::new(),
            lock: None,
            back: NumberedId::new(),
            alive: NumberedId::new(),
            further: NumberedId::new(),
            shared_in: 0,
            waiting: NumberedId::new(),
            waits: 0,
            wait: 0,
            waits_now: false,
            clock: 0,
            lost: false,
            places: None,
            dropped_in: 0,
        }
    }

    /// Of a channel whose senders wait until their messages are taken.
    pub(crate) fn of_rendezvous() -> Self {
        Self { lock: Some(NumberedId::new()), ..Self::new() }
    }

    /// Of a channel for `count` messages, all of whose places are free.
    pub(crate) fn with_places(count: usize, here: Option<CallSite>) -> Self {
        let mut record = Self::new();
        if count <= MOST_PLACES {
            record.lock = Some(NumberedId::new());
            with(|log| {
                let session = log.session_number();
                record.places = Some(Places { session, free: VecDeque::new(), next: 0 });
                for _ in 0..count {
                    record.free_place(log, here);
                }
            });
        }
        record
    }

    /// A message is put into the queue. Returns the session that recorded it; 0 for none.
    pub(crate) fn sent(&mut self, number: u64, here: Option<CallSite>) -> u32 {
        let session = self.with(|record, log| {
            if let Some(places) = &mut record.places {
                let place = places.free.pop_front().expect("recorded messages leave room");
                let (channel, message) = (record.back(), Value::Nat(place.into()));
                record.emit(log, Op::Recv { channel, message }, here);
            }
            record.saw_receiver(log, LIVES, here);
            let (channel, message) = (record.channel(), Value::Nat(number.into()));
            record.emit(log, Op::Send { channel, message }, here);
            log.session_number()
        });
        session.unwrap_or(0)
    }

    /// A message, which was recorded by `session`, is taken out of the queue. If its sender is held
    /// it may go on.
    pub(crate) fn received(
        &mut self,
        number: u64,
        session: u32,
        held: bool,
        here: Option<CallSite>,
    ) {
        if session == 0 {
            return;
        }
        let recorded = self.with(|record, log| {
            if log.session_number() != session {
                return false;
            }
            let (channel, message) = (record.channel(), Value::Nat(number.into()));
            record.emit(log, Op::Recv { channel, message }, here);
            if held {
                let channel = record.back();
                record.emit(log, Op::Send { channel, message }, here);
            }
            record.free_place(log, here);
            true
        });
        self.lost |= recorded != Some(true);
    }

    /// The sender of a message, which was recorded by `session`, sees that it was taken.
    pub(crate) fn acknowledged(&mut self, number: u64, session: u32, here: Option<CallSite>) {
        self.with(|record, log| {
            if log.session_number() == session {
                let (channel, message) = (record.back(), Value::Nat(number.into()));
                record.emit(log, Op::Recv { channel, message }, here);
            }
        });
    }

    /// A receive finds nothing, while senders are left.
    pub(crate) fn found_nothing(&mut self, here: Option<CallSite>) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit(log, Op::RecvEmpty(channel), here);
        });
    }

    /// A receive finds nothing, and no senders.
    pub(crate) fn saw_end(&mut self, here: Option<CallSite>) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit(log, Op::RecvClosed(channel), here);
        });
    }

    /// A send finds no room, while the receiver lives. It can be told only of a bounded channel,
    /// and only if the room is taken up by recorded messages alone.
    pub(crate) fn found_full(&mut self, here: Option<CallSite>) {
        self.with(|record, log| {
            if record.places.as_ref().is_some_and(|places| places.free.is_empty()) {
                record.saw_receiver(log, LIVES, here);
                let channel = record.back();
                record.emit(log, Op::RecvEmpty(channel), here);
            }
        });
    }

    /// A receiver of a rendezvous channel starts or stops to wait; now `waiting` of them do.
    pub(crate) fn receivers_wait(&mut self, waiting: usize, here: Option<CallSite>) {
        let shared = self.shared_in != 0;
        let change = |record: &mut Self, log: &ThreadLog| {
            record.waits += u64::from(waiting > 0);
            let old = Value::Nat(record.wait.into());
            record.wait = if waiting > 0 { record.waits } else { 0 };
            let (var, new) = (record.waiting(), Value::Nat(record.wait.into()));
            // Of several receivers each changes what the others have left.
            let op = match shared {
                true => Op::Rmw { var, old, new, ordering: None },
                false => Op::Store { var, value: new, ordering: None },
            };
            record.emit(log, op, here);
        };
        let recorded = if shared { self.with_shared(change) } else { self.with(change).is_some() };
        self.waits_now = waiting > 0 && recorded;
    }

    /// A send that does not wait goes by whether a receiver of a rendezvous channel does.
    pub(crate) fn saw_waiting(&mut self, waits: bool, here: Option<CallSite>) {
        self.with(|record, log| {
            // A receiver that is not recorded explains nothing.
            if record.waits_now == waits {
                let value = Value::Nat(if waits { record.wait.into() } else { 0 });
                record.decide(log, Op::Load { var: record.waiting(), value, ordering: None }, here);
            }
        });
    }

    /// A sender takes its message, which was recorded by `session`, back from a rendezvous. The
    /// trace's queue gives it only if it is in `front`.
    pub(crate) fn withdrawn(
        &mut self,
        number: u64,
        session: u32,
        front: bool,
        here: Option<CallSite>,
    ) {
        match front {
            true => self.received(number, session, false, here),
            false => self.lost |= session != 0,
        }
    }

    /// A send finds the receiver gone.
    pub(crate) fn saw_no_receiver(&mut self, here: Option<CallSite>) {
        self.with(|record, log| {
            // What another session's thread did explains nothing in this one's trace.
            if record.dropped_in == log.session_number() {
                record.saw_receiver(log, DROPPED, here);
            }
        });
    }

    /// A sender is dropped.
    pub(crate) fn closed(&mut self) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit(log, Op::Close(channel), None);
        });
    }

    /// There is one more receiver; besides the first there are now `further`.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn receiver_added(&mut self, further: usize, here: Option<CallSite>) {
        if self.shared_in == 0 {
            self.shared_in = self.with(|_, log| log.session_number()).unwrap_or(0);
        }
        self.with_shared(|record, log| record.count(log, further - 1, further, here));
    }

    /// A receiver is dropped, and `left` are left. The last one has to know that it is.
    pub(crate) fn receiver_dropped(&mut self, left: usize) {
        if self.shared_in != 0 {
            self.with_shared(|record, log| match left.checked_sub(1) {
                Some(further) => record.count(log, left, further, None),
                None => {
                    let (var, value) = (record.further(), Value::Nat(0));
                    record.decide(log, Op::Load { var, value, ordering: None }, None);
                }
            });
        }
        if left == 0 {
            self.last_receiver_dropped();
        }
    }

    fn last_receiver_dropped(&mut self) {
        let session = self.with(|record, log| {
            let op = Op::Store { var: record.alive(), value: DROPPED, ordering: None };
            record.emit(log, op, None);
            log.session_number()
        });
        match session {
            Some(session) => self.dropped_in = session,
            None => self.lost = true,
        }
    }

    /// Runs `f` if what the calling thread does to the channel is recorded.
    fn with<R>(&mut self, f: impl FnOnce(&mut Self, &ThreadLog) -> R) -> Option<R> {
        if self.lost {
            return None;
        }
        with(|log| {
            let places = self.places.as_ref();
            let ours = places.is_none_or(|places| places.session == log.session_number());
            ours.then(|| self.at_once(log, f))
        })
        .flatten()
    }

    /// Runs `f`; no events of other threads come between its events.
    fn at_once<R>(&mut self, log: &ThreadLog, f: impl FnOnce(&mut Self, &ThreadLog) -> R) -> R {
        let Some(lock) = &self.lock else { return f(self, log) };
        let lock = LockId::new(lock.get(&counters::LOCKS));
        self.clock = log.tick(self.clock);
        log.emit_hidden(self.clock, Op::Acquire(lock));
        let result = f(self, log);
        self.clock = log.tick(self.clock);
        log.emit_hidden(self.clock, Op::Release(lock));
        result
    }

    /// As [`Record::with`], for what the receivers of a channel that has several do among them. If
    /// one of them is not recorded where the others are, the channel is lost.
    fn with_shared(&mut self, f: impl FnOnce(&mut Self, &ThreadLog)) -> bool {
        let recorded = self.with(|record, log| {
            let ours = record.shared_in == log.session_number();
            if ours {
                f(record, log);
            }
            ours
        });
        self.lost |= recorded != Some(true);
        recorded == Some(true)
    }

    /// The number of further receivers changes.
    fn count(&mut self, log: &ThreadLog, old: usize, new: usize, here: Option<CallSite>) {
        let (old, new) = (Value::Nat(old as u128), Value::Nat(new as u128));
        self.decide(log, Op::Rmw { var: self.further(), old, new, ordering: None }, here);
    }

    fn saw_receiver(&mut self, log: &ThreadLog, value: Value, here: Option<CallSite>) {
        self.decide(log, Op::Load { var: self.alive(), value, ordering: None }, here);
    }

    /// Records what the thread goes by.
    fn decide(&mut self, log: &ThreadLog, op: Op, here: Option<CallSite>) {
        let stamp = log.tick(self.clock);
        log.emit_decision(stamp, op, here);
        self.clock = stamp;
    }

    /// A place becomes free, if the channel has any.
    fn free_place(&mut self, log: &ThreadLog, here: Option<CallSite>) {
        if let Some(places) = &mut self.places {
            let place = places.next;
            places.next += 1;
            places.free.push_back(place);
            let (channel, message) = (self.back(), Value::Nat(place.into()));
            self.emit(log, Op::Send { channel, message }, here);
        }
    }

    fn emit(&mut self, log: &ThreadLog, op: Op, here: Option<CallSite>) {
        let stamp = log.tick(self.clock);
        log.emit(stamp, op, here);
        self.clock = stamp;
    }

    fn channel(&self) -> ChannelId {
        ChannelId::new(self.channel.get(&counters::CHANNELS))
    }

    fn back(&self) -> ChannelId {
        ChannelId::new(self.back.get(&counters::CHANNELS))
    }

    fn waiting(&self) -> VarId {
        VarId::new(self.waiting.get(&counters::VARS))
    }

    fn further(&self) -> VarId {
        VarId::new(self.further.get(&counters::VARS))
    }

    fn alive(&self) -> VarId {
        VarId::new(self.alive.get(&counters::VARS))
    }
}

#[cfg(test)]
mod tests;
