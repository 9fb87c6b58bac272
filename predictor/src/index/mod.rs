//! Which events of a trace belong together: the event that takes a lock and the one that gives it
//! back, a wait and its end, the send and the receipt of a message. Found once, in one pass over
//! the loaded trace, and looked up by detectors, encoders, proofs and reports alike.
//!
//! It describes the observed run, and judges nothing: the semantics, the checker and the explorer
//! do without it.

mod locksets;
mod lookup;
pub(crate) mod near;
mod regions;
mod waits;

use std::collections::BTreeMap;

use racelog::trace::{BarrierId, ChannelId, CondvarId, VarId};
use rustc_hash::FxHashMap;

pub use self::locksets::{LocksetId, Locksets};
use self::lookup::{EventMap, Writes};
pub use self::regions::{HeldWalk, Region, Regions, open_after};
pub use self::waits::{can_be_root, endless_wait};
use crate::trace::{EventId, Op, Trace, ValueId};

/// A stay on a condvar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    pub(crate) wait: EventId,
    /// The wake-up; none if the trace ends before.
    pub(crate) end: Option<EventId>,
    pub(crate) times_out: bool,
}

/// What happens on a condvar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condvar {
    pub(crate) stays: Vec<Stay>,
    pub(crate) notify_one: Vec<EventId>,
    pub(crate) notify_all: Vec<EventId>,
}

/// A message's way through a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) send: EventId,
    pub(crate) recv: Option<EventId>,
}

/// What happens on a channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    /// In the order in which they were sent.
    pub(crate) messages: Vec<Message>,
    pub(crate) closes: Vec<EventId>,
    pub(crate) receiver_closes: Vec<EventId>,
}

/// Which events of a trace belong together.
#[derive(Debug)]
pub struct Index {
    /// Who holds which lock when.
    pub regions: Regions,
    pub(crate) condvars: Vec<Condvar>,
    /// The stay that each `wait` begins and each wake-up ends, as its place in its condvar's list.
    pub(crate) stay_at: EventMap<u32>,
    pub(crate) channels: Vec<Channel>,
    /// The message of each `send` and `recv`, as its place in its channel's list.
    pub(crate) message_at: EventMap<u32>,
    /// The `unpark` events for each thread.
    pub(crate) unparks: Vec<Vec<EventId>>,
    /// The `park` before each `park` and `park_timeout` of a thread.
    pub(crate) park_before: EventMap<EventId>,
    /// The last access before each one of a variable that all others keep their order with: an
    /// `exclusive`, or any in mixed memory.
    pub(crate) exclusive_before: EventMap<EventId>,
    /// The arrivals of each generation of each barrier.
    pub(crate) arrivals: BTreeMap<(BarrierId, u64), Vec<EventId>>,
    /// The writes of each value to each variable.
    writes: Writes,
    /// For each event, the last one before it in its thread that takes input.
    input_before: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Index {
    /// The index of a trace.
    pub fn new(trace: &Trace) -> Self {
        let mut builder = Builder::new(trace);
        for event in trace.events() {
            builder.event(event);
        }
        builder.index
    }

    /// The last event before this one in its thread that reads or receives: see
    /// [`takes_input`](racelog::trace::Op::takes_input).
    pub(crate) fn input_before(&self, event: EventId) -> Option<EventId> {
        let index = self.input_before[event.index()];
        (index != NONE).then(|| EventId::from_index(index as usize))
    }

    /// The writes of a value to a variable.
    pub(crate) fn writes_of(&self, var: VarId, value: ValueId) -> &[EventId] {
        self.writes.get(var, value)
    }

    /// The `send` of what an event receives.
    pub(crate) fn send_of(&self, trace: &Trace, recv: EventId) -> Option<EventId> {
        let Op::Recv { channel, .. } = trace.op(recv) else { return None };
        let number = *self.message_at.get(&recv)? as usize;
        Some(self.channels[channel.index()].messages[number].send)
    }

    /// The last access before one of the same variable that all others keep their order with.
    pub(crate) fn exclusive_before(&self, access: EventId) -> Option<EventId> {
        self.exclusive_before.get(&access).copied()
    }

    /// The arrivals of a generation.
    pub(crate) fn arrivals_of(&self, barrier: BarrierId, generation: u64) -> &[EventId] {
        self.arrivals.get(&(barrier, generation)).map_or(&[], Vec::as_slice)
    }

    /// The arrivals of the generation before.
    pub(crate) fn previous_arrivals(&self, barrier: BarrierId, generation: u64) -> &[EventId] {
        let mut earlier = self.arrivals.range((barrier, 0)..(barrier, generation));
        earlier.next_back().map_or(&[], |(_, arrivals)| arrivals)
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    index: Index,
    /// The last event of each thread that takes input.
    input: Vec<u32>,
    /// The stay that each thread is in.
    staying: Vec<Option<u32>>,
    messages: FxHashMap<(ChannelId, ValueId), u32>,
    /// The last `park` of each thread.
    parked: Vec<Option<EventId>>,
    /// The last `exclusive` of each variable.
    exclusive: Vec<Option<EventId>>,
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace) -> Self {
        let threads = trace.thread_count();
        let index = Index {
            regions: Regions::new(trace),
            condvars: vec![Condvar::default(); trace.condvar_count()],
            stay_at: EventMap::default(),
            channels: vec![Channel::default(); trace.channel_count()],
            message_at: EventMap::default(),
            unparks: vec![Vec::new(); threads],
            park_before: EventMap::default(),
            exclusive_before: EventMap::default(),
            arrivals: BTreeMap::new(),
            writes: Writes::new(trace),
            input_before: Vec::with_capacity(trace.len()),
        };
        Self {
            trace,
            index,
            input: vec![NONE; threads],
            staying: vec![None; threads],
            messages: FxHashMap::default(),
            parked: vec![None; threads],
            exclusive: vec![None; trace.var_count()],
        }
    }

    fn event(&mut self, event: EventId) {
        let op = self.trace.op(event);
        let thread = self.trace.thread(event);
        self.index.input_before.push(self.input[thread.index()]);
        if op.takes_input() {
            self.input[thread.index()] = event.index() as u32;
        }
        if let Some(var) = op.var() {
            let exclusive = &mut self.exclusive[var.index()];
            if let Some(before) = *exclusive {
                self.index.exclusive_before.insert(event, before);
            }
            // In mixed memory every access keeps its place.
            if op.is_exclusive() || self.trace.is_mixed(var) {
                *exclusive = Some(event);
            }
        }
        match op {
            Op::Wait { condvar, .. } => self.wait(event, condvar),
            Op::Wake { condvar, .. } => self.wake(event, condvar, false),
            Op::WakeTimeout { condvar, .. } => self.wake(event, condvar, true),
            Op::NotifyOne { condvar, .. } => {
                self.index.condvars[condvar.index()].notify_one.push(event);
            }
            Op::NotifyAll(condvar) => self.index.condvars[condvar.index()].notify_all.push(event),
            Op::Park | Op::ParkTimeout => {
                let parked = &mut self.parked[thread.index()];
                if let Some(before) = *parked {
                    self.index.park_before.insert(event, before);
                }
                if op == Op::Park {
                    *parked = Some(event);
                }
            }
            Op::Unpark(thread) => self.index.unparks[thread.index()].push(event),
            Op::Send { channel, message } => self.send(event, channel, message),
            Op::Recv { channel, message } => self.receive(event, channel, message),
            Op::Close(channel) => self.index.channels[channel.index()].closes.push(event),
            Op::ReceiverClose(channel) => {
                self.index.channels[channel.index()].receiver_closes.push(event);
            }
            Op::Arrive { barrier, generation } => {
                self.index.arrivals.entry((barrier, generation)).or_default().push(event);
            }
            Op::Leave { barrier, generation } => {
                self.index.arrivals.entry((barrier, generation)).or_default();
            }
            Op::Begin
            | Op::End
            | Op::Fork(_)
            | Op::Join(_)
            | Op::Read { .. }
            | Op::Write { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Cas { .. }
            | Op::CasFail { .. }
            | Op::Exclusive { .. }
            | Op::Fence(_)
            | Op::Branch
            | Op::Acquire(_)
            | Op::Release(_)
            | Op::ReadAcquire(_)
            | Op::ReadRelease(_)
            | Op::AcquireFail(_)
            | Op::ReadAcquireFail(_)
            | Op::RecvEmpty(_)
            | Op::RecvClosed(_)
            | Op::SendClosed { .. }
            | Op::SendFull(_)
            | Op::OnceBegin(_)
            | Op::OnceEnd(_)
            | Op::OnceWait(_)
            | Op::Assert(_)
            | Op::Check { .. }
            | Op::AtomicBegin(_)
            | Op::AtomicEnd => {}
        }
    }

    fn wait(&mut self, event: EventId, condvar: CondvarId) {
        let stays = &mut self.index.condvars[condvar.index()].stays;
        let number = stays.len() as u32;
        stays.push(Stay { wait: event, end: None, times_out: false });
        self.index.stay_at.insert(event, number);
        self.staying[self.trace.thread(event).index()] = Some(number);
    }

    fn wake(&mut self, event: EventId, condvar: CondvarId, times_out: bool) {
        if let Some(number) = self.staying[self.trace.thread(event).index()].take() {
            let stay = &mut self.index.condvars[condvar.index()].stays[number as usize];
            stay.end = Some(event);
            stay.times_out = times_out;
            self.index.stay_at.insert(event, number);
        }
    }

    fn send(&mut self, event: EventId, channel: ChannelId, name: ValueId) {
        let messages = &mut self.index.channels[channel.index()].messages;
        let number = messages.len() as u32;
        messages.push(Message { send: event, recv: None });
        self.index.message_at.insert(event, number);
        self.messages.insert((channel, name), number);
    }

    fn receive(&mut self, event: EventId, channel: ChannelId, name: ValueId) {
        if let Some(number) = self.messages.get(&(channel, name)) {
            let messages = &mut self.index.channels[channel.index()].messages;
            messages[*number as usize].recv = Some(event);
            self.index.message_at.insert(event, *number);
        }
    }
}
