//! Which events of a trace belong together: what takes a lock and what gives it back, a wait and
//! its end, a message's way. Found once, in one pass, and used by all windows.

mod lookup;

use std::collections::BTreeMap;

use racelog::trace::{BarrierId, ChannelId, CondvarId, LockId, ThreadId, VarId};
use rustc_hash::FxHashMap;

use self::lookup::{EventMap, Writes};
use crate::trace::{EventId, Op, Trace, ValueId};

/// A stretch of a thread's events during which it holds a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) thread: ThreadId,
    pub(crate) lock: LockId,
    pub(crate) shared: bool,
    pub(crate) acquire: EventId,
    /// None if the trace ends before.
    pub(crate) release: Option<EventId>,
}

impl Region {
    /// Whether two regions cannot be at the same time.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        self.thread != other.thread && !(self.shared && other.shared)
    }
}

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
}

/// Which events of a trace belong together.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) regions: Vec<Region>,
    /// The regions of each lock, in the order in which they begin.
    pub(crate) regions_of: Vec<Vec<u32>>,
    /// The regions of each lock and thread, in the order in which they begin.
    pub(crate) regions_by: FxHashMap<(LockId, ThreadId), Vec<u32>>,
    /// The region that each event of a lock begins or ends.
    pub(crate) region_at: EventMap<u32>,
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
    /// For each event, the last one before it in its thread that reads or receives.
    learnt_before: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Index {
    /// The index of a trace.
    pub fn new(trace: &Trace) -> Self {
        let mut builder = Builder::new(trace);
        for event in trace.events() {
            builder.event(event);
        }
        builder.index.writes = Writes::new(trace);
        builder.index
    }

    /// The last event before this one in its thread that reads or receives.
    pub(crate) fn learnt_before(&self, event: EventId) -> Option<EventId> {
        let index = self.learnt_before[event.index()];
        (index != NONE).then(|| EventId::from_index(index as usize))
    }

    /// The writes of a value to a variable.
    pub(crate) fn writes_of(&self, var: VarId, value: ValueId) -> &[EventId] {
        self.writes.get(var, value)
    }

    /// Where a thread gives back a lock that it holds at an event.
    pub(crate) fn release_after(
        &self,
        trace: &Trace,
        lock: LockId,
        event: EventId,
    ) -> Option<EventId> {
        let regions = self.regions_by.get(&(lock, trace.thread(event)))?;
        let begun =
            regions.partition_point(|region| self.regions[*region as usize].acquire < event);
        self.regions[regions[begun.checked_sub(1)?] as usize].release
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

/// Whether the operation can leave its thread unclean.
pub(crate) fn learns(op: &Op) -> bool {
    op.reads() || matches!(op, Op::Recv { .. })
}

/// The value that an operation needs to find, if it is one that looks.
pub(crate) fn value_read(op: &Op) -> Option<ValueId> {
    match *op {
        Op::Read { value, .. } | Op::Load { value, .. } => Some(value),
        Op::Rmw { old, .. } | Op::Cas { old, .. } => Some(old),
        Op::CasFail { seen, .. } => Some(seen),
        _ => None,
    }
}

/// The value that an operation leaves behind, if it is one that writes.
pub(crate) fn value_written(op: &Op) -> Option<ValueId> {
    match *op {
        Op::Write { value, .. } | Op::Store { value, .. } | Op::Exclusive { value, .. } => {
            Some(value)
        }
        Op::Rmw { new, .. } | Op::Cas { new, .. } => Some(new),
        _ => None,
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    index: Index,
    /// The last event of each thread that reads or receives.
    learnt: Vec<u32>,
    /// The regions that each thread is in.
    open: Vec<Vec<u32>>,
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
            regions_of: vec![Vec::new(); trace.lock_count()],
            condvars: vec![Condvar::default(); trace.condvar_count()],
            channels: vec![Channel::default(); trace.channel_count()],
            unparks: vec![Vec::new(); threads],
            learnt_before: Vec::with_capacity(trace.len()),
            ..Index::default()
        };
        Self {
            trace,
            index,
            learnt: vec![NONE; threads],
            open: vec![Vec::new(); threads],
            staying: vec![None; threads],
            messages: FxHashMap::default(),
            parked: vec![None; threads],
            exclusive: vec![None; trace.var_count()],
        }
    }

    fn event(&mut self, event: EventId) {
        let op = self.trace.op(event);
        let thread = self.trace.thread(event);
        self.index.learnt_before.push(self.learnt[thread.index()]);
        if learns(&op) {
            self.learnt[thread.index()] = event.index() as u32;
        }
        if let Some(var) = op.var() {
            let exclusive = &mut self.exclusive[var.index()];
            if let Some(before) = *exclusive {
                self.index.exclusive_before.insert(event, before);
            }
            // In mixed memory every access keeps its place.
            if matches!(op, Op::Exclusive { .. }) || self.trace.is_mixed(var) {
                *exclusive = Some(event);
            }
        }
        match op {
            Op::Acquire(lock) => self.acquire(event, lock, false),
            Op::ReadAcquire(lock) => self.acquire(event, lock, true),
            Op::Release(lock) | Op::ReadRelease(lock) => self.release(event, lock),
            Op::Wait { condvar, lock } => {
                self.release(event, lock);
                self.wait(event, condvar);
            }
            Op::Wake { condvar, lock } => {
                self.wake(event, condvar, false);
                self.acquire(event, lock, false);
            }
            Op::WakeTimeout { condvar, lock } => {
                self.wake(event, condvar, true);
                self.acquire(event, lock, false);
            }
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
            Op::Arrive { barrier, generation } => {
                self.index.arrivals.entry((barrier, generation)).or_default().push(event);
            }
            Op::Leave { barrier, generation } => {
                self.index.arrivals.entry((barrier, generation)).or_default();
            }
            _ => {}
        }
    }

    fn acquire(&mut self, event: EventId, lock: LockId, shared: bool) {
        let thread = self.trace.thread(event);
        let number = self.index.regions.len() as u32;
        self.index.regions.push(Region { thread, lock, shared, acquire: event, release: None });
        self.index.regions_of[lock.index()].push(number);
        self.index.regions_by.entry((lock, thread)).or_default().push(number);
        self.index.region_at.insert(event, number);
        self.open[thread.index()].push(number);
    }

    /// Of several shared regions of one thread, it makes no difference which ends.
    fn release(&mut self, event: EventId, lock: LockId) {
        let regions = &mut self.index.regions;
        let open = &mut self.open[self.trace.thread(event).index()];
        let last = open.iter().rposition(|region| regions[*region as usize].lock == lock);
        if let Some(at) = last {
            let region = open.remove(at);
            regions[region as usize].release = Some(event);
            self.index.region_at.insert(event, region);
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
