//! Witnesses of long traces: most of them begin as the observed run did.
//!
//! Such a beginning need not be written down, and it need not be replayed for each witness anew: the
//! checker replays the observed run once and keeps some of the states that it passed through.

use super::{Refutation, check, follow};
use crate::race::Pair;
use crate::semantics::{Machine, Replay, State};
use crate::trace::{EventId, Trace};

/// A sequence of events: the observed run up to some point, then others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// How many events happen as they were observed.
    pub observed: usize,
    /// What happens then; the last two events are those that race.
    pub rest: Vec<EventId>,
}

impl Schedule {
    /// All events.
    pub fn events(&self) -> impl Iterator<Item = EventId> {
        (0..self.observed).map(EventId::from_index).chain(self.rest.iter().copied())
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.observed + self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How many states are kept at most.
const KEPT: usize = 256;

/// How many objects all states that are kept have together at most: a trace of millions of variables or locks
/// keeps fewer states.
const OBJECTS: usize = 1 << 24;

/// Checks many witnesses of one trace.
#[derive(Debug)]
pub struct Checker<'m, 'a> {
    machine: &'m Machine<'a>,
    /// How many events lie between two states that are kept.
    stride: usize,
    states: Vec<State>,
}

impl<'m, 'a> Checker<'m, 'a> {
    /// A checker for a trace.
    pub fn new(machine: &'m Machine<'a>) -> Self {
        let trace = machine.trace();
        let objects = trace.var_count() + trace.lock_count() + trace.channel_count();
        let kept = (OBJECTS / objects.max(1)).clamp(1, KEPT);
        let stride = trace.len().div_ceil(kept).max(1024);
        let mut replay = Replay::observed(machine);
        let mut states = Vec::new();
        for event in trace.events() {
            if event.index().is_multiple_of(stride) {
                states.push(replay.state().clone());
            }
            // A loaded trace is valid. If this one is not, no witness will be accepted.
            if replay.step(event).is_err() {
                break;
            }
        }
        Self { machine, stride, states }
    }

    /// The machine that witnesses are replayed on.
    pub fn machine(&self) -> &'m Machine<'a> {
        self.machine
    }

    /// What the observed run has reached right before an event; none if it is not feasible up to there.
    pub fn state_before(&self, event: EventId) -> Option<State> {
        let (kept, state) = self.kept(event.index())?;
        let between: Vec<EventId> = (kept..event.index()).map(EventId::from_index).collect();
        let mut replay = Replay::resume(self.machine, state.clone(), &between);
        between.iter().try_for_each(|event| replay.step(*event)).ok()?;
        Some(replay.into_state())
    }

    /// The last state that is kept of those that the observed run has reached within so many events, and
    /// how many events have led to it.
    fn kept(&self, events: usize) -> Option<(usize, &State)> {
        let at = (events / self.stride).min(self.states.len().checked_sub(1)?);
        Some((at * self.stride, &self.states[at]))
    }

    fn trace(&self) -> &'a Trace {
        self.machine.trace()
    }

    /// Replays a witness, and says which race it proves.
    pub fn check(&self, schedule: &Schedule) -> Result<Pair, Refutation> {
        if let Some(pair) = self.check_from_kept(schedule) {
            return Ok(pair);
        }
        // The observed run may have notified others than this one needs, so once more with the
        // whole of it to be decided.
        check(self.trace(), &schedule.events().collect::<Vec<_>>())
    }

    fn check_from_kept(&self, schedule: &Schedule) -> Option<Pair> {
        let [prefix @ .., a, b] = &schedule.rest[..] else { return None };
        if schedule.rest.iter().any(|event| !self.trace().contains(*event)) {
            return None;
        }
        let (kept, state) = self.kept(schedule.observed)?;
        let between = (kept..schedule.observed).map(EventId::from_index);
        let sequence: Vec<EventId> = between.chain(prefix.iter().copied()).collect();
        let replay = Replay::resume(self.machine, state.clone(), &sequence);
        follow(self.machine, replay, &sequence, [*a, *b]).ok()
    }
}
