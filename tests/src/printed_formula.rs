//! The formula of section 3.2 of the PLDI 2014 paper, evaluated on every order of a tiny trace: by
//! the letter, and with no solver.
//!
//! It knows the operations that the paper has: accesses, locks, fork, join and branches.

use std::collections::BTreeSet;

use predictor::goal::Pair;
use predictor::goal::race::conflict;
use predictor::trace::{EventId, Op, Trace};

/// The pairs for which the formula has a solution.
pub fn races_of_the_formula(trace: &Trace) -> BTreeSet<Pair> {
    let must = must_happen_before(trace);
    let mut orders = Orders { trace, order: Vec::new(), must: &must, races: BTreeSet::new() };
    orders.extend();
    orders.races
}

/// For each event, all that must happen before it.
fn must_happen_before(trace: &Trace) -> Vec<BTreeSet<EventId>> {
    let mut must: Vec<BTreeSet<EventId>> = Vec::new();
    for event in trace.events() {
        let thread = trace.thread(event);
        let mut direct: Vec<EventId> =
            trace.events_of_thread(thread)[..trace.position(event)].to_vec();
        direct.extend(trace.fork_of(thread));
        if let Op::Join(joined) = trace.op(event) {
            direct.extend(trace.events_of_thread(joined));
        }
        let further = direct.iter().flat_map(|earlier| must[earlier.index()].clone());
        let all = further.chain(direct.iter().copied()).collect();
        must.push(all);
    }
    must
}

struct Orders<'a> {
    trace: &'a Trace,
    /// The events so far; their places are the values of the order variables.
    order: Vec<EventId>,
    must: &'a [BTreeSet<EventId>],
    races: BTreeSet<Pair>,
}

impl Orders<'_> {
    /// Goes on in all ways that respect Φ_mhb and Φ_lock.
    fn extend(&mut self) {
        if self.order.len() == self.trace.len() {
            self.look();
            return;
        }
        for event in self.trace.events() {
            let happened = |event: &EventId| self.order.contains(event);
            let ready = !happened(&event) && self.must[event.index()].iter().all(happened);
            if ready && self.can_lock(event) {
                self.order.push(event);
                self.extend();
                self.order.pop();
            }
        }
    }

    fn can_lock(&self, event: EventId) -> bool {
        let (lock, shared) = match self.trace.op(event) {
            Op::Acquire(lock) => (lock, false),
            Op::ReadAcquire(lock) => (lock, true),
            _ => return true,
        };
        let (mut writers, mut readers) = (0, 0);
        for earlier in &self.order {
            match self.trace.op(*earlier) {
                Op::Acquire(other) if other == lock => writers += 1,
                Op::Release(other) if other == lock => writers -= 1,
                Op::ReadAcquire(other) if other == lock => readers += 1,
                Op::ReadRelease(other) if other == lock => readers -= 1,
                _ => {}
            }
        }
        writers == 0 && (shared || readers == 0)
    }

    /// Φ_race, for all pairs that stand side by side.
    fn look(&mut self) {
        for two in self.order.windows(2) {
            let (a, b) = (two[0], two[1]);
            if conflict(self.trace, a, b)
                && self.abstractly_feasible(a)
                && self.abstractly_feasible(b)
            {
                self.races.insert(Pair::new(a, b));
            }
        }
    }

    /// All branches that must happen before an event are concretely feasible.
    fn abstractly_feasible(&self, event: EventId) -> bool {
        self.must[event.index()]
            .iter()
            .filter(|earlier| self.trace.op(**earlier).decides())
            .all(|branch| self.history_is_feasible(*branch))
    }

    /// All reads before an event in its thread are concretely feasible.
    fn history_is_feasible(&self, event: EventId) -> bool {
        let events = self.trace.events_of_thread(self.trace.thread(event));
        events[..self.trace.position(event)].iter().all(|earlier| match self.trace.op(*earlier) {
            Op::Read { .. } => self.read_is_feasible(*earlier),
            _ => true,
        })
    }

    /// The last write before it is concretely feasible and writes what is read.
    fn read_is_feasible(&self, read: EventId) -> bool {
        let Op::Read { var, value } = self.trace.op(read) else { return false };
        let place = self.order.iter().position(|event| *event == read).unwrap_or(0);
        let last = self.order[..place].iter().rev().find_map(|event| match self.trace.op(*event) {
            Op::Write { var: other, value } if other == var => Some((*event, value)),
            _ => None,
        });
        match last {
            Some((write, written)) => written == value && self.history_is_feasible(write),
            None => self.trace.initial_value(var) == value,
        }
    }
}
