//! Follows a given sequence of events through the machine.

use racelog::trace::{CondvarId, LockEffect, LockId, ThreadId, Woken};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Machine, State, WhyNot};
use crate::trace::{EventId, Op};

/// A sequence of events that is being followed, step by step.
///
/// A sequence does not say whom a `notify_one` notifies. That is decided here by what the sequence
/// has ahead: the waiter that is the first to wake up notified; if none does, one that goes on
/// waiting, and rather one that could not wake up in the end for its lock is taken then. A waiter
/// that times out is the last choice. A notification that serves its purpose earlier leaves later
/// ones no fewer choices, so if any decisions make the sequence feasible, these do; and if any make
/// it end in a state in which no waiter can go on, these do.
#[derive(Debug)]
pub struct Replay<'m, 'a> {
    machine: &'m Machine<'a>,
    state: State,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// The observed trace, whole. What it says about who was woken is binding: these are the
    /// notifications that name each thread.
    Observed(FxHashMap<ThreadId, Vec<EventId>>),
    /// Another sequence.
    Other(Ahead),
}

/// What a sequence has ahead.
#[derive(Debug)]
struct Ahead {
    /// Where each event that ends a wait stands.
    ends: FxHashMap<EventId, usize>,
    /// The locks that are taken when it is over.
    taken: FxHashSet<LockId>,
}

impl Ahead {
    fn of(machine: &Machine<'_>, state: &State, sequence: &[EventId]) -> Self {
        let op = |event: &EventId| machine.trace().op(*event);
        // Only of waiting threads it is asked when they go on, and that is with one of these.
        let ends_wait =
            |event: &EventId| matches!(op(event), Op::Wake { .. } | Op::WakeTimeout { .. });
        let places = sequence.iter().copied().zip(0..);
        let ends = places.filter(|(event, _)| ends_wait(event)).collect();
        let notifies = sequence.iter().any(|event| matches!(op(event), Op::NotifyOne { .. }));
        let taken =
            if notifies { taken_after(machine, state, sequence) } else { FxHashSet::default() };
        Self { ends, taken }
    }
}

/// The locks that are taken when a sequence is over.
fn taken_after(machine: &Machine<'_>, state: &State, sequence: &[EventId]) -> FxHashSet<LockId> {
    let mut holders: FxHashMap<LockId, usize> = FxHashMap::default();
    for (lock, held) in (0u32..).map(LockId::new).zip(&state.locks) {
        if !held.is_free() {
            holders.insert(lock, held.readers.len().max(1));
        }
    }
    for used in sequence.iter().filter_map(|event| machine.trace().op(*event).lock_use()) {
        let count = holders.entry(used.lock).or_default();
        match used.effect {
            LockEffect::Takes => *count += 1,
            LockEffect::GivesBack => *count = count.saturating_sub(1),
            LockEffect::FindsTaken | LockEffect::FindsFree => {}
        }
    }
    holders.into_iter().filter(|(_, count)| *count > 0).map(|(lock, _)| lock).collect()
}

impl<'m, 'a> Replay<'m, 'a> {
    /// Follows the observed trace.
    pub fn observed(machine: &'m Machine<'a>) -> Self {
        let trace = machine.trace();
        let mut named: FxHashMap<ThreadId, Vec<EventId>> = FxHashMap::default();
        for (index, op) in trace.ops().iter().enumerate() {
            if let Op::NotifyOne { woken: Woken::Thread(thread), .. } = *op {
                named.entry(thread).or_default().push(EventId::from_index(index));
            }
        }
        Self { machine, state: machine.initial(), order: Order::Observed(named) }
    }

    /// Follows `sequence`, whose events are then to be given to [`Replay::step`] one by one.
    pub fn of(machine: &'m Machine<'a>, sequence: &[EventId]) -> Self {
        Self::resume(machine, machine.initial(), sequence)
    }

    /// Follows `sequence` from a state that has been reached otherwise.
    pub fn resume(machine: &'m Machine<'a>, state: State, sequence: &[EventId]) -> Self {
        let order = Ahead::of(machine, &state, sequence);
        Self { machine, state, order: Order::Other(order) }
    }

    /// What has been reached.
    #[inline]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What has been reached, at the end.
    pub fn into_state(self) -> State {
        self.state
    }

    /// Takes the next event, or says why that cannot be.
    #[inline]
    pub fn step(&mut self, event: EventId) -> Result<(), WhyNot> {
        let woken = self.woken(event);
        self.machine.step(&mut self.state, event, woken)
    }

    /// The thread that the next event notifies, if it is a `notify_one` and a thread waits.
    #[inline(always)]
    pub fn woken(&self, event: EventId) -> Option<ThreadId> {
        match self.machine.trace().op(event) {
            Op::NotifyOne { condvar, woken } => self.choose(event, condvar, woken),
            _ => None,
        }
    }

    fn choose(&self, now: EventId, condvar: CondvarId, observed: Woken) -> Option<ThreadId> {
        match (&self.order, observed) {
            (Order::Observed(_), Woken::Thread(thread)) => Some(thread),
            (Order::Observed(_), Woken::Nobody) => None,
            _ => self.state.waiters(condvar).min_by_key(|waiter| self.urgency(now, *waiter)),
        }
    }

    /// How well a notification would go to a waiter now: the smaller, the better.
    fn urgency(&self, now: EventId, waiter: ThreadId) -> (u8, usize) {
        const FIRST_TO_WAKE: u8 = 0;
        const CANNOT_WAKE: u8 = 1;
        const WAITS_ON: u8 = 2;
        const NOT_TO_BE_NOTIFIED: u8 = 3;

        let end = self.machine.next(&self.state, waiter);
        let at = match &self.order {
            Order::Observed(named) => {
                // A later notification that names it is the one that it gets.
                let later = |event: &EventId| now < *event && end.is_none_or(|end| *event < end);
                if named.get(&waiter).is_some_and(|events| events.iter().any(later)) {
                    return (NOT_TO_BE_NOTIFIED, 0);
                }
                end.map(EventId::index)
            }
            Order::Other(ahead) => {
                let lock = end.and_then(|end| self.machine.trace().op(end).lock());
                let at = end.and_then(|end| ahead.ends.get(&end).copied());
                if at.is_none() && lock.is_none_or(|lock| ahead.taken.contains(&lock)) {
                    return (CANNOT_WAKE, 0);
                }
                at
            }
        };
        match (end.map(|end| self.machine.trace().op(end)), at) {
            (Some(Op::Wake { .. }), Some(at)) => (FIRST_TO_WAKE, at),
            (_, None) => (WAITS_ON, 0),
            (_, Some(at)) => (NOT_TO_BE_NOTIFIED, at),
        }
    }
}
