//! The trace that analyses work on.

use racelog::contract::marker::Marker;
use racelog::contract::place::SourcePlace;
use racelog::trace::{
    ChannelId, Dictionary, End, Event, LocId, Location, LockId, Metadata, Object, Patience, Stamp,
    ThreadId, Value, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::added::Added;
use super::columns::Columns;
use super::data::{Data, Expression};
use super::endings::Endings;
use super::foreign::Foreign;
use super::format::text::{EventPrinter, print_expression, put_end};
use super::originals::{Originals, ToOriginals};
use super::overlaps::Overlaps;
use super::scopes::Scopes;
use super::translate::Translate;
use super::{EventId, Groups, ValueId, Values};

/// An operation of a loaded trace: its values are ids that can be compared.
pub type Op = racelog::trace::Op<ValueId>;

/// A trace in memory, indexed. Its order is a feasible execution: see
/// [`validate`](super::validate).
///
/// Threads, variables, locks and so on are numbered from 0 without gaps.
///
/// Where a thread reads in code that does not record its branches, an implicit branch follows. It
/// has no number, so that events keep the identity that they have in their file: it is kept as a
/// [guard](Trace::is_guarded) of the thread's next event.
#[derive(Debug)]
pub struct Trace {
    pub(super) metadata: Metadata,
    pub(super) dictionary: Dictionary,
    pub(super) end: End,
    pub(super) lost_events: u64,
    pub(super) columns: Columns,
    pub(super) values: Values,
    pub(super) originals: Originals,
    pub(super) overlaps: Overlaps,
    pub(super) foreign: Foreign,
    /// The initial value of each variable.
    pub(super) initial: Vec<ValueId>,
    /// The event that forks each thread.
    pub(super) forks: Vec<Option<EventId>>,
    /// Whether an implicit branch follows each thread's last event.
    pub(super) guarded_end: Vec<bool>,
    pub(super) by_thread: Groups,
    pub(super) by_var: Groups,
    pub(super) by_lock: Groups,
    pub(super) added: Added,
    pub(super) endings: Endings,
    pub(super) scopes: Scopes,
    /// How many messages each channel holds, if there is a limit.
    pub(super) capacities: Vec<Option<u32>>,
    /// Of each lock whether waiting writers keep readers out.
    pub(super) fair: Vec<bool>,
    pub(super) requests: FxHashMap<ThreadId, Request>,
    pub(super) data: FxHashMap<EventId, Data>,
    /// The variables of which a write says what it is computed from.
    pub(super) computed: FxHashSet<VarId>,
    /// The outermost regions of each thread that are meant to be atomic: from where to where.
    pub(super) atomic: FxHashMap<ThreadId, Vec<(u32, u32)>>,
}

/// What a thread was about to do when the trace ended, and waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The operation. What a receive would have received is not known: it is said as waiting for
    /// the end of its channel.
    pub op: Op,
    /// Where in the program.
    pub location: Option<LocId>,
    /// How long the thread would have waited.
    pub patience: Patience,
}

impl Trace {
    /// What the trace says of itself.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// How the trace ends.
    pub fn end(&self) -> End {
        self.end
    }

    /// How many events are known to be missing: the recorder could not write them down, or they may
    /// depend on such.
    pub fn lost_events(&self) -> u64 {
        self.lost_events
    }

    /// How many events there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All events, in order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = EventId> + use<> {
        (0..self.len()).map(EventId::from_index)
    }

    /// The operations of all events, in order.
    pub fn ops(&self) -> &[Op] {
        &self.columns.ops
    }

    /// Whether the trace has this event.
    pub fn contains(&self, event: EventId) -> bool {
        event.index() < self.len()
    }

    /// The thread of an event.
    #[inline]
    pub fn thread(&self, event: EventId) -> ThreadId {
        self.columns.thread[event.index()]
    }

    /// What an event does.
    #[inline]
    pub fn op(&self, event: EventId) -> Op {
        self.columns.op(event)
    }

    /// What the text of an event means, if it is an `assert`.
    pub fn marker(&self, event: EventId) -> Option<Marker<'_>> {
        match self.op(event) {
            Op::Assert(text) => self.dictionary.get_string(text).map(Marker::parse),
            _ => None,
        }
    }

    /// What an event says of values besides what it did.
    #[inline]
    pub fn data(&self, event: EventId) -> Option<&Data> {
        if self.data.is_empty() { None } else { self.data.get(&event) }
    }

    /// The outermost region that an event is in which is meant to be atomic: the place of its begin
    /// in its thread.
    pub fn atomic_region(&self, event: EventId) -> Option<usize> {
        let regions = self.atomic.get(&self.thread(event))?;
        let position = self.position(event) as u32;
        let after = regions.partition_point(|(begin, _)| *begin < position);
        let (begin, end) = regions[after.checked_sub(1)?];
        (position < end).then_some(begin as usize)
    }

    /// Whether any region is meant to be atomic.
    pub fn has_atomic_regions(&self) -> bool {
        !self.atomic.is_empty()
    }

    /// Whether a thread may pass a branch or a check, or make a compare-exchange, though it has
    /// found something else than in the observed run: if its condition is computed.
    #[inline]
    pub fn may_pass(&self, event: EventId) -> bool {
        self.data(event).is_some_and(|data| match self.op(event) {
            Op::Branch | Op::Check { .. } => data.is.is_some(),
            Op::Cas { .. } | Op::CasFail { .. } => data.expects.is_some(),
            _ => false,
        })
    }

    /// Whether any write of a variable says what it is computed from: then it may leave other
    /// values than it did.
    #[inline]
    pub fn is_computed(&self, var: VarId) -> bool {
        !self.computed.is_empty() && self.computed.contains(&var)
    }

    /// Whether any event says something of values besides what it did.
    #[inline]
    pub fn has_data(&self) -> bool {
        !self.data.is_empty()
    }

    /// Whether any access is atomic.
    pub fn has_atomics(&self) -> bool {
        self.ops().iter().any(Op::is_atomic)
    }

    /// How long the thread of an event would have waited to do it.
    pub fn patience(&self, event: EventId) -> Patience {
        self.columns.patience(event)
    }

    /// Whether the thread of an event waits until it can do it. What ends a wait on a condvar has
    /// the patience of the wait, which is the event before.
    pub fn waits_for_ever(&self, event: EventId) -> bool {
        let before = match self.op(event) {
            Op::Wake { .. } => self.position(event).checked_sub(1),
            _ => None,
        };
        let asked = before.map_or(event, |at| self.events_of_thread(self.thread(event))[at]);
        self.patience(asked) == Patience::Forever
    }

    /// How many messages a channel holds, if there is a limit.
    #[inline]
    pub fn capacity(&self, channel: ChannelId) -> Option<u32> {
        self.capacities[channel.index()]
    }

    /// Whether threads that wait to take a lock exclusively keep out those that want to share it.
    pub fn is_fair(&self, lock: LockId) -> bool {
        self.fair[lock.index()]
    }

    /// What a thread was about to do when the trace ended, if it could not do it at once.
    pub fn request_of(&self, thread: ThreadId) -> Option<&Request> {
        self.requests.get(&thread)
    }

    /// Where in the program an event happened.
    #[inline]
    pub fn location(&self, event: EventId) -> Option<LocId> {
        self.columns.location[event.index()]
    }

    /// The place in the source where an event happened, if it is known as such.
    pub fn source_place(&self, event: EventId) -> Option<SourcePlace> {
        match self.dictionary.get_location(self.location(event)?)? {
            Location::Source { file, line, column } => {
                let file = self.dictionary.get_string(file)?.to_owned();
                Some(SourcePlace { file, line, column })
            }
            Location::Code { .. } => None,
        }
    }

    /// Whether the thread was in code that records all its branches.
    pub fn is_recorded(&self, event: EventId) -> bool {
        self.columns.recorded[event.index()]
    }

    /// Whether an implicit branch stands between the event and the one before it in its thread.
    #[inline]
    pub fn is_guarded(&self, event: EventId) -> bool {
        self.columns.guarded[event.index()]
    }

    /// Whether an implicit branch follows the thread's last event.
    pub fn ends_guarded(&self, thread: ThreadId) -> bool {
        self.guarded_end[thread.index()]
    }

    /// Where in its thread an event stands, from 0.
    #[inline]
    pub fn position(&self, event: EventId) -> usize {
        self.columns.position[event.index()] as usize
    }

    /// How many threads there are.
    pub fn thread_count(&self) -> usize {
        self.originals.threads.len()
    }

    /// All threads.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = ThreadId> + use<> {
        (0..self.thread_count() as u32).map(ThreadId::new)
    }

    /// How many variables there are.
    pub fn var_count(&self) -> usize {
        self.originals.vars.len()
    }

    /// All variables.
    pub fn vars(&self) -> impl ExactSizeIterator<Item = VarId> + use<> {
        (0..self.var_count() as u32).map(VarId::new)
    }

    /// How many locks there are.
    pub fn lock_count(&self) -> usize {
        self.originals.locks.len()
    }

    /// How many condvars there are.
    pub fn condvar_count(&self) -> usize {
        self.originals.condvars.len()
    }

    /// How many channels there are.
    pub fn channel_count(&self) -> usize {
        self.originals.channels.len()
    }

    /// How many barriers there are.
    pub fn barrier_count(&self) -> usize {
        self.originals.barriers.len()
    }

    /// The events of a thread.
    #[inline]
    pub fn events_of_thread(&self, thread: ThreadId) -> &[EventId] {
        self.by_thread.get(thread.index())
    }

    /// The accesses of a variable.
    #[inline]
    pub fn events_of_var(&self, var: VarId) -> &[EventId] {
        self.by_var.get(var.index())
    }

    /// Whether a variable is memory whose accesses overlap without being of the same bytes. All its
    /// accesses keep their observed order.
    #[inline]
    pub fn is_mixed(&self, var: VarId) -> bool {
        self.overlaps.is_mixed(var)
    }

    /// Whether two accesses of one variable touch the same bytes, or some of them.
    pub fn overlap(&self, a: EventId, b: EventId) -> bool {
        self.overlaps.overlap(a, b)
    }

    /// The variable that an event accesses as it was recorded: of a mixed one, the part.
    pub fn accessed(&self, event: EventId) -> Option<VarId> {
        self.overlaps.part(event).or(self.op(event).var())
    }

    /// Whether an access is that memory was given back.
    pub fn frees(&self, event: EventId) -> bool {
        let (Op::Write { var, .. }, Some(accessed)) = (self.op(event), self.accessed(event)) else {
            return false;
        };
        let Object::Var(original) = self.originals.object(Object::Var(accessed)) else {
            return false;
        };
        let is_same = |other: &&EventId| self.accessed(**other) == Some(accessed);
        self.dictionary.is_freed(original)
            && self.events_of_var(var).iter().rev().find(is_same) == Some(&event)
    }

    /// The events that take, give back or look at a lock.
    pub fn events_of_lock(&self, lock: LockId) -> &[EventId] {
        self.by_lock.get(lock.index())
    }

    /// The event that starts a thread; `None` for a root thread.
    #[inline]
    pub fn fork_of(&self, thread: ThreadId) -> Option<EventId> {
        self.forks[thread.index()]
    }

    /// Whether nobody who is recorded has started a thread. Its events keep their place among all
    /// others.
    #[inline]
    pub fn is_foreign(&self, thread: ThreadId) -> bool {
        self.foreign.is_foreign(thread)
    }

    /// The foreign threads that have events, with the place of the first of these that has one.
    pub fn foreign_threads(&self) -> impl Iterator<Item = (ThreadId, Option<LocId>)> + '_ {
        let foreign = self.threads().filter(|thread| self.is_foreign(*thread));
        foreign.filter_map(|thread| {
            let events = self.events_of_thread(thread);
            events.first()?;
            Some((thread, events.iter().find_map(|event| self.location(*event))))
        })
    }

    /// The threads that may belong to the trace and are not in it, by where each was first met.
    pub fn unattributed(&self) -> &[Option<LocId>] {
        self.dictionary.unattributed()
    }

    /// The events of other threads that an event comes right after because a foreign thread is
    /// between or among them: with the order within threads, these are the whole order that
    /// foreign threads keep.
    #[inline]
    pub fn awaited(&self, event: EventId) -> &[EventId] {
        self.foreign.awaited(event)
    }

    /// The value that a variable has before the first event.
    pub fn initial_value(&self, var: VarId) -> ValueId {
        self.initial[var.index()]
    }

    /// What the value ids stand for.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Says what stands in the trace.
    pub fn printer(&self) -> Printer<'_> {
        Printer { trace: self, inner: EventPrinter::new() }
    }

    /// The event as it was read.
    fn original(&self, event: EventId) -> Event {
        let mut originals = ToOriginals { originals: &self.originals, values: &self.values };
        let op = self
            .overlaps
            .part(event)
            .map_or_else(|| self.op(event), |part| self.columns.op_on(event, part));
        Event {
            thread: originals.thread(self.thread(event)),
            stamp: Stamp::new(event.number()),
            op: originals.op(op),
            location: self.location(event),
            recorded: self.is_recorded(event),
            patience: self.patience(event),
        }
    }
}

/// Says what stands in a trace, as people read it. It remembers names: keep it for many events.
#[derive(Debug)]
pub struct Printer<'a> {
    trace: &'a Trace,
    inner: EventPrinter,
}

impl Printer<'_> {
    /// What an object is called.
    pub fn name(&mut self, object: Object) -> &str {
        self.inner.name(&self.trace.dictionary, self.trace.originals.object(object))
    }

    /// The event as its line in the text format.
    pub fn event(&mut self, event: EventId) -> String {
        let mut out = Vec::new();
        let (dictionary, original) = (&self.trace.dictionary, self.trace.original(event));
        let said = self.said(event);
        self.inner.event_with(dictionary, &original, &said, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// What an event says besides its operands.
    fn said(&self, event: EventId) -> String {
        let (mut said, op) = (String::new(), self.trace.op(event));
        let data = self.trace.data(event);
        if let Some(data) = data {
            if data.found.is_some() {
                said += &format!(" -> {}", self.value_name(event));
            }
            if let Some(expects) = &data.expects {
                said += &format!(" expect {}", self.expression(expects));
            }
            if let Some(is) = &data.is {
                let sign = if op.decides() { " " } else { " := " };
                said += &format!("{sign}{}", self.expression(is));
            }
        }
        let since = data.and_then(|data| data.since).map(|position| {
            let events = self.trace.events_of_thread(self.trace.thread(event));
            events[position as usize].number()
        });
        put_end(&self.trace.dictionary, &self.trace.original(event).op, since, &mut said);
        said
    }

    /// What expressions call the value that an event has found.
    pub fn value_name(&self, read: EventId) -> String {
        let Some(data) = self.trace.data(read) else { return "?".to_owned() };
        let name = data.name.and_then(|id| self.trace.dictionary.get_string(id));
        name.map_or_else(|| format!("${}", data.number), str::to_owned)
    }

    /// An expression.
    pub fn expression(&self, expression: &Expression) -> String {
        let name = |place: u32| match expression.reads().get(place as usize) {
            Some(read) => self.value_name(*read),
            None => "?".to_owned(),
        };
        print_expression(expression.nodes(), name)
    }

    /// What an event does: its line without thread and location.
    pub fn operation(&mut self, event: EventId) -> String {
        let mut line = self.event(event);
        if let Some(location) = self.location(event) {
            line.truncate(line.len() - " @ ".len() - location.len());
        }
        let thread = self.name(Object::Thread(self.trace.thread(event))).len();
        line.split_off(thread + 1)
    }

    /// Where in the program an event happened.
    pub fn location(&mut self, event: EventId) -> Option<String> {
        let location = self.trace.location(event)?;
        Some(self.place(location))
    }

    /// A place in the program.
    pub fn place(&mut self, location: LocId) -> String {
        let mut out = Vec::new();
        self.inner.put_location(&self.trace.dictionary, location, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// A value.
    pub fn value(&self, id: ValueId) -> String {
        match self.trace.values.get(id) {
            Value::Opaque => match self.trace.values.writer(id) {
                Some(writer) => format!("what event {writer} wrote"),
                None => "its initial value".to_owned(),
            },
            Value::Nat(number) => number.to_string(),
            Value::Neg(number) => number.to_string(),
            Value::Symbol(id) => self.trace.dictionary.get_string(id).unwrap_or("?").to_owned(),
        }
    }
}
