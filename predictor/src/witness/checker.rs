//! The checker: replays a witness, then asks its goal.
//!
//! Most witnesses of long traces begin as the observed run did. Such a beginning need not be
//! replayed for each witness anew: the checker replays the observed run once and keeps some of the
//! states that it passed through.

use super::{Reason, Refutation, Witness};
use crate::goal::{self, Goal, GoalKinds, Model, Unmet};
use crate::semantics::{Machine, Replay, State};
use crate::trace::{EventId, Trace};

/// Replays the events of a prefix, and asks whether a goal holds then. Steps of a refutation count
/// the prefix first, and then the events that the goal has next.
pub fn check(trace: &Trace, prefix: &[EventId], goal: &Goal) -> Result<(), Refutation> {
    check_model(trace, Model::default(), prefix, goal)
}

/// The same in a model.
pub fn check_model(
    trace: &Trace,
    model: Model,
    prefix: &[EventId],
    goal: &Goal,
) -> Result<(), Refutation> {
    let (length, next) = (prefix.len() + goal.next().len(), goal.next());
    let at = |step: usize| prefix.iter().chain(next).nth(step - 1).copied();
    let refute = |step: usize, reason: Reason| {
        let event = at(step).unwrap_or(EventId::from_index(0));
        Refutation::new(trace, step, event, reason)
    };
    if let Some(step) = prefix.iter().chain(next).position(|event| !trace.contains(*event)) {
        return Err(refute(step + 1, Reason::NoSuchEvent));
    }
    let machine = Machine::of_model(trace, model);
    let followed = follow(&machine, Replay::of(&machine, prefix), prefix);
    let state = followed.map_err(|(step, reason)| refute(step, reason))?;
    if let Err(missing) = in_order(goal.happened(), prefix.iter().copied()) {
        return Err(refute(length, Reason::NotHappened(missing)));
    }
    // Where the event stands that is not as it should be.
    let step = |unmet: &Unmet| {
        let place = unmet.event().and_then(|event| next.iter().position(|next| *next == event));
        place.map_or(length, |place| prefix.len() + place + 1)
    };
    match goal.unmet(&machine, &state).into_iter().min_by_key(step) {
        Some(unmet) => Err(refute(step(&unmet), Reason::Unmet(unmet))),
        None => Ok(()),
    }
}

/// Follows a sequence, and says what is reached, or at which step it fails.
fn follow(
    machine: &Machine<'_>,
    mut replay: Replay<'_, '_>,
    sequence: &[EventId],
) -> Result<State, (usize, Reason)> {
    debug_assert!(sequence.iter().all(|event| machine.trace().contains(*event)));
    for (step, event) in (1..).zip(sequence) {
        replay.step(*event).map_err(|why| (step, Reason::NotEnabled(why)))?;
    }
    Ok(replay.into_state())
}

/// Whether these events stand in a sequence in their order; if not, the first that does not.
fn in_order(
    events: &[EventId],
    mut sequence: impl Iterator<Item = EventId>,
) -> Result<(), EventId> {
    for event in events {
        sequence.find(|other| other == event).ok_or(*event)?;
    }
    Ok(())
}

/// How many states are kept at most.
const KEPT: usize = 256;

/// How many objects all states that are kept have together at most: a trace of millions of
/// variables or locks keeps fewer states.
const OBJECTS: usize = 1 << 24;

/// Checks many witnesses of one trace.
#[derive(Debug)]
pub struct Checker<'a> {
    machine: Machine<'a>,
    /// How many events lie between two states that are kept.
    stride: usize,
    states: Vec<State>,
}

impl<'a> Checker<'a> {
    /// A checker for a trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::of_model(trace, Model::default())
    }

    /// A checker for a trace in a model.
    pub fn of_model(trace: &'a Trace, model: Model) -> Self {
        let machine = Machine::of_model(trace, model);
        let objects = trace.var_count() + trace.lock_count() + trace.channel_count();
        let kept = (OBJECTS / objects.max(1)).clamp(1, KEPT);
        let stride = trace.len().div_ceil(kept).max(1024);
        let mut replay = Replay::observed(&machine);
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
    pub fn machine(&self) -> &Machine<'a> {
        &self.machine
    }

    /// What the observed run has reached right before an event; none if it is not feasible up to
    /// there.
    pub fn state_before(&self, event: EventId) -> Option<State> {
        let (kept, state) = self.kept(event.index())?;
        let between: Vec<EventId> = (kept..event.index()).map(EventId::from_index).collect();
        let mut replay = Replay::resume(&self.machine, state.clone(), &between);
        between.iter().try_for_each(|event| replay.step(*event)).ok()?;
        Some(replay.into_state())
    }

    /// The last state that is kept of those that the observed run has reached within so many
    /// events, and how many events have led to it.
    fn kept(&self, events: usize) -> Option<(usize, &State)> {
        let at = (events / self.stride).min(self.states.len().checked_sub(1)?);
        Some((at * self.stride, &self.states[at]))
    }

    fn trace(&self) -> &'a Trace {
        self.machine.trace()
    }

    /// Replays a witness, and asks whether its goal holds then.
    pub fn check(&self, witness: &Witness) -> Result<(), Refutation> {
        if self.check_from_kept(witness) {
            return Ok(());
        }
        // The observed run may have notified others than this one needs, so once more with the
        // whole of it to be decided.
        let prefix: Vec<EventId> = witness.prefix().collect();
        check_model(self.trace(), self.machine.model(), &prefix, &witness.goal)
    }

    /// The state that a witness reaches; none if it is not feasible.
    pub fn end_of(&self, witness: &Witness) -> Option<State> {
        let events = &mut witness.rest.iter().chain(witness.goal.next());
        if events.any(|event| !self.trace().contains(*event)) {
            return None;
        }
        self.end_from_kept(witness)
            .filter(|state| witness.goal.holds(&self.machine, state))
            .or_else(|| {
                let prefix: Vec<EventId> = witness.prefix().collect();
                follow(&self.machine, Replay::of(&self.machine, &prefix), &prefix).ok()
            })
    }

    /// The goals of these kinds that hold when the events of a prefix have happened; or why they
    /// cannot happen in that order.
    pub fn reached(&self, prefix: &[EventId], kinds: GoalKinds) -> Result<Vec<Goal>, Refutation> {
        let (machine, trace) = (&self.machine, self.trace());
        let refute = |step: usize, reason| Refutation::new(trace, step, prefix[step - 1], reason);
        if let Some(place) = prefix.iter().position(|event| !trace.contains(*event)) {
            return Err(refute(place + 1, Reason::NoSuchEvent));
        }
        let state = follow(machine, Replay::of(machine, prefix), prefix)
            .map_err(|(step, reason)| refute(step, reason))?;
        let next: Vec<EventId> =
            trace.threads().filter_map(|thread| machine.next(&state, thread)).collect();
        let mut found = Vec::new();
        goal::in_state(machine, &state, &next, kinds, |goal| found.push(goal));
        Ok(found)
    }

    fn check_from_kept(&self, witness: &Witness) -> bool {
        let Witness { rest, goal, .. } = witness;
        let mut events = rest.iter().chain(goal.next());
        if events.any(|event| !self.trace().contains(*event)) {
            return false;
        }
        self.end_from_kept(witness).is_some_and(|state| goal.holds(&self.machine, &state))
            && in_order(goal.happened(), witness.prefix()).is_ok()
    }

    /// The state that a witness reaches if notifications in its observed part go to whom they did.
    fn end_from_kept(&self, witness: &Witness) -> Option<State> {
        let (kept, state) = self.kept(witness.observed)?;
        let between = (kept..witness.observed).map(EventId::from_index);
        let sequence: Vec<EventId> = between.chain(witness.rest.iter().copied()).collect();
        let replay = Replay::resume(&self.machine, state.clone(), &sequence);
        follow(&self.machine, replay, &sequence).ok()
    }
}
