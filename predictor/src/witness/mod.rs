//! Witnesses, and the checker that replays them.
//!
//! A witness is a prefix of an execution, the events in the order in which they are to happen, and
//! the goal that it ends in. It proves the goal if every event of the prefix is enabled when its
//! turn comes, and the goal holds in the state that is reached. Of a race that means: both accesses
//! are the next events of their threads, and enabled.
//!
//! The checker is built on the [semantics](crate::semantics) alone. It never sees an encoder or a
//! solver, so whatever those get wrong, it does not get wrong with them.

mod checker;
mod needed;
mod refutation;
mod tidy;
mod touched;

pub use self::checker::{Checker, check, check_model};
pub use self::needed::needed;
pub use self::refutation::{Reason, Refutation};
pub use self::tidy::{switches, tidy};
use crate::goal::steps::{self, Step};
use crate::goal::{Goal, GoalKind, GoalKinds, Violation};
use crate::trace::{EventId, Trace};

/// A prefix of an execution: the observed run up to some point, then other events. And the goal
/// that it ends in.
///
/// Most witnesses of long traces begin as the observed run did; so that beginning is not written
/// down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// How many events happen as they were observed.
    pub observed: usize,
    /// The events that happen then, in this order.
    pub rest: Vec<EventId>,
    /// What holds in the state that is reached.
    pub goal: Goal,
}

impl Witness {
    /// The witness that has this prefix and these events next, of whichever kind of goal it proves;
    /// none if it proves nothing.
    pub fn of_schedule(trace: &Trace, prefix: &[EventId], next: &[EventId]) -> Option<Self> {
        let mut goals = GoalKind::ALL.into_iter().filter_map(|kind| Goal::of_kind(kind, next));
        let goal = goals
            .find(|goal| check(trace, prefix, goal).is_ok())
            .or_else(|| violation_of(trace, prefix, next))?;
        Some(Self { observed: 0, rest: prefix.to_vec(), goal })
    }

    /// The events that happen.
    pub fn prefix(&self) -> impl Iterator<Item = EventId> {
        (0..self.observed).map(EventId::from_index).chain(self.rest.iter().copied())
    }

    /// The events that happen, and then those that are next: a schedule, as reports and
    /// `predictor check` have it.
    pub fn schedule(&self) -> impl Iterator<Item = EventId> {
        self.prefix().chain(self.goal.next().iter().copied())
    }

    /// How many times another thread takes over, the events that are next included. Which of these
    /// comes first is of no account.
    pub fn switches(&self, trace: &Trace) -> usize {
        let threads: Vec<_> = self.prefix().map(|event| trace.thread(event)).collect();
        let before = threads.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let next = self.goal.next();
        let goes_on = |last: &_| next.iter().any(|event| trace.thread(*event) == *last);
        let taken_over = threads.last().is_some_and(|last| !next.is_empty() && !goes_on(last));
        before + usize::from(taken_over) + next.len().saturating_sub(1)
    }

    /// How many events happen.
    pub fn prefix_len(&self) -> usize {
        self.observed + self.rest.len()
    }
}

/// A violation that a prefix leads to and that this event completes; of steps that are assumed only
/// if there is no other.
fn violation_of(trace: &Trace, prefix: &[EventId], next: &[EventId]) -> Option<Goal> {
    let [last] = next else { return None };
    if !trace.contains(*last) || prefix.iter().any(|event| !trace.contains(*event)) {
        return None;
    }
    let kinds = GoalKinds::ALL.with(GoalKind::AssumedAtomicity);
    let all = steps::steps(trace, kinds);
    let place = |event: EventId| prefix.iter().position(|other| *other == event);
    let ending = all.values().flatten().filter(|step| step.last == *last);
    let mut ending: Vec<&Step> = ending.filter(|step| place(step.first).is_some()).collect();
    ending.sort_by_key(|step| (step.meant, step.first));
    let mut goals = ending.into_iter().flat_map(|step| {
        let since = place(step.first).map_or(prefix.len(), |place| place + 1);
        let breaks = prefix[since..].iter().filter(|event| step.is_broken_by(trace, **event));
        breaks.map(|between| Violation::new(step.meant, step.first, *between, step.last))
    });
    goals.find_map(|violation| {
        let goal = Goal::Atomicity(violation);
        check(trace, prefix, &goal).is_ok().then_some(goal)
    })
}
