//! What a channel records.
//!
//! Every function here is called under the channel's lock. In the trace's eyes the queue holds the
//! messages whose sending was recorded: messages of others pass unseen. If a recorded message goes
//! to somebody who is not recorded in the same session, the trace's queue would keep it for ever:
//! then the channel is *lost*, and nothing more is recorded of it.

use std::collections::VecDeque;

use crate::rt::{Here, NumberedId, ThreadLog, counters, with};
use crate::trace::{ChannelId, Op, Value, VarId};

/// More places than this are not modelled, for each of them is an event at the channel's creation:
/// a larger channel counts as one without bound.
const MOST_PLACES: usize = 4096;

/// The values of the variable that says whether the receiver lives.
const LIVES: Value = Value::Nat(0);
const DROPPED: Value = Value::Nat(1);

/// A channel's part in the trace.
pub(super) struct Record {
    channel: NumberedId,
    /// The channel that goes back: of free places, or of acknowledgements.
    back: NumberedId,
    /// Whether the receiver lives.
    alive: NumberedId,
    /// Whether the receiver of a rendezvous channel waits: 0, or the number of the wait.
    waiting: NumberedId,
    waits: u64,
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
    pub(super) fn new() -> Self {
        Self {
            channel: NumberedId::new(),
            back: NumberedId::new(),
            alive: NumberedId::new(),
            waiting: NumberedId::new(),
            waits: 0,
            waits_now: false,
            clock: 0,
            lost: false,
            places: None,
            dropped_in: 0,
        }
    }

    /// Of a channel for `count` messages, all of whose places are free.
    pub(super) fn with_places(count: usize, here: Here) -> Self {
        let mut record = Self::new();
        if count <= MOST_PLACES {
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
    pub(super) fn sent(&mut self, number: u64, here: Here) -> u32 {
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
    pub(super) fn received(&mut self, number: u64, session: u32, held: bool, here: Here) {
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
    pub(super) fn acknowledged(&mut self, number: u64, session: u32, here: Here) {
        self.with(|record, log| {
            if log.session_number() == session {
                let (channel, message) = (record.back(), Value::Nat(number.into()));
                record.emit(log, Op::Recv { channel, message }, here);
            }
        });
    }

    /// A receive finds nothing, while senders are left.
    pub(super) fn found_nothing(&mut self, here: Here) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit(log, Op::RecvEmpty(channel), here);
        });
    }

    /// A receive finds nothing, and no senders.
    pub(super) fn saw_end(&mut self, here: Here) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit(log, Op::RecvClosed(channel), here);
        });
    }

    /// A send finds no room, while the receiver lives. It can be told only of a bounded channel,
    /// and only if the room is taken up by recorded messages alone.
    pub(super) fn found_full(&mut self, here: Here) {
        self.with(|record, log| {
            if record.places.as_ref().is_some_and(|places| places.free.is_empty()) {
                record.saw_receiver(log, LIVES, here);
                let channel = record.back();
                record.emit(log, Op::RecvEmpty(channel), here);
            }
        });
    }

    /// The receiver of a rendezvous channel starts or stops to wait.
    pub(super) fn receiver_waits(&mut self, waits: bool, here: Here) {
        let recorded = self.with(|record, log| {
            record.waits += u64::from(waits);
            let value = Value::Nat(if waits { record.waits.into() } else { 0 });
            let op = Op::Store { var: record.waiting(), value, ordering: None };
            record.emit(log, op, here);
        });
        self.waits_now = waits && recorded.is_some();
    }

    /// A send that does not wait goes by whether the receiver of a rendezvous channel does.
    pub(super) fn saw_waiting(&mut self, waits: bool, here: Here) {
        self.with(|record, log| {
            // A receiver that is not recorded explains nothing.
            if record.waits_now == waits {
                let value = Value::Nat(if waits { record.waits.into() } else { 0 });
                let stamp = log.tick(record.clock);
                let op = Op::Load { var: record.waiting(), value, ordering: None };
                log.emit_decision(stamp, op, here);
                record.clock = stamp;
            }
        });
    }

    /// A send finds the receiver gone.
    pub(super) fn saw_no_receiver(&mut self, here: Here) {
        self.with(|record, log| {
            // What another session's thread did explains nothing in this one's trace.
            if record.dropped_in == log.session_number() {
                record.saw_receiver(log, DROPPED, here);
            }
        });
    }

    /// A sender is dropped.
    pub(super) fn closed(&mut self) {
        self.with(|record, log| {
            let channel = record.channel();
            record.emit(log, Op::Close(channel), None);
        });
    }

    /// The receiver is dropped.
    pub(super) fn receiver_dropped(&mut self) {
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
            ours.then(|| f(self, log))
        })
        .flatten()
    }

    fn saw_receiver(&mut self, log: &ThreadLog, value: Value, here: Here) {
        let stamp = log.tick(self.clock);
        let op = Op::Load { var: self.alive(), value, ordering: None };
        log.emit_decision(stamp, op, here);
        self.clock = stamp;
    }

    /// A place becomes free, if the channel has any.
    fn free_place(&mut self, log: &ThreadLog, here: Here) {
        if let Some(places) = &mut self.places {
            let place = places.next;
            places.next += 1;
            places.free.push_back(place);
            let (channel, message) = (self.back(), Value::Nat(place.into()));
            self.emit(log, Op::Send { channel, message }, here);
        }
    }

    fn emit(&mut self, log: &ThreadLog, op: Op, here: Here) {
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

    fn alive(&self) -> VarId {
        VarId::new(self.alive.get(&counters::VARS))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::{channel, sync_channel};
    use super::*;
    use crate::rt::TestSession;
    use crate::traced::{events, in_child, replay};

    const HERE: &str = "sync::mpsc::record::tests";

    fn keywords(name: &str) -> Vec<&'static str> {
        let trace = events(&format!("{HERE}::{name}"));
        replay(&trace);
        trace.iter().map(|event| event.op.keyword()).filter(|word| *word != "end").collect()
    }

    #[test]
    fn one_thread_with_a_channel_without_bound() {
        if in_child() {
            let (sender, receiver) = channel();
            receiver.try_recv().expect_err("nothing was sent");
            sender.send(5).expect("the receiver lives");
            assert_eq!(receiver.recv(), Ok(5));
            drop(sender.clone());
            drop(sender);
            receiver.recv().expect_err("all senders are gone");
            let (sender, receiver) = channel();
            drop(receiver);
            sender.send(6).expect_err("the receiver is gone");
            return;
        }
        let seen = keywords("one_thread_with_a_channel_without_bound");
        let first = ["recv_empty", "load", "send", "recv", "close", "close", "recv_closed"];
        // The first receiver is dropped last, after the second sender.
        assert_eq!(seen, [&first[..], &["store", "load", "close", "store"]].concat());
    }

    #[test]
    fn one_thread_with_a_bounded_channel() {
        if in_child() {
            let (sender, receiver) = sync_channel(2);
            sender.send(1).expect("there is room");
            sender.try_send(2).expect("there is room");
            sender.try_send(3).expect_err("there is no room");
            assert_eq!(receiver.recv(), Ok(1));
            sender.send(4).expect("there is room");
            return;
        }
        let seen = keywords("one_thread_with_a_bounded_channel");
        let places = ["send", "send"];
        let sends = ["recv", "load", "send", "recv", "load", "send"];
        let rest = ["load", "recv_empty", "recv", "send", "recv", "load", "send", "store", "close"];
        assert_eq!(seen, [&places[..], &sends, &rest].concat());
    }

    #[test]
    fn channels_for_more_than_the_modelled_places_count_as_unbounded() {
        if in_child() {
            let (sender, receiver) = sync_channel(MOST_PLACES + 1);
            sender.send(1).expect("there is room");
            assert_eq!(receiver.recv(), Ok(1));
            return;
        }
        let name = "channels_for_more_than_the_modelled_places_count_as_unbounded";
        assert_eq!(keywords(name), ["load", "send", "recv", "store", "close"]);
    }

    #[test]
    fn many_threads_leave_a_trace_that_can_be_replayed() {
        if in_child() {
            for bound in [None, Some(0), Some(1), Some(3)] {
                let (sender, receiver) = sync_channel(bound.unwrap_or(0));
                let (unbounded, unbounded_receiver) = channel();
                thread::scope(|scope| {
                    for thread in 0..4 {
                        let (sender, unbounded) = (sender.clone(), unbounded.clone());
                        scope.spawn(move || {
                            for message in 0..100 {
                                match bound {
                                    None => unbounded.send(message).expect("it lives"),
                                    Some(_) if thread == 0 => drop(sender.try_send(message)),
                                    Some(_) => drop(sender.send(message)),
                                }
                            }
                        });
                    }
                    drop((sender, unbounded));
                    // Some of the senders find the receiver gone.
                    receiver.iter().take(250).for_each(drop);
                    receiver.try_iter().take(10).for_each(drop);
                    drop(receiver);
                    unbounded_receiver.into_iter().for_each(drop);
                });
            }
            return;
        }
        let seen = keywords("many_threads_leave_a_trace_that_can_be_replayed");
        assert_eq!(seen.iter().filter(|word| **word == "close").count(), 4 * 2 * 5);
    }

    #[test]
    fn messages_of_others_pass_unseen_until_one_of_ours_goes_to_them() {
        if in_child() {
            let session = TestSession::start("mpsc", "ours");
            let (sender, receiver) = sync_channel(2);
            // Threads that the test did not spawn belong to the session of the process.
            let other = thread::scope(|scope| scope.spawn(|| sender.send(0)).join());
            other.expect("it does not panic").expect("the receiver lives");
            sender.send(1).expect("the receiver lives");
            sender.try_send(2).expect_err("there is no room, but the trace sees some");
            assert_eq!(receiver.recv(), Ok(0));
            assert_eq!(receiver.recv(), Ok(1));
            sender.send(2).expect("the receiver lives");
            let taker = thread::spawn(|| receiver.recv().map(|message| (message, receiver)));
            let (message, receiver) = taker.join().expect("it does not panic").expect("it is sent");
            assert_eq!(message, 2);
            // From here on nothing is recorded.
            sender.send(3).expect("the receiver lives");
            assert_eq!(receiver.recv(), Ok(3));
            drop((sender, receiver, session));
            return;
        }
        let seen = keywords("messages_of_others_pass_unseen_until_one_of_ours_goes_to_them");
        let send = ["recv", "load", "send"];
        assert_eq!(seen, [&["send", "send"][..], &send, &["recv", "send"], &send].concat());
    }
}
