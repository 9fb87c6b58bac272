//! The patient yes: the observed run with one thread held back, in which the others wait for what
//! they need.
//!
//! As in `hold_back`, the thread of the earlier access stops right before it. Here a thread whose
//! next event cannot happen, or would read a value by which it would decide otherwise, waits for an
//! event of another thread that helps; of those that can go on, the one does whose next event was
//! observed first. So other threads may take over the part of the one that is held back: a counter
//! that it does not count up is counted up by another thread. The semantics is followed exactly,
//! step by step, from the earlier access on: that can be much longer than the two accesses are
//! apart, and may lead nowhere. The checker has the last word.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use racelog::trace::{Object, ThreadId, Touch, VarId};
use rustc_hash::FxHashMap;

use crate::goal::{Goal, Pair};
use crate::semantics::{Machine, State, WhyNot};
use crate::solve::is_over;
use crate::trace::{EventId, Op, Trace, ValueId};
use crate::witness::{self, Checker, Witness};

/// How often the clock is looked at, in steps.
const CHECK_EVERY: usize = 4096;

/// How many events of a thread are looked at to see whether it decides by what it reads.
const LOOKED_AT: usize = 64;

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// How many steps to take.
    pub steps: usize,
    /// Until when.
    pub deadline: Option<Instant>,
}

impl Waiting {
    /// A witness that the checker accepts, if waiting gives one; and how many steps that took.
    pub fn prove(&self, pair: Pair, checker: &Checker<'_>) -> (Option<Witness>, usize) {
        let Some(state) = checker.state_before(pair.first()) else { return (None, 0) };
        let mut run = Run::new(checker.machine(), state, pair);
        if !run.reach(self) {
            return (None, run.steps);
        }
        let trace = checker.machine().trace();
        let witness = |mut rest: Vec<EventId>| {
            // Witnesses are kept to the end.
            rest.shrink_to_fit();
            Witness { observed: pair.first().index(), rest, goal: Goal::Race(pair) }
        };
        let is_accepted = |witness: &Witness| checker.check(witness).is_ok();
        let threads = pair.events().iter().map(|access| trace.thread(*access));
        let short = witness(witness::needed(trace, &run.taken, threads));
        let found = Some(short)
            .filter(is_accepted)
            .or_else(|| Some(witness(run.taken)).filter(is_accepted));
        (found, run.steps)
    }
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

struct Run<'m, 'a> {
    machine: &'m Machine<'a>,
    trace: &'a Trace,
    pair: Pair,
    state: State,
    /// The next events of threads that may be able to go on.
    ready: BinaryHeap<Reverse<EventId>>,
    /// The next events of the others, by what they wait for.
    waiting: FxHashMap<Need, Vec<EventId>>,
    taken: Vec<EventId>,
    steps: usize,
}

impl<'m, 'a> Run<'m, 'a> {
    fn new(machine: &'m Machine<'a>, state: State, pair: Pair) -> Self {
        let trace = machine.trace();
        let others = trace.threads().filter(|thread| *thread != trace.thread(pair.first()));
        let ready = others.filter_map(|thread| machine.next(&state, thread)).map(Reverse).collect();
        let waiting = FxHashMap::default();
        Self { machine, trace, pair, state, ready, waiting, taken: Vec::new(), steps: 0 }
    }

    /// Goes on until the later access can happen; `false` if that is not reached.
    fn reach(&mut self, limits: &Waiting) -> bool {
        while let Some(Reverse(event)) = self.ready.pop() {
            self.steps += 1;
            let check = self.steps.is_multiple_of(CHECK_EVERY);
            if self.steps > limits.steps || (check && is_over(limits.deadline)) {
                return false;
            }
            match self.step(event) {
                Ok(()) if event == self.pair.second() => return true,
                Ok(()) => self.go_on(event),
                Err(Some(need)) => self.waiting.entry(need).or_default().push(event),
                // Nothing helps this thread.
                Err(None) => {}
            }
        }
        false
    }

    /// Takes an event, or says what that needs, if anything helps. The later access is only looked
    /// at.
    fn step(&mut self, event: EventId) -> Result<(), Option<Need>> {
        let op = self.trace.op(event);
        if event == self.pair.second() {
            let enabled = self.machine.enabled_beside(&self.state, event, self.pair.first());
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
        let mut end = usize::MAX;
        if thread == self.trace.thread(self.pair.second()) {
            end = self.trace.position(self.pair.second());
        }
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
            if matches!(self.trace.op(*event), Op::Branch | Op::Cas { .. } | Op::CasFail { .. }) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads count up, one down; each decides by what it reads.
    const COUNTER: &str = "\
a fork b
a fork c
a fork d
b read n 0
b branch
b write n 1
c read n 1
c branch
c write n 0
d read n 0
d branch
d write n 1
";

    fn prove(text: &str, events: [u64; 2], steps: usize) -> Option<Vec<u64>> {
        let trace: Trace = text.parse().expect("the trace is valid");
        let checker = Checker::new(&trace);
        let [a, b] = events.map(|number| EventId::from_index(number as usize - 1));
        let waiting = Waiting { steps, deadline: None };
        let (witness, _) = waiting.prove(Pair::new(a, b), &checker);
        Some(witness?.schedule().map(EventId::number).collect())
    }

    #[test]
    fn another_thread_does_what_the_one_that_is_held_back_does_not() {
        // `d` counts up in the place of `b`, so `c` still finds 1.
        let witness = prove(COUNTER, [6, 9], usize::MAX);
        assert_eq!(witness, Some(vec![1, 2, 3, 4, 5, 10, 11, 12, 7, 8, 6, 9]));
    }

    #[test]
    fn what_nobody_does_is_waited_for_in_vain() {
        let without_d =
            COUNTER.lines().filter(|line| !line.starts_with('d')).map(|line| format!("{line}\n"));
        assert_eq!(prove(&without_d.collect::<String>(), [6, 9], usize::MAX), None);
    }

    #[test]
    fn steps_are_limited() {
        assert_eq!(prove(COUNTER, [6, 9], 3), None);
    }

    #[test]
    fn what_does_not_need_the_one_that_is_held_back_is_left_out() {
        let text = COUNTER.replace("a fork d\n", "a fork d\na write x 1\n") + "d read x 1\n";
        let witness = prove(&text, [7, 10], usize::MAX);
        assert_eq!(witness.map(|events| events.contains(&14)), Some(false));
    }
}
