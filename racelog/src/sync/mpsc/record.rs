//! What a channel records.
//!
//! Every function here is called under the channel's lock. In the trace's eyes the queue holds the
//! messages whose sending was recorded: messages of others pass unseen. If a recorded message goes
//! to a thread that is not recorded in the same session, the trace's queue would keep it for ever:
//! then the channel is *lost*, and nothing more is recorded of it.
//!
//! Every operation is one event, so nobody waits in the middle of one; there is one exception. A
//! *rendezvous* is two channels in the trace. What is offered goes through the first, which has no
//! bound; its receiver sends an acknowledgement through the second; and the sender goes on when
//! it has received that. So a sender waits for its acknowledgement, and holds nothing meanwhile. A
//! receiver that has taken a message and not yet sent the acknowledgement cannot be told by others
//! from one that has, whose sender has not gone on yet.

use crate::rt::{CallSite, NumberedId, ThreadLog, counters, with};
use crate::trace::{ChannelId, Op, Patience, Value, VarId};

/// A channel's part in the trace.
pub(crate) struct Record {
    channel: NumberedId,
    /// The channel of acknowledgements, which goes back.
    back: NumberedId,
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
    room: Option<Room>,
    /// The session that recorded the receiver's drop; 0 for none.
    dropped_in: u32,
}

/// The room of a bounded channel.
struct Room {
    /// For so many messages.
    messages: u32,
    /// The session whose trace says so; 0 for none.
    known_to: u32,
    /// How much of it is taken up by messages that this session recorded.
    taken: u32,
}

impl Record {
    /// Of a channel without bound, or of one whose senders wait until their messages are taken.
    pub(crate) fn new() -> Self {
        Self {
            channel: NumberedId::new(),
            back: NumberedId::new(),
            further: NumberedId::new(),
            shared_in: 0,
            waiting: NumberedId::new(),
            waits: 0,
            wait: 0,
            waits_now: false,
            clock: 0,
            lost: false,
            room: None,
            dropped_in: 0,
        }
    }

    /// Of a channel for so many messages.
    pub(crate) fn with_room(messages: usize) -> Self {
        // A channel for more than can be counted counts as one without bound.
        let room = u32::try_from(messages).ok();
        let room = room.map(|messages| Room { messages, known_to: 0, taken: 0 });
        Self { room, ..Self::new() }
    }

    /// A message is put into the queue by a thread that would have waited that long for room.
    /// Returns the session that recorded it; 0 for none.
    pub(crate) fn sent(&mut self, number: u64, patience: Patience, here: Option<CallSite>) -> u32 {
        let session = self.with(|record, log| {
            let (channel, message) = (record.channel(), Value::Nat(number.into()));
            if let Some(room) = &mut record.room {
                room.take(log, channel);
            }
            record.emit_with(log, Op::Send { channel, message }, patience, here);
            log.session_number()
        });
        session.unwrap_or(0)
    }

    /// A message, which was recorded by `session`, is taken out of the queue by a thread that would
    /// have waited that long for it. If its sender is held it may go on.
    pub(crate) fn received(
        &mut self,
        (number, session): (u64, u32),
        held: bool,
        patience: Patience,
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
            record.emit_with(log, Op::Recv { channel, message }, patience, here);
            if held {
                let channel = record.back();
                record.emit(log, Op::Send { channel, message }, here);
            }
            if let Some(room) = &mut record.room {
                room.give_back(session);
            }
            true
        });
        self.lost |= recorded != Some(true);
    }

    /// The sender of a message, which was recorded by `session`, sees that it was taken. It would
    /// have waited that long for it.
    pub(crate) fn acknowledged(
        &mut self,
        (number, session): (u64, u32),
        patience: Patience,
        here: Option<CallSite>,
    ) {
        self.with(|record, log| {
            if log.session_number() == session {
                let (channel, message) = (record.back(), Value::Nat(number.into()));
                record.emit_with(log, Op::Recv { channel, message }, patience, here);
            }
        });
    }

    /// A receive is going to wait that long, for a message or for the end.
    pub(crate) fn waits_for_message(&self, patience: Patience, here: Option<CallSite>) {
        self.request(Op::RecvClosed(self.channel()), patience, here);
    }

    /// The sender of a message is going to wait that long until the message is taken.
    pub(crate) fn waits_for_taker(&self, patience: Patience, here: Option<CallSite>) {
        self.request(Op::RecvClosed(self.back()), patience, here);
    }

    /// A send is going to wait that long for room.
    pub(crate) fn waits_for_room(&self, number: u64, patience: Patience, here: Option<CallSite>) {
        let (channel, message) = (self.channel(), Value::Nat(number.into()));
        self.request(Op::Send { channel, message }, patience, here);
    }

    fn request(&self, op: Op, patience: Patience, here: Option<CallSite>) {
        if !self.lost {
            with(|log| log.request(op, patience, here));
        }
    }

    /// A receive finds nothing, while senders are left.
    pub(crate) fn found_nothing(&mut self, here: Option<CallSite>) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit(log, Op::RecvEmpty(channel), here);
        });
    }

    /// A receive, by a thread that would have waited that long, finds nothing, and no senders.
    pub(crate) fn saw_end(&mut self, patience: Patience, here: Option<CallSite>) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit_with(log, Op::RecvClosed(channel), patience, here);
        });
    }

    /// A send finds no room, while a receiver lives. It can be told only of a bounded channel, and
    /// only if the room is taken up by recorded messages alone.
    pub(crate) fn found_full(&mut self, here: Option<CallSite>) {
        self.with(|record, log| {
            if record.room.as_ref().is_some_and(|room| room.is_full(log)) {
                let channel = record.channel();
                record.emit(log, Op::SendFull(channel), here);
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
            // A receiver that is not recorded explains nothing. One that waits may be needed by
            // others, or be the sender itself, which selects.
            if record.waits_now || !waits {
                let value = Value::Nat(if record.waits_now { record.wait.into() } else { 0 });
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
            true => self.received((number, session), false, Patience::Try, here),
            false => self.lost |= session != 0,
        }
    }

    /// A send finds all receivers gone.
    pub(crate) fn saw_no_receiver(&mut self, number: u64, here: Option<CallSite>) {
        self.with(|record, log| {
            // What another session's thread did explains nothing in this one's trace.
            if record.dropped_in == log.session_number() {
                let (channel, message) = (record.channel(), Value::Nat(number.into()));
                record.emit(log, Op::SendClosed { channel, message }, here);
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
            let channel = record.channel();
            record.emit(log, Op::ReceiverClose(channel), None);
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
        with(|log| f(self, log))
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

    /// Records what the thread goes by.
    fn decide(&mut self, log: &ThreadLog, op: Op, here: Option<CallSite>) {
        let stamp = log.tick(self.clock);
        log.emit_decision(stamp, op, here);
        self.clock = stamp;
    }

    fn emit(&mut self, log: &ThreadLog, op: Op, here: Option<CallSite>) {
        self.emit_with(log, op, Patience::Forever, here);
    }

    fn emit_with(&mut self, log: &ThreadLog, op: Op, patience: Patience, here: Option<CallSite>) {
        let stamp = log.tick(self.clock);
        log.emit_with(stamp, op, patience, here);
        self.clock = stamp;
    }

    pub(crate) fn channel(&self) -> ChannelId {
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
}

impl Room {
    /// A message takes up room.
    fn take(&mut self, log: &ThreadLog, channel: ChannelId) {
        if self.known_to != log.session_number() {
            log.define_capacity(channel, self.messages);
            (self.known_to, self.taken) = (log.session_number(), 0);
        }
        self.taken += 1;
    }

    /// A message that was recorded by `session` takes up room no longer.
    fn give_back(&mut self, session: u32) {
        if self.known_to == session {
            self.taken = self.taken.saturating_sub(1);
        }
    }

    /// Whether messages of the calling thread's session take up all of it.
    fn is_full(&self, log: &ThreadLog) -> bool {
        self.known_to == log.session_number() && self.taken >= self.messages
    }
}

#[cfg(test)]
mod tests;
