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
use crate::goal::{Goal, GoalKind, Violation, atomicity};
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

    /// How many events happen.
    pub fn prefix_len(&self) -> usize {
        self.observed + self.rest.len()
    }
}

/// A violation that a prefix leads to and that this event completes.
fn violation_of(trace: &Trace, prefix: &[EventId], next: &[EventId]) -> Option<Goal> {
    let [last] = next else { return None };
    if !trace.contains(*last) || prefix.iter().any(|event| !trace.contains(*event)) {
        return None;
    }
    let var = trace.op(*last).var()?;
    let of_var = |event: &&EventId| trace.op(**event).var() == Some(var);
    let accesses: Vec<EventId> = prefix.iter().filter(of_var).copied().collect();
    let pairs = accesses.iter().enumerate().flat_map(|(place, first)| {
        accesses[place + 1..].iter().map(move |between| (*first, *between))
    });
    let mut goals = pairs
        .filter(|(first, between)| atomicity::is_violation(trace, *first, *between, *last))
        .map(|(first, between)| Goal::Atomicity(Violation::new(first, between, *last)));
    goals.find(|goal| check(trace, prefix, goal).is_ok())
}
