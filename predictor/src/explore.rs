//! The exhaustive explorer: all races of a small trace, by search through every state.
//!
//! It follows the definition to the letter and is the oracle that everything faster is tested
//! against. The number of states grows exponentially with the threads, so there is a limit.

use std::collections::BTreeMap;
use std::rc::Rc;

use racelog::trace::ThreadId;
use rustc_hash::FxHashMap;

use crate::race::{Pair, conflict};
use crate::semantics::{Machine, State};
use crate::trace::{EventId, Op, Trace};

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exploration {
    /// Each race, with a witness: a shortest schedule that ends in it.
    pub races: BTreeMap<Pair, Vec<EventId>>,
    /// How many states were seen.
    pub states: usize,
    /// Whether all states were seen; if not, there may be more races.
    pub complete: bool,
}

/// Searches all states, but stops once it has seen `max_states`. `progress` is called with the
/// number of states visited, before each.
pub fn explore(trace: &Trace, max_states: usize, mut progress: impl FnMut(usize)) -> Exploration {
    let machine = Machine::new(trace);
    let mut search = Search::new(&machine);
    let mut complete = true;
    let mut next = 0;
    while next < search.visited.len() {
        progress(next);
        if search.visited.len() > max_states {
            complete = false;
            break;
        }
        search.visit(next);
        next += 1;
    }
    let states = search.visited.len().min(max_states);
    Exploration { races: search.races, states, complete }
}

/// A breadth-first search.
struct Search<'m, 'a> {
    machine: &'m Machine<'a>,
    visited: Vec<Visited>,
    known: FxHashMap<Rc<State>, usize>,
    races: BTreeMap<Pair, Vec<EventId>>,
}

/// A state, and how it was first reached: from which state, by which event.
struct Visited {
    state: Rc<State>,
    from: Option<(usize, EventId)>,
}

impl<'m, 'a> Search<'m, 'a> {
    fn new(machine: &'m Machine<'a>) -> Self {
        let mut search = Self {
            machine,
            visited: Vec::new(),
            known: FxHashMap::default(),
            races: BTreeMap::new(),
        };
        search.reach(machine.initial(), None);
        search
    }

    fn reach(&mut self, state: State, from: Option<(usize, EventId)>) {
        let state = Rc::new(state);
        if !self.known.contains_key(&state) {
            self.known.insert(state.clone(), self.visited.len());
            self.visited.push(Visited { state, from });
        }
    }

    fn visit(&mut self, index: usize) {
        let trace = self.machine.trace();
        let state = self.visited[index].state.clone();
        let next: Vec<EventId> =
            trace.threads().filter_map(|thread| self.machine.next(&state, thread)).collect();
        for (at, a) in next.iter().enumerate() {
            for b in &next[at + 1..] {
                let pair = Pair::new(*a, *b);
                if conflict(trace, *a, *b)
                    && !self.races.contains_key(&pair)
                    && self.machine.enabled_beside(&state, *a, *b).is_ok()
                    && self.machine.enabled_beside(&state, *b, *a).is_ok()
                {
                    self.races.insert(pair, self.schedule(index, pair));
                }
            }
        }
        for event in next {
            if self.machine.enabled(&state, event).is_err() {
                continue;
            }
            for woken in choices(trace, &state, event) {
                let mut next = (*state).clone();
                self.machine.apply(&mut next, event, woken);
                self.reach(next, Some((index, event)));
            }
        }
    }

    /// The events that lead to a state, and then the pair.
    fn schedule(&self, mut index: usize, pair: Pair) -> Vec<EventId> {
        let mut events = vec![pair.second(), pair.first()];
        while let Some((from, event)) = self.visited[index].from {
            events.push(event);
            index = from;
        }
        events.reverse();
        events
    }
}

/// Whom a step may wake: one entry for each way to take it.
fn choices(trace: &Trace, state: &State, event: EventId) -> Vec<Option<ThreadId>> {
    let Op::NotifyOne { condvar, .. } = trace.op(event) else { return vec![None] };
    let waiters: Vec<_> = state.waiters(condvar).map(Some).collect();
    if waiters.is_empty() { vec![None] } else { waiters }
}
