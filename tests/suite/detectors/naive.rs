//! The relations of the detectors, from their definitions: every pair of events is asked whether
//! there is an edge, and then the closure is taken.

use std::collections::BTreeSet;

use predictor::goal::Pair;
use predictor::goal::race::conflict;
use predictor::trace::{EventId, Op, Trace};
use racelog::trace::{LockId, MemoryOrdering, Woken};

/// A relation on the events of a trace: `relation[a][b]` says that a comes before b.
pub(super) type Relation = Vec<Vec<bool>>;

pub(super) fn closure(mut relation: Relation) -> Relation {
    for k in 0..relation.len() {
        let from_k = relation[k].clone();
        for row in &mut relation {
            if row[k] {
                for (to, via) in row.iter_mut().zip(&from_k) {
                    *to |= via;
                }
            }
        }
    }
    relation
}

fn relation(trace: &Trace, edge: impl Fn(EventId, EventId) -> bool) -> Relation {
    trace.events().map(|a| trace.events().map(|b| a < b && edge(a, b)).collect()).collect()
}

/// The conflicting pairs that a relation does not order.
pub(super) fn unordered(trace: &Trace, relation: &Relation) -> BTreeSet<Pair> {
    let mut pairs = BTreeSet::new();
    for b in trace.events() {
        for a in trace.events().take_while(|a| *a < b) {
            if conflict(trace, a, b) && !relation[a.index()][b.index()] {
                pairs.insert(Pair::new(a, b));
            }
        }
    }
    pairs
}

/// Happens-before, with the events in `strengthened` as if they were sequentially consistent.
pub(super) fn happens_before(trace: &Trace, strengthened: impl Fn(EventId) -> bool) -> Relation {
    let synchronises = synchronises_with(trace, strengthened);
    closure(relation(trace, |a, b| {
        program_order(trace, a, b)
            || lock_order(trace, a, b)
            || hard_order(trace, a, b)
            || synchronises.contains(&(a, b))
    }))
}

/// What causally-precedes is defined on: happens-before with atomics as volatile variables.
fn volatile_happens_before(trace: &Trace) -> Relation {
    closure(relation(trace, |a, b| {
        program_order(trace, a, b)
            || lock_order(trace, a, b)
            || hard_order(trace, a, b)
            || volatile_order(trace, a, b)
    }))
}

fn program_order(trace: &Trace, a: EventId, b: EventId) -> bool {
    trace.thread(a) == trace.thread(b)
}

/// The lock that an event gives back, and whether it was held exclusively.
fn gives(op: &Op) -> Option<(LockId, bool)> {
    match *op {
        Op::Release(lock) | Op::Wait { lock, .. } => Some((lock, true)),
        Op::ReadRelease(lock) => Some((lock, false)),
        _ => None,
    }
}

fn takes(op: &Op) -> Option<(LockId, bool)> {
    match *op {
        Op::Acquire(lock) | Op::Wake { lock, .. } | Op::WakeTimeout { lock, .. } => {
            Some((lock, true))
        }
        Op::ReadAcquire(lock) => Some((lock, false)),
        _ => None,
    }
}

fn lock_order(trace: &Trace, a: EventId, b: EventId) -> bool {
    match (gives(&trace.op(a)), takes(&trace.op(b))) {
        (Some((given, was)), Some((taken, is))) => given == taken && (was || is),
        _ => false,
    }
}

fn volatile_order(trace: &Trace, a: EventId, b: EventId) -> bool {
    let (a, b) = (trace.op(a), trace.op(b));
    a.is_atomic() && b.is_atomic() && a.var() == b.var() && (a.writes() || b.writes())
}

/// Whatever synchronises, without locks and atomics.
fn hard_order(trace: &Trace, a: EventId, b: EventId) -> bool {
    if [a, b].iter().any(|event| trace.is_foreign(trace.thread(*event))) {
        return true;
    }
    let exclusive = |op: &Op| matches!(op, Op::Exclusive { .. });
    let (first, second) = (trace.op(a), trace.op(b));
    if first.var().is_some() && first.var() == second.var() {
        return exclusive(&first) || exclusive(&second);
    }
    match (first, second) {
        (Op::Fork(child), _) if child == trace.thread(b) => true,
        (_, Op::Join(child)) if child == trace.thread(a) => true,
        (Op::NotifyOne { condvar, .. } | Op::NotifyAll(condvar), Op::Wake { condvar: of, .. }) => {
            condvar == of && may_have_woken(trace, a, b)
        }
        (Op::Unpark(thread), Op::Park) => thread == trace.thread(b),
        (Op::Send { channel, message }, Op::Recv { channel: from, message: received }) => {
            channel == from && message == received
        }
        (Op::Close(channel), Op::RecvClosed(closed)) => channel == closed,
        (
            Op::Arrive { barrier, generation },
            Op::Leave { barrier: other, generation: completed },
        ) => barrier == other && generation == completed,
        (Op::Arrive { barrier, generation }, Op::Arrive { barrier: other, generation: later }) => {
            barrier == other && generation < later
        }
        _ => false,
    }
}

/// Whether a notification can be what a wake-up, on the same condvar, answers.
fn may_have_woken(trace: &Trace, notification: EventId, wake: EventId) -> bool {
    let thread = trace.thread(wake);
    let wait = trace.events_of_thread(thread)[trace.position(wake) - 1];
    let Op::Wake { condvar, .. } = trace.op(wake) else { return false };
    let certain = |event: EventId| match trace.op(event) {
        Op::NotifyAll(of) => of == condvar,
        Op::NotifyOne { condvar: of, woken: Woken::Thread(woken) } => {
            of == condvar && woken == thread
        }
        _ => false,
    };
    let between = |event: &EventId| wait < *event && *event < notification;
    let notified_before = trace.events().filter(between).any(certain);
    let unknown = matches!(trace.op(notification), Op::NotifyOne { woken: Woken::Unknown, .. });
    wait < notification && !notified_before && (certain(notification) || unknown)
}

/// The relation of that name in the C++20 standard.
fn synchronises_with(
    trace: &Trace,
    strengthened: impl Fn(EventId) -> bool,
) -> BTreeSet<(EventId, EventId)> {
    let ordering = |event: EventId| match trace.op(event) {
        Op::Load { ordering, .. }
        | Op::Store { ordering, .. }
        | Op::Rmw { ordering, .. }
        | Op::Cas { ordering, .. }
        | Op::CasFail { ordering, .. } => match ordering {
            Some(ordering) if !strengthened(event) => ordering,
            _ => MemoryOrdering::SeqCst,
        },
        Op::Fence(ordering) => ordering.unwrap_or(MemoryOrdering::SeqCst),
        _ => MemoryOrdering::Relaxed,
    };
    let weak_read =
        |event| matches!(ordering(event), MemoryOrdering::Relaxed | MemoryOrdering::Release);
    let weak_write =
        |event| matches!(ordering(event), MemoryOrdering::Relaxed | MemoryOrdering::Acquire);
    let is_fence = |event: &EventId| matches!(trace.op(*event), Op::Fence(_));
    let same_thread = |a: EventId, b: EventId| trace.thread(a) == trace.thread(b);
    let last_write = |before: EventId| {
        let var = trace.op(before).var();
        trace
            .events()
            .take_while(|event| *event < before)
            .filter(|event| trace.op(*event).writes() && trace.op(*event).var() == var)
            .last()
    };
    let mut edges = BTreeSet::new();
    for read in trace.events() {
        if !(trace.op(read).is_atomic() && trace.op(read).reads()) {
            continue;
        }
        let mut targets: Vec<EventId> = trace
            .events()
            .filter(|fence| is_fence(fence) && !weak_read(*fence))
            .filter(|fence| read < *fence && same_thread(read, *fence))
            .collect();
        if !weak_read(read) {
            targets.push(read);
        }
        // All writes that head a release sequence, real or hypothetical, with what was read in it.
        let mut head = last_write(read);
        while let Some(write) = head.filter(|write| trace.op(*write).is_atomic()) {
            let mut sources: Vec<EventId> = trace
                .events()
                .filter(|fence| is_fence(fence) && !weak_write(*fence))
                .filter(|fence| *fence < write && same_thread(write, *fence))
                .collect();
            if !weak_write(write) {
                sources.push(write);
            }
            for source in sources {
                edges.extend(targets.iter().map(|target| (source, *target)));
            }
            let updates = matches!(trace.op(write), Op::Rmw { .. } | Op::Cas { .. });
            head = if updates { last_write(write) } else { None };
        }
    }
    edges
}

/// A critical section: its lock, whether exclusive, its events, and whether it is over.
struct Section {
    lock: LockId,
    exclusive: bool,
    events: Vec<EventId>,
    over: bool,
}

fn sections(trace: &Trace) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for event in trace.events() {
        let op = trace.op(event);
        let given = gives(&op);
        let mine = |section: &&mut Section| {
            !section.over && trace.thread(section.events[0]) == trace.thread(event)
        };
        for section in sections.iter_mut().filter(mine) {
            section.events.push(event);
        }
        // One that is held twice is given back once.
        let ending = sections
            .iter_mut()
            .rev()
            .filter(mine)
            .find(|section| given == Some((section.lock, section.exclusive)));
        if let Some(section) = ending {
            section.over = true;
        }
        if let Some((lock, exclusive)) = takes(&op) {
            sections.push(Section { lock, exclusive, events: vec![event], over: false });
        }
    }
    sections
}

/// Causally-precedes, from its definition.
pub(super) fn causally_precedes(trace: &Trace) -> Relation {
    smallest_relation(trace, |first, second, before| {
        let acquire = second.events[0];
        let related = first.events.iter().any(|a| {
            second.events.iter().any(|b| conflict(trace, *a, *b) || before[a.index()][b.index()])
        });
        if related { vec![acquire] } else { Vec::new() }
    })
}

/// Weak causal precedence, from its definition.
pub(super) fn weakly_precedes(trace: &Trace) -> Relation {
    smallest_relation(trace, |first, second, before| {
        let in_first = |test: &dyn Fn(EventId) -> bool| first.events.iter().any(|a| test(*a));
        let mut after: Vec<EventId> = Vec::new();
        let accesses = second.events.iter().copied();
        after.extend(accesses.filter(|b| in_first(&|a| conflict(trace, a, *b))));
        let related = || second.events.iter().any(|b| in_first(&|a| before[a.index()][b.index()]));
        if second.over && related() {
            after.extend(second.events.last());
        }
        after
    })
}

/// The smallest relation that has the hard edges and is closed under happens-before on both sides
/// and under a rule, which says of two sections of one lock what comes after the first one's
/// release.
fn smallest_relation(
    trace: &Trace,
    rule: impl Fn(&Section, &Section, &Relation) -> Vec<EventId>,
) -> Relation {
    let happens = volatile_happens_before(trace);
    let mut precedes =
        relation(trace, |a, b| hard_order(trace, a, b) || volatile_order(trace, a, b));
    // Program order is no part of the relation, even where a hard edge goes along it.
    for a in trace.events() {
        for b in trace.events().filter(|b| trace.thread(a) == trace.thread(*b)) {
            precedes[a.index()][b.index()] = false;
        }
    }
    let sections = sections(trace);
    loop {
        let before = precedes.clone();
        for (first, second) in sections.iter().flat_map(|a| sections.iter().map(move |b| (a, b))) {
            let (release, acquire) = (*first.events.last().unwrap(), second.events[0]);
            let same_lock = first.lock == second.lock && (first.exclusive || second.exclusive);
            let in_turn = first.over && release < acquire;
            let threads_differ = trace.thread(release) != trace.thread(acquire);
            if same_lock && in_turn && threads_differ {
                for after in rule(first, second, &before) {
                    precedes[release.index()][after.index()] = true;
                }
            }
        }
        let compose = |left: &Relation, right: &Relation| -> Relation {
            let count = left.len();
            let reaches = |a: usize, b: usize| (0..count).any(|via| left[a][via] && right[via][b]);
            (0..count).map(|a| (0..count).map(|b| reaches(a, b)).collect()).collect()
        };
        for composed in [compose(&happens, &precedes), compose(&precedes, &happens)] {
            for (row, more) in precedes.iter_mut().zip(&composed) {
                for (to, more) in row.iter_mut().zip(more) {
                    *to |= more;
                }
            }
        }
        if precedes == before {
            return precedes;
        }
    }
}
