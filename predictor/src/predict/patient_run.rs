//! A run near the observed one in which a thread is held back, and the others wait for what they
//! need.
//!
//! A thread whose next event cannot happen, or would read a value by which it would decide
//! otherwise, waits for an event of another thread that helps; of those that can go on, the one
//! does whose next event was observed first. So other threads may take over the part of the one
//! that is held back: a counter that it does not count up is counted up by another thread. The
//! semantics is followed exactly, step by step. It is for the checker to say whether what is
//! reached is what was looked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use racelog::trace::{Object, ThreadId, Touch, VarId};
use rustc_hash::FxHashMap;

use crate::goal::Stall;
use crate::semantics::{Machine, State, WhyNot};
use crate::solve::is_over;
use crate::trace::{EventId, Op, Trace, ValueId};
use crate::witness::Checker;

/// How often the clock is looked at, in steps.
const CHECK_EVERY: usize = 4096;

/// How many events of a thread are looked at to see whether it decides by what it reads.
const LOOKED_AT: usize = 64;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many steps to take.
    pub(super) steps: usize,
    /// Until when.
    pub(super) deadline: Option<Instant>,
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Need {
    /// That a variable holds a value.
    Value(VarId, ValueId),
    /// That a variable is accessed.
    Access(VarId),
    /// That something happens to an object.
    Change(Object),
}

/// A run that is under way.
pub(super) struct PatientRun<'m, 'a> {
    machine: &'m Machine<'a>,
    trace: &'a Trace,
    /// Its thread is held back right before this event.
    held: EventId,
    /// Where the run is to get, if it is to get somewhere.
    target: Option<EventId>,
    state: State,
    /// The next events of threads that may be able to go on.
    ready: BinaryHeap<Reverse<EventId>>,
    /// The next events of the others, by what they wait for.
    waiting: FxHashMap<Need, Vec<EventId>>,
    taken: Vec<EventId>,
    steps: usize,
}

impl<'m, 'a> PatientRun<'m, 'a> {
    /// The observed run up to an event, whose thread is held back from there on; none if it is not
    /// feasible up to there.
    pub(super) fn new(checker: &'m Checker<'a>, held: EventId) -> Option<Self> {
        let state = checker.state_before(held)?;
        let machine = checker.machine();
        let trace = machine.trace();
        let others = trace.threads().filter(|thread| *thread != trace.thread(held));
        let ready = others.filter_map(|thread| machine.next(&state, thread)).map(Reverse).collect();
        Some(Self {
            machine,
            trace,
            held,
            target: None,
            state,
            ready,
            waiting: FxHashMap::default(),
            taken: Vec::new(),
            steps: 0,
        })
    }

    /// Goes on until an event can happen beside the one that is held back; `false` if that is not
    /// reached.
    pub(super) fn reach(&mut self, target: EventId, limits: &Limits) -> bool {
        self.target = Some(target);
        self.go_on_until(limits, |event| event == target)
    }

    /// Goes on until no thread can, and then lets go of the one that is held back; `false` if that
    /// takes too long.
    pub(super) fn exhaust(&mut self, limits: &Limits) -> bool {
        self.go_on_until(limits, |_| false);
        self.ready.push(Reverse(self.held));
        self.go_on_until(limits, |_| false);
        self.ready.is_empty()
    }

    /// The stall that has been reached, if it is one.
    pub(super) fn stall(&self) -> Option<Stall> {
        Stall::of(self.machine, &self.state)
    }

    /// The events that have happened since the thread was held back.
    pub(super) fn taken(&self) -> &[EventId] {
        &self.taken
    }

    /// How many steps have been tried.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Goes on until an event has happened that is looked for; `false` if none can go on before, or
    /// it takes too long.
    fn go_on_until(&mut self, limits: &Limits, is_found: impl Fn(EventId) -> bool) -> bool {
        while let Some(Reverse(event)) = self.ready.pop() {
            self.steps += 1;
            let check = self.steps.is_multiple_of(CHECK_EVERY);
            if self.steps > limits.steps || (check && is_over(limits.deadline)) {
                self.ready.push(Reverse(event));
                return false;
            }
            match self.step(event) {
                Ok(()) if is_found(event) => return true,
                Ok(()) => self.go_on(event),
                Err(Some(need)) => self.waiting.entry(need).or_default().push(event),
                // Nothing helps this thread.
                Err(None) => {}
            }
        }
        false
    }

    /// Takes an event, or says what that needs, if anything helps. The target is only looked at.
    fn step(&mut self, event: EventId) -> Result<(), Option<Need>> {
        let op = self.trace.op(event);
        if Some(event) == self.target {
            let enabled = self.machine.enabled_beside(&self.state, event, self.held);
            return enabled.map_err(|why| need(&why));
        }
        if let (Some(var), Some(value)) = (op.var(), op.found().copied())
            && self.state.value(var) != Some(value)
            && !self.trace.is_mixed(var)
            && self.state.is_clean(self.trace.thread(event))
            && self.decides_by(event)
        {
            return Err(Some(Need::Value(var, value)));
        }
        let woken = self.woken(&op);
        self.machine.step(&mut self.state, event, woken).map_err(|why| need(&why))
    }

    /// Whether a thread decides by what it reads here, as far as it has to go.
    fn decides_by(&self, read: EventId) -> bool {
        let thread = self.trace.thread(read);
        let target = self.target.filter(|target| self.trace.thread(*target) == thread);
        let end = target.map_or(usize::MAX, |target| self.trace.position(target));
        let events = self.trace.events_of_thread(thread);
        let start = self.trace.position(read);
        let after = events.iter().enumerate().skip(start).take(LOOKED_AT);
        for (position, event) in after {
            let guarded = position > start && self.trace.is_guarded(*event);
            if guarded && position <= end {
                return true;
            }
            if position >= end {
                return false;
            }
            let op = self.trace.op(*event);
            if op.decides() || matches!(op, Op::Cas { .. } | Op::CasFail { .. }) {
                return true;
            }
        }
        events.len() - start > LOOKED_AT || self.trace.ends_guarded(thread)
    }

    /// Whom a `notify_one` notifies: as observed, if that can be.
    fn woken(&self, op: &Op) -> Option<ThreadId> {
        let Op::NotifyOne { condvar, .. } = *op else { return None };
        let waiters = || self.state.waiters(condvar);
        let wakes_up = |waiter: &ThreadId| {
            let next = self.machine.next(&self.state, *waiter);
            next.is_some_and(|next| matches!(self.trace.op(next), Op::Wake { .. }))
        };
        op.woken()
            .filter(|thread| waiters().any(|waiter| waiter == *thread))
            .or_else(|| waiters().find(wakes_up))
            .or_else(|| waiters().next())
    }

    /// Notes that an event was taken, and lets those look again who waited for it.
    fn go_on(&mut self, event: EventId) {
        self.taken.push(event);
        let thread = self.trace.thread(event);
        let next = self.machine.next(&self.state, thread);
        if let Some(next) = next {
            self.ready.push(Reverse(next));
        }
        if self.waiting.is_empty() {
            return;
        }
        let op = self.trace.op(event);
        for Touch { object, changes } in op.touches() {
            match object {
                Object::Var(var) => {
                    self.wake(Need::Access(var));
                    if let Some(value) = self.state.value(var).filter(|_| changes) {
                        self.wake(Need::Value(var, value));
                    }
                }
                object if changes => self.wake(Need::Change(object)),
                _ => {}
            }
        }
        if next.is_none() {
            self.wake(Need::Change(Object::Thread(thread)));
        }
    }

    fn wake(&mut self, need: Need) {
        if let Some(events) = self.waiting.remove(&need) {
            self.ready.extend(events.into_iter().map(Reverse));
        }
    }
}

/// What would help an event that cannot happen; none if nothing does.
fn need(why: &WhyNot) -> Option<Need> {
    let object = match *why {
        WhyNot::Holds { var, wanted, .. } => return Some(Need::Value(var, wanted)),
        WhyNot::AccessOrder(var, ..) => return Some(Need::Access(var)),
        WhyNot::NotForked(thread) | WhyNot::NotFinished(thread, _) | WhyNot::NoToken(thread) => {
            Object::Thread(thread)
        }
        WhyNot::Taken(lock, _) | WhyNot::Free(lock) => Object::Lock(lock),
        WhyNot::NotNotified(condvar, _) => Object::Condvar(condvar),
        WhyNot::Front(channel, ..)
        | WhyNot::NotEmpty(channel, _)
        | WhyNot::Full(channel)
        | WhyNot::Room(channel, _)
        | WhyNot::ReceiversLeft(channel)
        | WhyNot::SendersLeft(channel, ..) => Object::Channel(channel),
        WhyNot::Early(barrier, ..) | WhyNot::Incomplete(barrier, ..) => Object::Barrier(barrier),
        // The one that is held back comes first.
        WhyNot::ForeignOrder(..) => return None,
        WhyNot::NotNext(..)
        | WhyNot::EndNotClean(_)
        | WhyNot::NotClean(_)
        | WhyNot::NotKnown(_)
        | WhyNot::Fails(_)
        | WhyNot::NotHeld(..)
        | WhyNot::NotWaiting(..)
        | WhyNot::Notified(..)
        | WhyNot::NoSuchWaiter(..)
        | WhyNot::SomebodyWaits(..)
        | WhyNot::Token(_)
        | WhyNot::NoSenders(_)
        | WhyNot::NoReceivers(_) => return None,
    };
    Some(Need::Change(object))
}
