//! Moves knowledge along the edges of a trace.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use racelog::trace::{ChannelId, LockId, ThreadId};

use super::barrier::Barriers;
use super::edges::Edges;
use super::memory::Memory;
use super::wakeups::WakeupState;
use crate::trace::{EventId, Op, Trace};

/// Something that can know of events: a thread, or what threads leave their knowledge in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Knower(NonZeroU32);

impl Knower {
    /// The knower of a thread; these come before all others.
    pub fn of(thread: ThreadId) -> Self {
        Self::from_index(thread.index())
    }

    /// The knower at an index, from 0.
    pub fn from_index(index: usize) -> Self {
        let number = u32::try_from(index).ok().and_then(|index| NonZeroU32::MIN.checked_add(index));
        Self(number.expect("there are fewer than 2^32 knowers"))
    }

    /// Counted from 0.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What knowers know, and how that moves.
pub trait Knowledge {
    /// A knower that knows nothing.
    fn new_knower(&mut self) -> Knower;
    /// Gives a knower back.
    fn free(&mut self, knower: Knower);
    /// Makes a knower know nothing.
    fn clear(&mut self, knower: Knower);
    /// Makes a knower know what another one knows, and only that.
    fn copy(&mut self, to: Knower, from: Knower);
    /// Makes a knower know also what another one knows.
    fn join(&mut self, to: Knower, from: Knower);
    /// The same, along an edge that is there only if `weak` had a stronger memory ordering.
    fn join_weakly(&mut self, to: Knower, from: Knower, weak: EventId) {
        let _ = weak;
        self.join(to, from);
    }
    /// This event of this thread happens.
    fn happens(&mut self, event: EventId, thread: ThreadId) {
        let _ = (event, thread);
    }
    /// A thread has left its knowledge somewhere; what it does from now on is not part of that.
    fn publish(&mut self, thread: ThreadId);
}

/// A walk through a trace.
///
/// For each event, in the trace's order, [`Flow::arrive`] moves knowledge to its thread along the
/// edges that end there, and then [`Flow::depart`] along those that start there. In between the
/// thread knows all that comes before the event.
#[derive(Debug)]
pub struct Flow<'a, K> {
    trace: &'a Trace,
    edges: Edges,
    knowledge: K,
    /// For each thread that is forked and has not begun: what its parent knew.
    starts: Vec<Option<Knower>>,
    locks: Vec<Lock>,
    channels: Vec<Channel>,
    memory: Memory,
    wakeups: WakeupState,
    barriers: Barriers,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lock {
    /// What the thread knew that held it exclusively last.
    writer: Option<Knower>,
    /// What those who have held it shared since then knew.
    readers: Option<Knower>,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    /// What the sender of each message in the queue knew.
    messages: VecDeque<Knower>,
    /// What those who dropped their senders knew.
    closed: Option<Knower>,
    /// What those who dropped their receivers knew.
    receivers_closed: Option<Knower>,
    /// Of a channel with a capacity: how many messages were sent.
    sent: u32,
    /// And what the receivers knew whose places have not been filled again.
    room: VecDeque<Knower>,
}

impl<'a, K: Knowledge> Flow<'a, K> {
    /// A walk that is at the trace's start.
    pub fn new(trace: &'a Trace, edges: Edges, knowledge: K) -> Self {
        Self {
            trace,
            edges,
            knowledge,
            starts: vec![None; trace.thread_count()],
            locks: vec![Lock::default(); trace.lock_count()],
            channels: vec![Channel::default(); trace.channel_count()],
            memory: Memory::new(trace, edges.atomics),
            wakeups: WakeupState::new(trace, edges.wakeups),
            barriers: Barriers::new(trace),
        }
    }

    /// What the knowers know.
    pub fn knowledge(&self) -> &K {
        &self.knowledge
    }

    /// What the knowers know, to be changed.
    pub fn knowledge_mut(&mut self) -> &mut K {
        &mut self.knowledge
    }

    /// What is known in the end.
    pub fn into_knowledge(self) -> K {
        self.knowledge
    }

    /// Moves knowledge along the edges that end at an event, which does `op`.
    pub fn arrive(&mut self, event: EventId, op: &Op) {
        let t = self.trace.thread(event);
        let me = Knower::of(t);
        self.knowledge.happens(event, t);
        if let Some(start) = self.starts[t.index()].take() {
            self.knowledge.join(me, start);
            self.knowledge.free(start);
        }
        for before in self.trace.awaited(event) {
            // It is the last event of its thread so far.
            let other = self.trace.thread(*before);
            self.knowledge.join(me, Knower::of(other));
            self.knowledge.publish(other);
        }
        let know = &mut self.knowledge;
        match *op {
            Op::Join(child) => know.join(me, Knower::of(child)),
            Op::Acquire(lock) | Op::OnceBegin(lock) => self.acquire(t, lock),
            Op::ReadAcquire(lock) | Op::OnceWait(lock) => {
                if let Some(writer) = self.locks[lock.index()].writer {
                    know.join(me, writer);
                }
            }
            Op::Wake { condvar, lock } => {
                self.wakeups.wake(know, t, condvar);
                self.acquire(t, lock);
            }
            Op::WakeTimeout { condvar, lock } => {
                self.wakeups.time_out(know, t, condvar);
                self.acquire(t, lock);
            }
            Op::Park => self.wakeups.park(know, t),
            Op::Recv { channel, .. } => {
                if let Some(message) = self.channels[channel.index()].messages.pop_front() {
                    know.join(me, message);
                    know.free(message);
                }
            }
            Op::Send { channel, .. } => self.find_room(t, channel),
            Op::SendClosed { channel, .. } => {
                if let Some(closed) = self.channels[channel.index()].receivers_closed {
                    know.join(me, closed);
                }
            }
            Op::RecvClosed(channel) => {
                if let Some(closed) = self.channels[channel.index()].closed {
                    know.join(me, closed);
                }
            }
            Op::Arrive { barrier, generation } => {
                self.barriers.before_arrival(know, t, barrier, generation);
            }
            Op::Leave { barrier, generation } => self.barriers.leave(know, t, barrier, generation),
            Op::Read { .. }
            | Op::Write { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Cas { .. }
            | Op::CasFail { .. }
            | Op::Exclusive { .. }
            | Op::Fence(_) => self.memory.arrive(know, t, event, op),
            // No edge ends at these.
            Op::Begin
            | Op::End
            | Op::Fork(_)
            | Op::Branch
            | Op::Release(_)
            | Op::ReadRelease(_)
            | Op::AcquireFail(_)
            | Op::ReadAcquireFail(_)
            | Op::Wait { .. }
            | Op::NotifyOne { .. }
            | Op::NotifyAll(_)
            | Op::ParkTimeout
            | Op::Unpark(_)
            | Op::RecvEmpty(_)
            | Op::Close(_)
            | Op::ReceiverClose(_)
            | Op::SendFull(_)
            | Op::OnceEnd(_)
            | Op::Assert(_)
            | Op::Check { .. }
            | Op::AtomicBegin(_)
            | Op::AtomicEnd => {}
        }
    }

    /// Moves knowledge along the edges that start at an event, which does `op`.
    pub fn depart(&mut self, event: EventId, op: &Op) {
        let t = self.trace.thread(event);
        let me = Knower::of(t);
        let know = &mut self.knowledge;
        match *op {
            Op::Fork(child) => {
                let start = know.new_knower();
                know.copy(start, me);
                self.starts[child.index()] = Some(start);
                know.publish(t);
            }
            Op::Release(lock) | Op::OnceEnd(lock) => self.release(t, lock),
            Op::ReadRelease(lock) => {
                if self.edges.locks {
                    leave(know, &mut self.locks[lock.index()].readers, me);
                    know.publish(t);
                }
            }
            Op::Wait { condvar, lock } => {
                self.wakeups.wait(t, condvar);
                self.release(t, lock);
            }
            Op::NotifyOne { condvar, woken } => {
                self.wakeups.notify_one(know, event, t, condvar, woken);
            }
            Op::NotifyAll(condvar) => self.wakeups.notify_all(know, event, t, condvar),
            Op::Unpark(thread) => self.wakeups.unpark(know, t, thread),
            Op::Send { channel, .. } => self.send(t, channel),
            Op::Recv { channel, .. } => self.make_room(t, channel),
            Op::ReceiverClose(channel) => {
                leave(know, &mut self.channels[channel.index()].receivers_closed, me);
                know.publish(t);
            }
            Op::Close(channel) => {
                leave(know, &mut self.channels[channel.index()].closed, me);
                know.publish(t);
            }
            Op::Arrive { barrier, generation } => {
                self.barriers.after_arrival(know, t, barrier, generation);
            }
            Op::Read { .. }
            | Op::Write { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Cas { .. }
            | Op::CasFail { .. }
            | Op::Exclusive { .. }
            | Op::Fence(_) => self.memory.depart(know, t, event, op),
            // No edge starts at these.
            Op::Begin
            | Op::End
            | Op::Join(_)
            | Op::Branch
            | Op::Acquire(_)
            | Op::ReadAcquire(_)
            | Op::AcquireFail(_)
            | Op::ReadAcquireFail(_)
            | Op::Wake { .. }
            | Op::WakeTimeout { .. }
            | Op::Park
            | Op::ParkTimeout
            | Op::RecvEmpty(_)
            | Op::RecvClosed(_)
            | Op::SendClosed { .. }
            | Op::SendFull(_)
            | Op::OnceBegin(_)
            | Op::OnceWait(_)
            | Op::Leave { .. }
            | Op::Assert(_)
            | Op::Check { .. }
            | Op::AtomicBegin(_)
            | Op::AtomicEnd => {}
        }
    }

    fn acquire(&mut self, t: ThreadId, lock: LockId) {
        let Lock { writer, readers } = self.locks[lock.index()];
        for knower in [writer, readers].into_iter().flatten() {
            self.knowledge.join(Knower::of(t), knower);
        }
    }

    fn release(&mut self, t: ThreadId, lock: LockId) {
        if !self.edges.locks {
            return;
        }
        let Lock { writer, readers } = &mut self.locks[lock.index()];
        let writer = *writer.get_or_insert_with(|| self.knowledge.new_knower());
        self.knowledge.copy(writer, Knower::of(t));
        // A thread that takes the lock exclusively has learned from all readers, and passes that
        // on.
        if let Some(readers) = readers.take() {
            self.knowledge.free(readers);
        }
        self.knowledge.publish(t);
    }

    /// A message takes a place that was free from the start, or that a receiver has made.
    fn find_room(&mut self, t: ThreadId, id: ChannelId) {
        let Some(capacity) = self.trace.capacity(id).filter(|_| self.edges.locks) else { return };
        let channel = &mut self.channels[id.index()];
        channel.sent += 1;
        if channel.sent > capacity
            && let Some(made) = channel.room.pop_front()
        {
            self.knowledge.join(Knower::of(t), made);
            self.knowledge.free(made);
        }
    }

    /// A receiver has made room for a message.
    fn make_room(&mut self, t: ThreadId, id: ChannelId) {
        if self.trace.capacity(id).is_some() && self.edges.locks {
            let made = self.knowledge.new_knower();
            self.knowledge.copy(made, Knower::of(t));
            self.channels[id.index()].room.push_back(made);
            self.knowledge.publish(t);
        }
    }

    fn send(&mut self, t: ThreadId, channel: ChannelId) {
        let message = self.knowledge.new_knower();
        self.knowledge.copy(message, Knower::of(t));
        self.channels[channel.index()].messages.push_back(message);
        self.knowledge.publish(t);
    }
}

/// Makes a knower, which may not be there yet, know also what another one knows.
pub(super) fn leave<K: Knowledge>(know: &mut K, knower: &mut Option<Knower>, from: Knower) {
    let to = *knower.get_or_insert_with(|| know.new_knower());
    know.join(to, from);
}
