//! The races of `said`, by exhaustive search: an order of all events in which every thread stays
//! clean, and in which the pair meets.

use std::collections::HashMap;

use predictor::goal::Pair;
use predictor::semantics::{Machine, State};
use predictor::trace::{EventId, Op, Trace};
use racelog::trace::ThreadId;

/// Those of the pairs that are races of `said`, by its definition.
pub fn races_by_definition(trace: &Trace, pairs: &[Pair]) -> Vec<Pair> {
    let machine = Machine::new(trace);
    let is_race = |pair: &&Pair| {
        let mut search = Search { machine: &machine, pair: **pair, known: HashMap::new() };
        search.can_end(&machine.initial(), Phase::Before)
    };
    pairs.iter().filter(is_race).copied().collect()
}

/// How far an order has got with the pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Phase {
    /// Neither has happened.
    Before,
    /// One has, when the other was next and enabled, too: that one must come before this thread
    /// goes on.
    Between(ThreadId),
    /// Both have.
    After,
}

struct Search<'m, 'a> {
    machine: &'m Machine<'a>,
    pair: Pair,
    known: HashMap<(State, Phase), bool>,
}

impl Search<'_, '_> {
    /// Whether all events that are left can be put in order.
    fn can_end(&mut self, state: &State, phase: Phase) -> bool {
        let trace = self.machine.trace();
        if let Some(known) = self.known.get(&(state.clone(), phase)) {
            return *known;
        }
        let next: Vec<EventId> =
            trace.threads().filter_map(|thread| self.machine.next(state, thread)).collect();
        let mut can_end = next.is_empty() && phase == Phase::After;
        for event in next {
            if can_end {
                break;
            }
            let Some(phase) = self.phase_after(state, phase, event) else { continue };
            for woken in choices(trace, state, event) {
                let mut next = state.clone();
                if self.machine.step(&mut next, event, woken).is_ok()
                    && next.is_clean(trace.thread(event))
                {
                    can_end = can_end || self.can_end(&next, phase);
                }
            }
        }
        self.known.insert((state.clone(), phase), can_end);
        can_end
    }

    /// The phase after an event, if that event may come now.
    fn phase_after(&self, state: &State, phase: Phase, event: EventId) -> Option<Phase> {
        let trace = self.machine.trace();
        let pair = [self.pair.first(), self.pair.second()];
        match phase {
            Phase::Before if pair.contains(&event) => {
                let other = pair[usize::from(event == pair[0])];
                let meet = self.machine.enabled(state, event).is_ok()
                    && self.machine.enabled(state, other).is_ok();
                let first = !matches!(trace.op(other), Op::Cas { .. } | Op::CasFail { .. });
                (meet && first).then(|| Phase::Between(trace.thread(event)))
            }
            Phase::Between(_) if pair.contains(&event) => Some(Phase::After),
            Phase::Between(thread) if trace.thread(event) == thread => None,
            _ => Some(phase),
        }
    }
}

/// Whom a step may wake: one entry for each way to take it.
fn choices(trace: &Trace, state: &State, event: EventId) -> Vec<Option<ThreadId>> {
    let Op::NotifyOne { condvar, .. } = trace.op(event) else { return vec![None] };
    let waiters: Vec<_> = state.waiters(condvar).map(Some).collect();
    if waiters.is_empty() { vec![None] } else { waiters }
}
