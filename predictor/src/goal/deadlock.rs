//! Deadlocks: threads that wait for each other in a circle, each for what only the next can give.
//!
//! Until one of them moves none of them can, whatever the others do: so a deadlock needs no
//! assumption about the rest of the program.

use racelog::trace::{LockEffect, LockId, ThreadId};

use super::{GoalKind, ProgramPoint, Signature, Unmet};
use crate::semantics::{Machine, State, Status};
use crate::trace::{EventId, Trace};

/// The next events of threads that wait for each other in a circle, in the trace's order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Circle {
    events: Box<[EventId]>,
    /// Whether readers count as kept out by writers that wait.
    fair: bool,
}

impl Circle {
    /// The circle of these events, of threads of their own, in whichever order they are given.
    pub fn new(events: impl Into<Box<[EventId]>>) -> Self {
        let mut events = events.into();
        events.sort_unstable();
        Self { events, fair: false }
    }

    /// The same where writers that wait keep readers out.
    pub fn fair(events: impl Into<Box<[EventId]>>) -> Self {
        Self { fair: true, ..Self::new(events) }
    }

    /// Its events, in the trace's order.
    pub fn events(&self) -> &[EventId] {
        &self.events
    }

    /// Whether it is one only where writers that wait keep readers out.
    pub const fn is_fair(&self) -> bool {
        self.fair
    }

    /// Its kind.
    pub const fn kind(&self) -> GoalKind {
        if self.fair { GoalKind::FairDeadlock } else { GoalKind::Deadlock }
    }

    /// Where its events stand, and where the locks were taken that they wait for.
    pub fn signature(&self, trace: &Trace) -> Signature {
        let taken = self.taken(trace);
        let points = self.events.iter().chain(taken.iter().map(|(_, acquire)| acquire));
        let points: Vec<ProgramPoint> =
            points.map(|event| ProgramPoint::of(trace, *event)).collect();
        Signature::new(self.kind(), points)
    }

    /// The locks that its events wait for and other threads of it hold, each with the event that
    /// took it.
    pub fn taken(&self, trace: &Trace) -> Vec<(LockId, EventId)> {
        let mut taken = Vec::new();
        for event in &self.events {
            let Some(lock) = trace.op(*event).lock() else { continue };
            let others = self.events.iter().filter(|other| *other != event);
            let acquires =
                others.filter_map(|other| Some((lock, acquire_before(trace, *other, lock)?)));
            taken.extend(acquires);
        }
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    /// What keeps a state from being one in which the threads of these events wait for each other.
    pub(super) fn unmet(&self, machine: &Machine<'_>, state: &State) -> Vec<Unmet> {
        let mut waits = Vec::new();
        let mut unmet = Vec::new();
        for event in &self.events {
            match Waiter::find(machine, state, *event, self.fair) {
                Some(waiter) => waits.push(waiter),
                None => unmet.push(Unmet::NotBlocked(*event)),
            }
        }
        if unmet.is_empty() && !is_circle(&waits) {
            unmet.push(Unmet::NoCircle);
        }
        unmet
    }
}

/// The event by which a thread holds a lock when another event of its is next.
fn acquire_before(trace: &Trace, next: EventId, lock: LockId) -> Option<EventId> {
    let before = &trace.events_of_thread(trace.thread(next))[..trace.position(next)];
    let used = |event: &EventId| trace.op(*event).lock_use().filter(|used| used.lock == lock);
    // Of several shared regions of one lock, it makes no difference which are over.
    let mut given_back = 0;
    for event in before.iter().rev() {
        match used(event).map(|used| used.effect) {
            Some(LockEffect::Takes) if given_back == 0 => return Some(*event),
            Some(LockEffect::Takes) => given_back -= 1,
            Some(LockEffect::GivesBack) => given_back += 1,
            Some(LockEffect::FindsTaken | LockEffect::FindsFree) | None => {}
        }
    }
    None
}

/// A thread that waits, and those that can end that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Waiter {
    pub(super) thread: ThreadId,
    pub(super) event: EventId,
    pub(super) waits_for: Vec<ThreadId>,
}

impl Waiter {
    /// The thread of an event that is blocked by threads that are known; none if it is not.
    pub(super) fn find(
        machine: &Machine<'_>,
        state: &State,
        event: EventId,
        fair: bool,
    ) -> Option<Self> {
        let mut waits_for = match machine.status(state, event) {
            Status::Blocked(by) => by.threads().to_vec(),
            Status::Enabled | Status::NotRequested(_) | Status::Diverges(_) => Vec::new(),
        };
        if fair {
            waits_for.extend(machine.kept_out_by(state, event));
        }
        let thread = machine.trace().thread(event);
        (!waits_for.is_empty()).then_some(Self { thread, event, waits_for })
    }
}

/// Whether there is a way from each of these threads to the next that goes through all of them.
fn is_circle(waits: &[Waiter]) -> bool {
    let mut found = false;
    circles(waits, &mut |circle| found |= circle.len() == waits.len());
    found
}

/// Calls `each` with the threads of every circle, as places in the list.
fn circles(waits: &[Waiter], each: &mut impl FnMut(&[usize])) {
    let place = |thread: &ThreadId| waits.iter().position(|waiter| waiter.thread == *thread);
    let next: Vec<Vec<usize>> =
        waits.iter().map(|waiter| waiter.waits_for.iter().filter_map(place).collect()).collect();
    // Each circle is found from the first of its threads.
    for start in 0..waits.len() {
        follow(&next, &mut vec![start], each);
    }
}

fn follow(next: &[Vec<usize>], way: &mut Vec<usize>, each: &mut impl FnMut(&[usize])) {
    let (start, last) = (way[0], way[way.len() - 1]);
    for place in &next[last] {
        if *place == start && way.len() > 1 {
            each(way);
        } else if *place > start && !way.contains(place) {
            way.push(*place);
            follow(next, way, each);
            way.pop();
        }
    }
}

/// The smallest circles among the threads whose next events these are.
pub(super) fn among(
    machine: &Machine<'_>,
    state: &State,
    next: &[EventId],
    fair: bool,
) -> Vec<Circle> {
    // Most states have hardly anybody who waits for a thread that is known.
    let find = |fair: bool| -> Vec<Waiter> {
        next.iter().filter_map(|event| Waiter::find(machine, state, *event, fair)).collect()
    };
    let of = |waits: &[Waiter], make: fn(Vec<EventId>) -> Circle| {
        let mut found: Vec<Circle> = Vec::new();
        circles(waits, &mut |circle| {
            found.push(make(circle.iter().map(|place| waits[*place].event).collect()));
        });
        found
    };
    let plain = smallest(of(&find(false), Circle::new));
    if !fair {
        return plain;
    }
    let is_in = |small: &Circle, large: &Circle| {
        small.events.iter().all(|event| large.events.contains(event))
    };
    let mut found = smallest(of(&find(true), Circle::fair));
    found.retain(|circle| !plain.iter().any(|small| is_in(small, circle)));
    found
}

/// Those that have no other within.
fn smallest(mut circles: Vec<Circle>) -> Vec<Circle> {
    circles.sort_by_key(|circle| circle.events.len());
    let mut kept: Vec<Circle> = Vec::new();
    for circle in circles {
        let within = |small: &Circle| small.events.iter().all(|e| circle.events.contains(e));
        if !kept.iter().any(within) {
            kept.push(circle);
        }
    }
    kept
}
