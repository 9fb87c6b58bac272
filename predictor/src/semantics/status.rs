//! Where a thread stands that does not take an event: not there yet, blocked, or about to do
//! something else.
//!
//! [`Machine::enabled`] says whether an event can be taken. That is all that races ask. Of an event
//! that cannot be, other goals ask more: whether every program that could have left the trace waits
//! here, and for whom. [`Machine::status`] tells that apart by the reason that the rules give.

use racelog::trace::{Awaited, ChannelId, LockId, ThreadId};

use super::{Machine, State, WhyNot};
use crate::trace::{EventId, Op};

/// Where a thread stands with an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// The event can be taken.
    Enabled,
    /// The thread is not about to do this: the event is not its next, it has not been started, or
    /// an implicit branch stands before the event and the thread is not clean.
    NotRequested(WhyNot),
    /// The thread is about to do this, and waits. It goes on if one of those lets it who can.
    Blocked(BlockedBy),
    /// The thread is about to do something that the trace does not have, or may be: nothing is
    /// known of it from there on.
    Diverges(WhyNot),
}

impl Status {
    /// Whether every program that could have left the trace is about to do this.
    pub fn is_requested(&self) -> bool {
        !matches!(self, Self::NotRequested(_))
    }
}

/// Who can end a thread's waiting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockedBy {
    /// These threads hold a lock; each of them alone keeps the thread waiting.
    Holders(LockId, Vec<ThreadId>),
    /// This thread, by coming to its end.
    Thread(ThreadId),
    /// These threads, by coming to the end of what they do in a scope; each of them alone keeps the
    /// thread waiting.
    ScopedThreads(Vec<ThreadId>),
    /// Any thread, recorded or not: a trace cannot show that no other part of the program would
    /// notify, unpark, send, receive or arrive.
    Anybody,
}

impl BlockedBy {
    /// The threads that can end it, if it is known which those are.
    pub fn threads(&self) -> &[ThreadId] {
        match self {
            Self::Holders(_, threads) | Self::ScopedThreads(threads) => threads,
            Self::Thread(thread) => std::slice::from_ref(thread),
            Self::Anybody => &[],
        }
    }
}

impl Machine<'_> {
    /// Where a thread stands with one of its events.
    pub fn status(&self, state: &State, event: EventId) -> Status {
        let Err(why) = self.enabled(state, event) else { return Status::Enabled };
        match why {
            WhyNot::NotNext(..) | WhyNot::NotForked(_) => Status::NotRequested(why),
            WhyNot::NotClean(_) if self.stands_before_implicit_branch(event) => {
                Status::NotRequested(why)
            }
            why => match self.blocked_by(state, event, &why) {
                Some(by) => Status::Blocked(by),
                None => Status::Diverges(why),
            },
        }
    }

    /// Whether a thread that is not clean does not get as far as to this event.
    fn stands_before_implicit_branch(&self, event: EventId) -> bool {
        self.trace().is_guarded(event)
    }

    /// Who can end the waiting of a thread whose next event is not enabled for this reason; none if
    /// that is no waiting, or none that lasts.
    fn blocked_by(&self, state: &State, event: EventId, why: &WhyNot) -> Option<BlockedBy> {
        let op = self.trace().op(event);
        let for_ever = || self.trace().waits_for_ever(event);
        let anybody = || for_ever().then_some(BlockedBy::Anybody);
        match *why {
            // A waiter needs its lock back however its wait ends, so that comes first.
            WhyNot::NotNotified(..) | WhyNot::Notified(..) => {
                let held = op.lock().and_then(|lock| holders(state, lock));
                let waits = matches!(op, Op::Wake { .. });
                held.or_else(|| if waits { anybody() } else { None })
            }
            WhyNot::Taken(lock, _) => match op {
                Op::Wake { .. } | Op::WakeTimeout { .. } => holders(state, lock),
                // It would wait, and then find that there is nothing left to do.
                Op::OnceBegin(_) => None,
                _ => for_ever().then(|| holders(state, lock)).flatten(),
            },
            WhyNot::NotFinished(thread, _) | WhyNot::EndNotClean(thread) => {
                Some(BlockedBy::Thread(thread))
            }
            WhyNot::Incomplete(..) if self.trace().ends_scope(event) => match op {
                Op::Leave { barrier, generation } => {
                    let threads = self.to_arrive(state, barrier, generation);
                    Some(BlockedBy::ScopedThreads(threads))
                }
                _ => None,
            },
            WhyNot::NoToken(_)
            | WhyNot::Incomplete(..)
            | WhyNot::SendersLeft(..)
            | WhyNot::Full(_) => anybody(),
            WhyNot::Front(channel, _, None) => {
                if self.sender_may_be_left(state, channel) {
                    anybody()
                } else {
                    None
                }
            }
            WhyNot::Front(_, _, Some(_))
            | WhyNot::NotNext(..)
            | WhyNot::NotForked(_)
            | WhyNot::NotClean(_)
            | WhyNot::NotKnown(_)
            | WhyNot::Fails(_)
            | WhyNot::Holds { .. }
            | WhyNot::AccessOrder(..)
            | WhyNot::ForeignOrder(..)
            | WhyNot::NotHeld(..)
            | WhyNot::Free(_)
            | WhyNot::NotWaiting(..)
            | WhyNot::NoSuchWaiter(..)
            | WhyNot::SomebodyWaits(..)
            | WhyNot::Token(_)
            | WhyNot::NotEmpty(..)
            | WhyNot::NoSenders(_)
            | WhyNot::Room(..)
            | WhyNot::NoReceivers(_)
            | WhyNot::ReceiversLeft(_)
            | WhyNot::Early(..) => None,
        }
    }

    /// The threads that keep a reader out of a fair lock because they wait to write: those whose
    /// next event takes the lock exclusively and is blocked. None if the event is no reader's, or
    /// is not requested, or the thread would not wait.
    pub fn kept_out_by(&self, state: &State, event: EventId) -> Vec<ThreadId> {
        let trace = self.trace();
        let op = trace.op(event);
        let Op::ReadAcquire(lock) = op else { return Vec::new() };
        if !trace.is_fair(lock) || !trace.waits_for_ever(event) {
            return Vec::new();
        }
        match self.status(state, event) {
            Status::Enabled | Status::Blocked(_) => {}
            Status::NotRequested(_) | Status::Diverges(_) => return Vec::new(),
        }
        let waits_to_write = |thread: &ThreadId| {
            *thread != trace.thread(event)
                && self.next(state, *thread).is_some_and(|next| {
                    trace.op(next) == Op::Acquire(lock)
                        && matches!(self.status(state, next), Status::Blocked(_))
                })
        };
        trace.threads().filter(waits_to_write).collect()
    }

    /// Whether a thread has started and not come to its end. The ends of some threads are not known:
    /// of all of them in a trace that was cut off.
    pub fn is_live(&self, state: &State, thread: ThreadId) -> bool {
        let is_over = self.trace().has_ended(thread) && self.finished(state, thread).is_ok();
        state.has_started(thread) && !is_over
    }

    /// Whether a thread that asks for an operation, which need not be in the trace, may be about to
    /// do it: what it waits for may be there. Not of waiting writers that keep a reader out.
    pub fn may_go_on(&self, state: &State, thread: ThreadId, asks_for: &Op) -> bool {
        let trace = self.trace();
        let queue = |channel: ChannelId| &state.channels[channel.index()].queue;
        let Some(awaited) = asks_for.awaited() else { return true };
        match awaited {
            Awaited::Lock { lock, shared: false } => state.locks[lock.index()].is_free(),
            Awaited::Lock { lock, shared: true } | Awaited::Initialiser(lock) => {
                state.locks[lock.index()].writer.is_none()
            }
            // Its wait is over.
            Awaited::LockAgain(_) => true,
            Awaited::Notification { .. } => state.is_notified(thread),
            Awaited::Token => state.has_token(thread),
            Awaited::End(child) => {
                let last = trace.events_of_thread(child).last();
                last.is_some_and(|last| trace.op(*last) == Op::End)
            }
            Awaited::Message(channel) | Awaited::LastSender(channel) => {
                !queue(channel).is_empty() || !self.sender_may_be_left(state, channel)
            }
            Awaited::Room(channel) => {
                let room = |capacity: u32| queue(channel).len() < capacity as usize;
                self.has_no_receivers(state, channel) || trace.capacity(channel).is_none_or(room)
            }
            Awaited::Arrivals(..) | Awaited::EndOfScope(..) => trace.ops().contains(asks_for),
        }
    }

    /// Whether a receiver that finds nothing waits on. If all senders that are seen to be dropped
    /// are, it may as well find the end.
    fn sender_may_be_left(&self, state: &State, channel: ChannelId) -> bool {
        let (closed, all) = self.closed(state, channel);
        closed < all || all == 0
    }
}

/// The threads that hold a lock, if any do.
fn holders(state: &State, lock: LockId) -> Option<BlockedBy> {
    let held = &state.locks[lock.index()];
    let mut threads: Vec<ThreadId> = held.writer.iter().chain(&held.readers).copied().collect();
    threads.dedup();
    (!threads.is_empty()).then_some(BlockedBy::Holders(lock, threads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantics::Replay;
    use crate::trace::Trace;

    /// The status of an event after some others have happened, in words.
    fn status(text: &str, happened: &[u64], event: u64) -> String {
        let trace: Trace = text.parse().expect("the trace is valid");
        let machine = Machine::new(&trace);
        let id = |number: u64| EventId::from_number(number).expect("events are counted from 1");
        let sequence: Vec<EventId> = happened.iter().map(|number| id(*number)).collect();
        let mut replay = Replay::of(&machine, &sequence);
        for event in &sequence {
            replay.step(*event).expect("the prefix is feasible");
        }
        let mut printer = trace.printer();
        let mut name = |thread| printer.name(racelog::trace::Object::Thread(thread)).to_owned();
        match machine.status(replay.state(), id(event)) {
            Status::Enabled => "enabled".to_owned(),
            Status::NotRequested(_) => "not requested".to_owned(),
            Status::Diverges(_) => "diverges".to_owned(),
            Status::Blocked(BlockedBy::Anybody) => "anybody".to_owned(),
            Status::Blocked(BlockedBy::Thread(thread)) => format!("the end of {}", name(thread)),
            Status::Blocked(BlockedBy::ScopedThreads(threads)) => {
                let names: Vec<String> = threads.into_iter().map(name).collect();
                format!("what {} do in the scope", names.join(" and "))
            }
            Status::Blocked(BlockedBy::Holders(_, threads)) => {
                let names: Vec<String> = threads.into_iter().map(name).collect();
                names.join(" and ")
            }
        }
    }

    #[test]
    fn who_takes_a_lock_waits_for_all_who_hold_it() {
        let text = "a acquire l\na release l\nb acquire l\nb release l\n";
        assert_eq!(status(text, &[], 3), "enabled");
        assert_eq!(status(text, &[1], 3), "a");
        let readers = "a racquire l\nb racquire l\na rrelease l\nb rrelease l\nc acquire l\n";
        assert_eq!(status(readers, &[1, 2], 5), "a and b");
        assert_eq!(status(readers, &[1, 2, 3], 5), "b");
        assert_eq!(status(readers, &[1, 2, 3, 4], 5), "enabled");
    }

    #[test]
    fn who_shares_a_lock_waits_for_its_writer_only() {
        let text = "a acquire l\na release l\nb racquire l\nc racquire l\n";
        assert_eq!(status(text, &[1], 3), "a");
        assert_eq!(status(text, &[1, 2, 4], 3), "enabled");
    }

    #[test]
    fn a_waiter_waits_for_its_lock_first_and_then_for_anybody() {
        let text = "a acquire l\na wait c l\nb acquire l\nb notify_one c a\nb release l\n\
                    a wake c l\na release l\n";
        assert_eq!(status(text, &[1, 2, 3], 6), "b");
        assert_eq!(status(text, &[1, 2, 3, 4], 6), "b");
        assert_eq!(status(text, &[1, 2], 6), "anybody");
        assert_eq!(status(text, &[1, 2, 3, 4, 5], 6), "enabled");
    }

    #[test]
    fn a_wait_that_times_out_waits_for_nothing_but_its_lock() {
        let text = "a acquire l\na wait c l\nb acquire l\nb release l\na wake_timeout c l\n\
                    a release l\nb notify_one c\n";
        assert_eq!(status(text, &[1, 2, 3], 5), "b");
        assert_eq!(status(text, &[1, 2], 5), "enabled");
        // Notified, it would go on in another way.
        assert_eq!(status(text, &[1, 2, 3, 4, 7], 5), "diverges");
    }

    #[test]
    fn who_does_not_wait_for_ever_is_not_blocked() {
        let text = "a acquire l\na release l\nb acquire l try\nb release l\nb racquire l timed\n";
        assert_eq!(status(text, &[1], 3), "diverges");
        assert_eq!(status(text, &[1, 2], 3), "enabled");
        let text = "a acquire l\na wait c l timed\nb acquire l\nb notify_one c a\nb release l\n\
                    a wake c l\na release l\n";
        assert_eq!(status(text, &[1, 2], 6), "diverges");
        // It needs its lock back, whichever way its wait ends.
        assert_eq!(status(text, &[1, 2, 3], 6), "b");
        let text = "b unpark a\na park timed\nb send ch 1\na recv ch 1 try\n";
        assert_eq!(status(text, &[], 2), "diverges");
        assert_eq!(status(text, &[1, 2], 4), "diverges");
        assert_eq!(status(text, &[1, 2, 3], 4), "enabled");
    }

    #[test]
    fn who_sends_waits_for_room_while_a_receiver_may_be_left() {
        let text = "channel ch 1\na send ch 1\nb recv ch 1\na send ch 2\nb recv ch 2\n\
                    b rclose ch\nc send_closed ch 3\n";
        assert_eq!(status(text, &[1], 3), "anybody");
        assert_eq!(status(text, &[1, 2], 3), "enabled");
        assert_eq!(status(text, &[1, 2, 3, 4], 6), "diverges");
        assert_eq!(status(text, &[1, 2, 3, 4, 5], 6), "enabled");
        let late = "a send ch 1\nb recv ch 1\na send ch 2\nb rclose ch\n";
        assert_eq!(status(late, &[1, 2, 4], 3), "diverges");
    }

    #[test]
    fn who_needs_what_a_once_holds_waits_for_its_initialiser() {
        let text = "a once_begin o\na once_end o\nb once_wait o\n";
        assert_eq!(status(text, &[1], 3), "a");
        assert_eq!(status(text, &[1, 2], 3), "enabled");
        assert_eq!(status(text, &[], 3), "enabled");
        let twice = "a once_begin o\na once_end o\nb once_begin o\nb once_end o\n";
        assert_eq!(status(twice, &[1], 3), "diverges");
    }

    #[test]
    fn a_waiting_writer_keeps_readers_out_of_a_fair_lock() {
        let text = "fair l\na racquire l\na racquire l\na rrelease l\na rrelease l\n\
                    b acquire l\nb release l\n";
        let trace: Trace = text.parse().expect("the trace is valid");
        let machine = Machine::new(&trace);
        let [first, second] = [1, 2].map(|number| EventId::from_number(number).unwrap());
        let mut state = machine.initial();
        assert_eq!(machine.kept_out_by(&state, first), []);
        machine.step(&mut state, first, None).expect("the lock is free");
        assert_eq!(machine.kept_out_by(&state, second), [ThreadId::new(1)]);
        assert_eq!(machine.status(&state, second), Status::Enabled);
    }

    #[test]
    fn who_joins_waits_for_the_end_of_the_thread() {
        let text = "a fork b\nb write x 1\na join b\n";
        assert_eq!(status(text, &[1], 3), "the end of b");
        assert_eq!(status(text, &[1, 2], 3), "enabled");
    }

    #[test]
    fn who_parks_waits_for_anybody() {
        let text = "b unpark a\na park\na park_timeout\n";
        assert_eq!(status(text, &[], 2), "anybody");
        assert_eq!(status(text, &[1], 2), "enabled");
        let timeout = "a park_timeout\nb unpark a\n";
        assert_eq!(status(timeout, &[], 1), "enabled");
        assert_eq!(status(timeout, &[2], 1), "diverges");
    }

    #[test]
    fn who_receives_waits_for_anybody_while_a_sender_may_be_left() {
        let text = "a send ch 1\nb send ch 2\nc recv ch 1\nc recv ch 2\na close ch\nb close ch\n\
                    c recv_closed ch\n";
        assert_eq!(status(text, &[], 3), "anybody");
        assert_eq!(status(text, &[1], 3), "enabled");
        // Another message is first.
        assert_eq!(status(text, &[2], 3), "diverges");
        assert_eq!(status(text, &[1, 2, 3, 4, 5], 7), "anybody");
        assert_eq!(status(text, &[1, 2, 3, 4, 5, 6], 7), "enabled");
        assert_eq!(status(text, &[1, 2, 3], 7), "not requested");
        let empty = "a recv_empty ch\nb send ch 1\na recv ch 1\nb close ch\n";
        assert_eq!(status(empty, &[2], 1), "diverges");
    }

    #[test]
    fn who_leaves_a_barrier_waits_for_anybody() {
        let text = "a arrive b 0\nc arrive b 0\na leave b 0\nc leave b 0\na arrive b 1\n";
        assert_eq!(status(text, &[1], 3), "anybody");
        assert_eq!(status(text, &[1, 2], 3), "enabled");
    }

    #[test]
    fn who_ends_a_scope_waits_for_each_of_its_threads() {
        let text = "m fork a\nm fork b\na arrive s 0\nb arrive s 0\nb write x 1\nm leave s 0\n";
        assert_eq!(status(text, &[1, 2], 6), "what a and b do in the scope");
        assert_eq!(status(text, &[1, 2, 4, 5], 6), "what a do in the scope");
        assert_eq!(status(text, &[1, 2, 3, 4], 6), "enabled");
    }

    #[test]
    fn who_is_not_clean_diverges_at_a_branch_and_gets_no_further_than_an_implicit_one() {
        let text = "a write x 1\nb read x 1\nb branch\nb write y 1\n";
        assert_eq!(status(text, &[2], 3), "diverges");
        assert_eq!(status(text, &[1, 2], 3), "enabled");
        assert_eq!(status(text, &[2], 4), "not requested");
        let unrecorded = "a write x 1\n#racelog unrecorded b\nb read x 1\nb acquire l\n";
        assert_eq!(status(unrecorded, &[2], 3), "not requested");
        assert_eq!(status(unrecorded, &[1, 2], 3), "enabled");
    }

    #[test]
    fn who_finds_another_value_or_a_free_lock_diverges() {
        let text = "a cas x 0 1\nb cas x 1 2\n";
        assert_eq!(status(text, &[], 2), "diverges");
        let text = "a acquire l\nb acquire_fail l\na release l\n";
        assert_eq!(status(text, &[], 2), "diverges");
        assert_eq!(status(text, &[1], 2), "enabled");
    }

    #[test]
    fn who_is_not_started_requests_nothing() {
        let text = "a fork b\nb acquire l\n";
        assert_eq!(status(text, &[], 2), "not requested");
    }

    #[test]
    fn what_keeps_its_order_does_not_wait() {
        let text = "a write x 1\nb exclusive x 2\n";
        assert_eq!(status(text, &[], 2), "diverges");
    }
}
