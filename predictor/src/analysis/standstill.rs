//! What there is to say of threads that stand still: what each waits for, which threads could end
//! that, and where these took what they hold.
//!
//! Who holds what is a matter of positions: a thread that stands before an event holds what it has
//! taken and not given back there. So of a circle all is known from its events alone. Who else
//! waits, and for what the threads of a stall wait, is read off the state that the witness ends in.

use racelog::trace::{Object, ThreadId};

use crate::finding::{Describer, Part, Role, WaitKind, Waits, held};
use crate::goal::Circle;
use crate::semantics::{BlockedBy, Machine, State, Status};
use crate::trace::{EventId, Op, Trace};
use crate::witness::{Checker, Witness};

/// The most threads that are named of those that merely wait for a thread of a finding. A server
/// may have thousands, and they all say the same.
const MOST_OTHERS: usize = 16;

/// The parts of a circle: where its threads wait, and where the locks were taken that they wait
/// for.
pub(crate) fn circle(trace: &Trace, circle: &Circle, describer: &mut Describer<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut taken: Vec<EventId> = Vec::new();
    for event in circle.events() {
        let others: Vec<EventId> =
            circle.events().iter().copied().filter(|other| other != event).collect();
        let wait = Wait::in_circle(trace, *event, &others);
        taken.extend(wait.taken(trace, &others));
        parts.push(wait.part(Role::Next, describer));
    }
    taken.sort_unstable();
    taken.dedup();
    parts.extend(taken.into_iter().map(|event| {
        let lock = trace.op(event).lock().map(|lock| trace.lock_of_program(lock));
        let object = lock.map(|lock| describer.name(Object::Lock(lock)));
        Part { object, ..describer.part(event, Role::Taken) }
    }));
    parts
}

/// The first circle of threads that wait for each other, as places in a list of threads; nothing if
/// there is none. `waits_for` says for which of them one waits.
pub(crate) fn circle_among(
    threads: usize,
    waits_for: impl Fn(usize) -> Option<usize>,
) -> Vec<usize> {
    for start in 0..threads {
        let mut way = vec![start];
        while let Some(at) = waits_for(way[way.len() - 1]) {
            if at == start {
                return way;
            }
            if way.contains(&at) {
                break;
            }
            way.push(at);
        }
    }
    Vec::new()
}

/// A thread that stands before an event, and what it waits for.
struct Wait {
    event: EventId,
    what: WaitKind,
    object: Option<Object>,
    by: Vec<ThreadId>,
}

impl Wait {
    /// What the thread of an event of a circle waits for, where these are the others.
    fn in_circle(trace: &Trace, event: EventId, others: &[EventId]) -> Self {
        let op = trace.op(event);
        let thread_of = |event: &EventId| trace.thread(*event);
        if let Op::Join(child) = op {
            let object = Some(Object::Thread(child));
            return Self { event, what: WaitKind::ThreadEnd, object, by: vec![child] };
        }
        if let Op::Leave { .. } = op {
            let by = others.iter().filter(|other| arrives_later(trace, **other, event));
            let by = by.map(thread_of).collect();
            return Self { event, what: WaitKind::EndOfScope, object: None, by };
        }
        let lock = op.lock().map(|lock| trace.lock_of_program(lock));
        let shares = matches!(op, Op::ReadAcquire(_));
        let keeps_out = |other: &&EventId| {
            let held = held(trace, **other).into_iter();
            held.filter(|held| Some(held.lock) == lock).any(|held| !(held.shared && shares))
        };
        let holders: Vec<ThreadId> = others.iter().filter(keeps_out).map(thread_of).collect();
        let object = lock.map(Object::Lock);
        if !holders.is_empty() {
            return Self { event, what: what_lock(&op), object, by: holders };
        }
        let is_before = |other: &&EventId| match trace.op(**other) {
            Op::Acquire(other) => Some(trace.lock_of_program(other)) == lock,
            _ => false,
        };
        let writers = others.iter().filter(is_before).map(thread_of).collect();
        Self { event, what: WaitKind::WaitingWriters, object, by: writers }
    }

    /// What the thread of an event waits for that is blocked.
    fn blocked(machine: &Machine<'_>, state: &State, event: EventId, by: &BlockedBy) -> Self {
        let trace = machine.trace();
        let op = trace.op(event);
        let (what, object) = match by {
            BlockedBy::Holders(lock, threads) => {
                let lock = trace.lock_of_program(*lock);
                let next = |thread: &ThreadId| machine.next(state, *thread);
                let holds = |next: EventId| held(trace, next).iter().any(|held| held.lock == lock);
                let are_held = threads.iter().any(|thread| next(thread).is_none_or(holds));
                let what = if are_held { what_lock(&op) } else { WaitKind::WaitingWriters };
                (what, Some(Object::Lock(lock)))
            }
            BlockedBy::Thread(thread) => (WaitKind::ThreadEnd, Some(Object::Thread(*thread))),
            BlockedBy::ScopedThreads(_) => (WaitKind::EndOfScope, None),
            BlockedBy::Anybody => for_anybody(&op),
        };
        Self { event, what, object, by: by.threads().to_vec() }
    }

    /// The events that took what this one waits for, of those before which others stand.
    fn taken(&self, trace: &Trace, others: &[EventId]) -> Vec<EventId> {
        let Some(Object::Lock(lock)) = self.object else { return Vec::new() };
        let holders = others.iter().filter(|other| self.by.contains(&trace.thread(**other)));
        let held = holders.flat_map(|other| held(trace, *other));
        held.filter(|held| held.lock == lock).map(|held| held.taken).collect()
    }

    fn part(self, role: Role, describer: &mut Describer<'_>) -> Part {
        let by = self.by.into_iter().map(|thread| describer.name(Object::Thread(thread)));
        let waits = Some(Waits { what: self.what, by: by.collect() });
        let object = self.object.map(|object| describer.name(object));
        Part { object, waits, ..describer.part(self.event, role) }
    }
}

/// Whether the thread of an event is one that the end of a scope waits for, and has not come to the
/// end of what it does there.
fn arrives_later(trace: &Trace, event: EventId, end_of_scope: EventId) -> bool {
    let Op::Leave { barrier, generation } = trace.op(end_of_scope) else { return false };
    let arrival = Op::Arrive { barrier, generation };
    let rest = &trace.events_of_thread(trace.thread(event))[trace.position(event)..];
    rest.iter().any(|later| trace.op(*later) == arrival)
}

fn what_lock(op: &Op) -> WaitKind {
    match op {
        Op::OnceWait(_) | Op::OnceBegin(_) => WaitKind::Initialiser,
        _ => WaitKind::Lock,
    }
}

/// What a thread waits for that any thread could bring.
pub(super) fn for_anybody(op: &Op) -> (WaitKind, Option<Object>) {
    match *op {
        Op::Wait { condvar, .. } | Op::Wake { condvar, .. } | Op::WakeTimeout { condvar, .. } => {
            (WaitKind::Notification, Some(Object::Condvar(condvar)))
        }
        Op::Park | Op::ParkTimeout => (WaitKind::Unpark, None),
        Op::Recv { channel, .. } | Op::RecvClosed(channel) => {
            (WaitKind::Message, Some(Object::Channel(channel)))
        }
        Op::Send { channel, .. } => (WaitKind::Room, Some(Object::Channel(channel))),
        Op::Arrive { barrier, .. } | Op::Leave { barrier, .. } => {
            (WaitKind::Arrivals, Some(Object::Barrier(barrier)))
        }
        _ => (WaitKind::Other(op.keyword().to_owned()), None),
    }
}

/// The state that a witness ends in.
pub(super) struct EndState<'m, 'a> {
    machine: &'m Machine<'a>,
    state: State,
}

impl<'m, 'a> EndState<'m, 'a> {
    /// The state after the prefix of a witness. `None` if it is none, which the checker rules out.
    pub(super) fn of(checker: &'m Checker<'a>, witness: &Witness) -> Option<Self> {
        Some(Self { machine: checker.machine(), state: checker.end_of(witness)? })
    }

    /// The parts of threads that wait at these events.
    pub(super) fn waiting(&self, events: &[EventId], describer: &mut Describer<'_>) -> Vec<Part> {
        let part = |event: &EventId| match self.machine.status(&self.state, *event) {
            Status::Blocked(by) => {
                let wait = Wait::blocked(self.machine, &self.state, *event, &by);
                wait.part(Role::Next, describer)
            }
            Status::Enabled | Status::NotRequested(_) | Status::Diverges(_) => {
                describer.part(*event, Role::Next)
            }
        };
        events.iter().map(part).collect()
    }

    /// The parts of all other threads that wait for the thread of one of these events, or for one
    /// that does.
    pub(super) fn others(&self, events: &[EventId], describer: &mut Describer<'_>) -> Vec<Part> {
        let trace = self.machine.trace();
        let mut stuck: Vec<ThreadId> = events.iter().map(|event| trace.thread(*event)).collect();
        let mut waiting: Vec<(EventId, BlockedBy)> = Vec::new();
        for thread in trace.threads().filter(|thread| !stuck.contains(thread)) {
            let next = self.machine.next(&self.state, thread);
            let status = next.map(|next| (next, self.machine.status(&self.state, next)));
            if let Some((next, Status::Blocked(by))) = status {
                waiting.push((next, by));
            }
        }
        let mut parts = Vec::new();
        while parts.len() < MOST_OTHERS {
            let waits = |(_, by): &(EventId, BlockedBy)| {
                by.threads().iter().any(|thread| stuck.contains(thread))
            };
            let Some(at) = waiting.iter().position(waits) else { break };
            let (event, by) = waiting.remove(at);
            stuck.push(trace.thread(event));
            let wait = Wait::blocked(self.machine, &self.state, event, &by);
            parts.push(wait.part(Role::WaitsToo, describer));
        }
        parts
    }
}
