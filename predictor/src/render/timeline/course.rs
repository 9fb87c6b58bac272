//! One order of events: who holds what from where to where, and what made what possible.
//!
//! The arrows are for people. Where an order leaves open who did something, as with a `notify_one`
//! that may have woken any of several threads, the most likely is drawn; no analysis rests on it.
//!
//! What is held is followed along the order itself. `index` knows it of the observed run, and would
//! go over the whole trace to say so; an order has some events of it, and may end within a region.

use racelog::trace::{BarrierId, ChannelId, LockId, Object, ThreadId, Woken};
use rustc_hash::FxHashMap;

use crate::trace::{EventId, Op, Printer, Trace, ValueId};

/// An order of events.
#[derive(Clone, Debug)]
pub struct Course {
    /// The rows of the events that are shown, in this order. Where one stands here is its position.
    pub rows: Vec<u32>,
    /// How many events the order has, shown or not.
    pub all: u64,
    /// How many of them stand before the first that is shown.
    pub before: u64,
    /// What is held from where to where, sorted by where it begins.
    pub regions: Vec<Region>,
    /// What made what possible, sorted by where it leads.
    pub arrows: Vec<Arrow>,
}

/// A stretch in which a thread holds something, or waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Whose lane it is in.
    pub thread: u32,
    /// How it is held.
    pub hold: Hold,
    /// What the lock or condvar is called.
    pub object: String,
    /// The position of the first event.
    pub from: u32,
    /// The position of the last event.
    pub to: u32,
    /// Whether it goes on when the order ends.
    pub open: bool,
}

/// What a thread does with a lock or a condvar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Has the lock for itself.
    Exclusive,
    /// Has the lock with others.
    Shared,
    /// Waits on the condvar.
    Waiting,
}

/// One event made another one, of another thread, possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// How.
    pub kind: ArrowKind,
    /// The position of the earlier one.
    pub from: u32,
    /// The position of the later one.
    pub to: u32,
}

/// How an event makes another one possible.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrowKind {
    /// It starts the thread.
    Fork,
    /// It is the last of the thread that is joined.
    Join,
    /// It wakes from a condvar.
    Notify,
    /// It lets a parked thread go on.
    Unpark,
    /// It sends the message, or closes the channel.
    Message,
    /// It is the last to arrive at the barrier.
    Barrier,
    /// It writes what is read.
    Reads,
}

impl ArrowKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Fork,
        Self::Join,
        Self::Notify,
        Self::Unpark,
        Self::Message,
        Self::Barrier,
        Self::Reads,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Join => "join",
            Self::Notify => "notify",
            Self::Unpark => "unpark",
            Self::Message => "message",
            Self::Barrier => "barrier",
            Self::Reads => "reads from",
        }
    }
}

impl Course {
    /// Follows an order, of which the steps `shown` are to be seen: pairs of a step, from 0, and
    /// its row.
    ///
    /// The last `racing` events are about to happen and have not: neither sees what the others do.
    pub(super) fn new(
        trace: &Trace,
        order: &[EventId],
        racing: usize,
        shown: &[(u32, u32)],
        printer: &mut Printer<'_>,
    ) -> Self {
        let mut walk = Walk::new(trace, order);
        let settled = order.len().saturating_sub(racing);
        for (step, event) in (0..).zip(order) {
            walk.arrive(step, *event);
            if (step as usize) < settled {
                walk.depart(step, *event);
            }
        }
        let end = (order.len() as u32).saturating_sub(1);
        walk.close_all(end);
        // What is shown need not be without gaps: a step that is not there is where the next one
        // is.
        let next = |step: u32| shown.partition_point(|(at, _)| *at < step) as u32;
        let exact = |step: u32| shown.binary_search_by_key(&step, |(at, _)| *at).ok();
        let is_shown = |object: &Object| match object {
            Object::Lock(lock) => trace.is_of_program(*lock),
            _ => true,
        };
        let shown_regions = walk.regions.iter().filter(|region| is_shown(&region.object));
        let regions = shown_regions.filter_map(|region| {
            let (from, after) = (next(region.from), next(region.to + 1));
            (from < after).then(|| Region {
                thread: region.thread.index() as u32,
                hold: region.hold,
                object: printer.name(region.object).to_owned(),
                from,
                to: after - 1,
                open: region.open,
            })
        });
        let mut regions: Vec<Region> = regions.collect();
        regions.sort_by_key(|region| (region.from, std::cmp::Reverse(region.to), region.thread));
        let arrows = walk.arrows.iter().filter_map(|arrow| {
            let (from, to) = (exact(arrow.from)? as u32, exact(arrow.to)? as u32);
            Some(Arrow { kind: arrow.kind, from, to })
        });
        Self {
            rows: shown.iter().map(|(_, row)| *row).collect(),
            all: order.len() as u64,
            before: shown.first().map_or(0, |(step, _)| u64::from(*step)),
            regions,
            arrows: arrows.collect(),
        }
    }
}

/// A region in steps of the order.
struct Stretch {
    thread: ThreadId,
    hold: Hold,
    object: Object,
    from: u32,
    to: u32,
    open: bool,
}

/// A walk along an order. All places are steps of it.
struct Walk<'a> {
    trace: &'a Trace,
    order: &'a [EventId],
    regions: Vec<Stretch>,
    arrows: Vec<Arrow>,
    /// The indices of the open regions of each thread.
    open: Vec<Vec<usize>>,
    forked: Vec<Option<u32>>,
    last: Vec<Option<u32>>,
    tokens: Vec<Option<u32>>,
    /// For each thread that waits: since when, and who has notified it.
    waiting: Vec<Option<(u32, Option<u32>)>>,
    /// For each condvar, the notifications of nobody in particular that nobody has taken yet.
    notified: Vec<Vec<u32>>,
    writes: Vec<Option<(u32, EventId)>>,
    messages: FxHashMap<(ChannelId, ValueId), u32>,
    closed: Vec<Option<u32>>,
    arrivals: FxHashMap<(BarrierId, u64), u32>,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace, order: &'a [EventId]) -> Self {
        let threads = trace.thread_count();
        Self {
            trace,
            order,
            regions: Vec::new(),
            arrows: Vec::new(),
            open: vec![Vec::new(); threads],
            forked: vec![None; threads],
            last: vec![None; threads],
            tokens: vec![None; threads],
            waiting: vec![None; threads],
            notified: vec![Vec::new(); trace.condvar_count()],
            writes: vec![None; trace.var_count()],
            messages: FxHashMap::default(),
            closed: vec![None; trace.channel_count()],
            arrivals: FxHashMap::default(),
        }
    }

    /// What led to this event.
    fn arrive(&mut self, step: u32, event: EventId) {
        let t = self.trace.thread(event).index();
        let op = self.trace.op(event);
        if self.last[t].is_none() {
            self.draw(ArrowKind::Fork, self.forked[t], step);
        }
        match op {
            Op::Join(child) => self.draw(ArrowKind::Join, self.last[child.index()], step),
            Op::Wake { condvar, .. } => {
                let notifier = self.waiting[t].and_then(|(since, notifier)| {
                    let loose = &mut self.notified[condvar.index()];
                    let first = loose.iter().position(|notified| *notified > since);
                    notifier.or_else(|| first.map(|first| loose.remove(first)))
                });
                self.draw(ArrowKind::Notify, notifier, step);
            }
            Op::Park => {
                let token = self.tokens[t].take();
                self.draw(ArrowKind::Unpark, token, step);
            }
            Op::Recv { channel, message } => {
                let sent = self.messages.get(&(channel, message)).copied();
                self.draw(ArrowKind::Message, sent, step);
            }
            Op::RecvClosed(channel) => {
                self.draw(ArrowKind::Message, self.closed[channel.index()], step);
            }
            Op::Leave { barrier, generation } => {
                let last = self.arrivals.get(&(barrier, generation)).copied();
                self.draw(ArrowKind::Barrier, last, step);
            }
            _ if op.reads() => {
                let write = op.var().and_then(|var| self.writes[var.index()]);
                let write = write.filter(|(_, write)| self.trace.overlap(*write, event));
                self.draw(ArrowKind::Reads, write.map(|(step, _)| step), step);
            }
            _ => {}
        }
    }

    /// What this event leaves behind.
    fn depart(&mut self, step: u32, event: EventId) {
        let thread = self.trace.thread(event);
        let t = thread.index();
        let op = self.trace.op(event);
        self.last[t] = Some(step);
        match op {
            Op::Fork(child) => self.forked[child.index()] = Some(step),
            Op::Acquire(lock) => self.begin(thread, Hold::Exclusive, Object::Lock(lock), step),
            Op::ReadAcquire(lock) => self.begin(thread, Hold::Shared, Object::Lock(lock), step),
            Op::Release(lock) | Op::ReadRelease(lock) => self.give_back(thread, lock, step),
            Op::Wait { condvar, lock } => {
                self.give_back(thread, lock, step);
                self.waiting[t] = Some((step, None));
                self.begin(thread, Hold::Waiting, Object::Condvar(condvar), step);
            }
            Op::Wake { condvar, lock } | Op::WakeTimeout { condvar, lock } => {
                self.waiting[t] = None;
                self.end(thread, Object::Condvar(condvar), step);
                self.begin(thread, Hold::Exclusive, Object::Lock(lock), step);
            }
            Op::NotifyOne { condvar, woken } => match woken {
                Woken::Nobody => {}
                // In another order that thread may not wait yet: then it is another thread's.
                Woken::Thread(woken) => match &mut self.waiting[woken.index()] {
                    Some((_, notifier @ None)) => *notifier = Some(step),
                    _ => self.notified[condvar.index()].push(step),
                },
                Woken::Unknown => self.notified[condvar.index()].push(step),
            },
            Op::NotifyAll(condvar) => self.notify_all(Object::Condvar(condvar), step),
            Op::Unpark(parked) => self.tokens[parked.index()] = Some(step),
            Op::Send { channel, message } => {
                self.messages.insert((channel, message), step);
            }
            Op::Close(channel) => self.closed[channel.index()] = Some(step),
            Op::Arrive { barrier, generation } => {
                self.arrivals.insert((barrier, generation), step);
            }
            _ if op.writes() => {
                if let Some(var) = op.var() {
                    self.writes[var.index()] = Some((step, event));
                }
            }
            _ => {}
        }
    }

    fn draw(&mut self, kind: ArrowKind, from: Option<u32>, to: u32) {
        let thread = |step: u32| self.trace.thread(self.order[step as usize]);
        if let Some(from) = from
            && thread(from) != thread(to)
        {
            self.arrows.push(Arrow { kind, from, to });
        }
    }

    fn notify_all(&mut self, condvar: Object, step: u32) {
        for (waiting, open) in self.waiting.iter_mut().zip(&self.open) {
            let on_it = open.iter().any(|region| self.regions[*region].object == condvar);
            if let Some((_, notifier @ None)) = waiting
                && on_it
            {
                *notifier = Some(step);
            }
        }
    }

    fn begin(&mut self, thread: ThreadId, hold: Hold, object: Object, from: u32) {
        self.open[thread.index()].push(self.regions.len());
        self.regions.push(Stretch { thread, hold, object, from, to: from, open: true });
    }

    fn give_back(&mut self, thread: ThreadId, lock: LockId, to: u32) {
        self.end(thread, Object::Lock(lock), to);
    }

    fn end(&mut self, thread: ThreadId, object: Object, to: u32) {
        let open = &mut self.open[thread.index()];
        let at = open.iter().rposition(|region| self.regions[*region].object == object);
        if let Some(at) = at {
            let region = &mut self.regions[open.remove(at)];
            (region.to, region.open) = (to, false);
        }
    }

    fn close_all(&mut self, end: u32) {
        for region in self.regions.iter_mut().filter(|region| region.open) {
            region.to = end;
        }
    }
}
