//! The exhaustive explorer: all goals that a small trace can reach, by search through every state.
//!
//! It follows the definition to the letter and is the oracle that everything faster is tested
//! against. The number of states grows exponentially with the threads, so there is a limit.

use std::collections::BTreeMap;
use std::rc::Rc;

use racelog::trace::ThreadId;
use rustc_hash::FxHashMap;

use crate::goal::atomicity::Begun;
use crate::goal::steps::{Steps, steps};
use crate::goal::{self, Goal, GoalKinds, Model, Pair};
use crate::semantics::{Machine, State};
use crate::trace::{EventId, Op, Trace};
use crate::witness::Witness;

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exploration {
    /// Each goal that some execution reaches, with a shortest witness.
    pub found: BTreeMap<Goal, Witness>,
    /// How many states were seen.
    pub states: usize,
    /// Whether all states were seen; if not, there may be more goals.
    pub complete: bool,
}

impl Exploration {
    /// The races among the goals.
    pub fn races(&self) -> impl Iterator<Item = Pair> {
        self.found.keys().filter_map(Goal::as_race)
    }
}

/// Searches all states for goals of these kinds, but stops once it has seen `max_states`.
/// `progress` is called with the number of states visited, before each.
pub fn explore(
    trace: &Trace,
    kinds: GoalKinds,
    max_states: usize,
    progress: impl FnMut(usize),
) -> Exploration {
    explore_model(trace, Model::default(), kinds, max_states, progress)
}

/// The same in a model.
pub fn explore_model(
    trace: &Trace,
    model: Model,
    kinds: GoalKinds,
    max_states: usize,
    mut progress: impl FnMut(usize),
) -> Exploration {
    let machine = Machine::of_model(trace, model);
    let mut search = Search::new(&machine, kinds);
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
    Exploration { found: search.found, states, complete }
}

/// A breadth-first search.
struct Search<'m, 'a> {
    machine: &'m Machine<'a>,
    kinds: GoalKinds,
    visited: Vec<Visited>,
    known: FxHashMap<Rc<Reached>, usize>,
    /// The pairs of accesses that are meant to be one step, if violations are looked for.
    steps: Steps,
    found: BTreeMap<Goal, Witness>,
}

/// A state, and what a goal may need to know besides of how it was reached.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Reached {
    state: State,
    begun: Begun,
}

/// A state, and how it was first reached: from which state, by which event.
struct Visited {
    reached: Rc<Reached>,
    from: Option<(usize, EventId)>,
}

impl<'m, 'a> Search<'m, 'a> {
    fn new(machine: &'m Machine<'a>, kinds: GoalKinds) -> Self {
        let mut search = Self {
            machine,
            kinds,
            visited: Vec::new(),
            known: FxHashMap::default(),
            steps: steps(machine.trace(), kinds),
            found: BTreeMap::new(),
        };
        let start = Reached { state: machine.initial(), begun: Begun::default() };
        search.reach(start, None);
        search
    }

    fn reach(&mut self, reached: Reached, from: Option<(usize, EventId)>) {
        let reached = Rc::new(reached);
        if !self.known.contains_key(&reached) {
            self.known.insert(reached.clone(), self.visited.len());
            self.visited.push(Visited { reached, from });
        }
    }

    fn visit(&mut self, index: usize) {
        let trace = self.machine.trace();
        let reached = self.visited[index].reached.clone();
        let Reached { state, begun } = &*reached;
        let next: Vec<EventId> =
            trace.threads().filter_map(|thread| self.machine.next(state, thread)).collect();
        let mut goals = Vec::new();
        goal::in_state(self.machine, state, &next, self.kinds, |goal| goals.push(goal));
        for last in &next {
            let violations = begun.with_last(trace, &self.steps, *last).map(Goal::Atomicity);
            goals.extend(violations.filter(|goal| goal.holds(self.machine, state)));
        }
        for goal in goals {
            if !self.found.contains_key(&goal) {
                let witness = self.witness(index, goal.clone());
                self.found.insert(goal, witness);
            }
        }
        for event in next {
            if self.machine.enabled(state, event).is_err() {
                continue;
            }
            let mut begun = begun.clone();
            begun.take(trace, &self.steps, state, event);
            for woken in choices(trace, state, event) {
                let mut state = state.clone();
                self.machine.apply(&mut state, event, woken);
                self.reach(Reached { state, begun: begun.clone() }, Some((index, event)));
            }
        }
    }

    /// The events that lead to a state in which a goal holds.
    fn witness(&self, mut index: usize, goal: Goal) -> Witness {
        let mut rest = Vec::new();
        while let Some((from, event)) = self.visited[index].from {
            rest.push(event);
            index = from;
        }
        rest.reverse();
        Witness { observed: 0, rest, goal }
    }
}

/// Whom a step may wake: one entry for each way to take it.
fn choices(trace: &Trace, state: &State, event: EventId) -> Vec<Option<ThreadId>> {
    let Op::NotifyOne { condvar, .. } = trace.op(event) else { return vec![None] };
    let waiters: Vec<_> = state.waiters(condvar).map(Some).collect();
    if waiters.is_empty() { vec![None] } else { waiters }
}
