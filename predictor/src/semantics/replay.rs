//! Follows a given sequence of events through the machine.

use std::collections::HashMap;

use racelog::trace::{CondvarId, ThreadId, Woken};

use super::{Machine, State, WhyNot};
use crate::trace::{EventId, Op};

/// A sequence of events that is being followed, step by step.
///
/// A sequence does not say whom a `notify_one` notifies. That is decided here by what the sequence
/// has ahead: the waiter that is the first to wake up notified; if none does, one that goes on
/// waiting. Whoever times out is the last choice. A notification that serves its purpose earlier
/// leaves later ones no fewer choices, so if any decisions make the sequence feasible, these do.
#[derive(Debug)]
pub struct Replay<'m, 'a> {
    machine: &'m Machine<'a>,
    state: State,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// The observed trace, whole. What it says about who was woken is binding.
    Observed,
    /// Where each event stands in another sequence.
    Other(HashMap<EventId, usize>),
}

impl<'m, 'a> Replay<'m, 'a> {
    /// Follows the observed trace.
    pub fn observed(machine: &'m Machine<'a>) -> Self {
        Self { machine, state: machine.initial(), order: Order::Observed }
    }

    /// Follows `sequence`, whose events are then to be given to [`Replay::step`] one by one.
    pub fn of(machine: &'m Machine<'a>, sequence: &[EventId]) -> Self {
        let order = sequence.iter().copied().zip(0..).collect();
        Self { machine, state: machine.initial(), order: Order::Other(order) }
    }

    /// What has been reached.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes the next event, or says why that cannot be.
    pub fn step(&mut self, event: EventId) -> Result<(), WhyNot> {
        let woken = match self.machine.trace().op(event) {
            Op::NotifyOne { condvar, woken } => self.choose(condvar, woken),
            _ => None,
        };
        self.machine.step(&mut self.state, event, woken)
    }

    fn choose(&self, condvar: CondvarId, observed: Woken) -> Option<ThreadId> {
        match (&self.order, observed) {
            (Order::Observed, Woken::Thread(thread)) => Some(thread),
            (Order::Observed, Woken::Nobody) => None,
            _ => self.state.waiters(condvar).min_by_key(|waiter| self.urgency(*waiter)),
        }
    }

    /// Smaller is more urgent.
    fn urgency(&self, waiter: ThreadId) -> (u8, usize) {
        let end = self.machine.next(&self.state, waiter);
        let at = end.and_then(|end| match &self.order {
            Order::Observed => Some(end.index()),
            Order::Other(order) => order.get(&end).copied(),
        });
        match (end.map(|end| self.machine.trace().op(end)), at) {
            (Some(Op::Wake { .. }), Some(at)) => (0, at),
            (_, None) => (1, 0),
            (_, Some(at)) => (2, at),
        }
    }
}
