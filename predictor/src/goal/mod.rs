//! Goals: the properties that can be predicted of a trace, one kind a file.
//!
//! A goal is a property of a feasible prefix. Some events have *happened* in it, in a given order.
//! Others are *next*, each of its thread. And a condition holds of the state that is reached. That
//! is all that searches, encodings, the explorer, the witness checker and replays know of a
//! finding: they ask the goal, and are the same for every kind.
//!
//! This module depends on the loaded trace and on the [semantics](crate::semantics) only, since it
//! is what the judges look at: [`Goal::unmet`] has the last word on whether a state is the one that
//! a goal describes. The assumptions of a search are said where the search is; those of the encoder
//! are in `encode/goals.rs`.

pub(crate) mod atomicity;
pub(crate) mod check;
pub mod deadlock;
mod kind;
mod lists;
pub mod race;
mod send;
mod signature;
pub mod stall;
pub(crate) mod steps;
mod unmet;

pub use self::atomicity::Violation;
pub use self::deadlock::Circle;
pub use self::kind::{GoalKind, GoalKinds};
pub use self::lists::GoalLists;
pub use self::race::Pair;
pub use self::signature::{ProgramPoint, Signature};
pub use self::stall::Stall;
pub use self::steps::Meant;
pub use self::unmet::Unmet;
use racelog::contract::schedule::Aim;

pub use crate::semantics::Model;
use crate::semantics::{Machine, State};
use crate::trace::{EventId, Trace};

/// A property of a feasible prefix.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// Both accesses of a pair are next and enabled.
    Race(Pair),
    /// Threads wait for each other in a circle.
    Deadlock(Circle),
    /// Every thread waits, and some for what nobody is left to do.
    Stall(Stall),
    /// This `send` is next, and all receivers of its channel are dropped.
    SendToNobody(EventId),
    /// This check is next, and its condition does not hold.
    FailedCheck(EventId),
    /// The same of a check that the language makes.
    Panic(EventId),
    /// An access of a region that is meant to be atomic has happened, then one of another thread,
    /// and a second one of the region can follow.
    Atomicity(Violation),
}

impl Goal {
    /// The goal of a kind that has these events next; none if it cannot have so many.
    pub fn of_kind(kind: GoalKind, next: &[EventId]) -> Option<Self> {
        match (kind, next) {
            (GoalKind::Race, [a, b]) => Some(Self::Race(Pair::new(*a, *b))),
            (GoalKind::Deadlock, [_, _, ..]) => Some(Self::Deadlock(Circle::new(next))),
            (GoalKind::FairDeadlock, [_, _, ..]) => Some(Self::Deadlock(Circle::fair(next))),
            (GoalKind::Stall, [_, ..]) => Some(Self::Stall(Stall::new(next))),
            (GoalKind::SendToNobody, [send]) => Some(Self::SendToNobody(*send)),
            (GoalKind::FailedCheck, [check]) => Some(Self::FailedCheck(*check)),
            (GoalKind::Panic, [check]) => Some(Self::Panic(*check)),
            _ => None,
        }
    }

    /// Its kind.
    pub const fn kind(&self) -> GoalKind {
        match self {
            Self::Race(_) => GoalKind::Race,
            Self::Deadlock(circle) => circle.kind(),
            Self::Stall(_) => GoalKind::Stall,
            Self::SendToNobody(_) => GoalKind::SendToNobody,
            Self::FailedCheck(_) => GoalKind::FailedCheck,
            Self::Panic(_) => GoalKind::Panic,
            Self::Atomicity(violation) => violation.kind(),
        }
    }

    /// The events that have happened, in this order.
    pub const fn happened(&self) -> &[EventId] {
        match self {
            Self::Atomicity(violation) => violation.happened(),
            Self::Race(_)
            | Self::Deadlock(_)
            | Self::Stall(_)
            | Self::SendToNobody(_)
            | Self::FailedCheck(_)
            | Self::Panic(_) => &[],
        }
    }

    /// The events that are next, each of a thread of its own, in the trace's order. Of a stall only
    /// its roots are said.
    pub fn next(&self) -> &[EventId] {
        match self {
            Self::Race(pair) => pair.events(),
            Self::Deadlock(circle) => circle.events(),
            Self::Stall(stall) => stall.roots(),
            Self::SendToNobody(event) | Self::FailedCheck(event) | Self::Panic(event) => {
                std::slice::from_ref(event)
            }
            Self::Atomicity(violation) => violation.next(),
        }
    }

    /// All events that it speaks of.
    pub fn events(&self) -> impl Iterator<Item = EventId> {
        self.happened().iter().chain(self.next()).copied()
    }

    /// What goals have in common that people fix as one.
    pub fn signature(&self, trace: &Trace) -> Signature {
        match self {
            Self::Race(pair) => pair.signature(trace),
            Self::Deadlock(circle) => circle.signature(trace),
            Self::Stall(stall) => stall.signature(trace),
            Self::SendToNobody(event) => send::signature(trace, *event),
            Self::FailedCheck(event) | Self::Panic(event) => check::signature(trace, *event),
            Self::Atomicity(violation) => violation.signature(trace),
        }
    }

    /// Whether its next events are enabled; those of others wait, or fail.
    pub const fn wants_enabled(&self) -> bool {
        matches!(self, Self::Race(_) | Self::Atomicity(_))
    }

    /// What confirms it in the program: what is to be seen there when all that comes before the
    /// next events has happened. There is none for what replays do not look for yet.
    pub const fn aim(&self) -> Option<Aim> {
        match self {
            Self::Race(_) => Some(Aim::Race { first: 0 }),
            Self::Deadlock(_) => Some(Aim::Deadlock),
            Self::Stall(_) => Some(Aim::Stall),
            Self::SendToNobody(_) => Some(Aim::SendToNobody),
            Self::FailedCheck(_) | Self::Panic(_) => Some(Aim::Failure),
            Self::Atomicity(_) => None,
        }
    }

    /// The two accesses, if the goal is a race.
    pub const fn as_race(&self) -> Option<Pair> {
        match self {
            Self::Race(pair) => Some(*pair),
            Self::Deadlock(_)
            | Self::Stall(_)
            | Self::SendToNobody(_)
            | Self::FailedCheck(_)
            | Self::Panic(_)
            | Self::Atomicity(_) => None,
        }
    }

    /// What of the goal does not hold in a state; nothing if all of it does. Whether the events
    /// that are to have happened stand in their order is a matter of the sequence that led there.
    pub fn unmet(&self, machine: &Machine<'_>, state: &State) -> Vec<Unmet> {
        match self {
            Self::Race(pair) => pair.unmet(machine, state).collect(),
            Self::Deadlock(circle) => circle.unmet(machine, state),
            Self::Stall(stall) => stall.unmet(machine, state),
            Self::SendToNobody(event) => send::unmet(machine, state, *event).into_iter().collect(),
            Self::FailedCheck(event) | Self::Panic(event) => {
                let other = check::kind(machine.trace(), *event) != self.kind();
                let wrong = other.then_some(Unmet::NoCheck(*event));
                wrong.or_else(|| check::unmet(machine, state, *event)).into_iter().collect()
            }
            Self::Atomicity(violation) => violation.unmet(machine, state).into_iter().collect(),
        }
    }

    /// Whether the goal holds in a state.
    pub fn holds(&self, machine: &Machine<'_>, state: &State) -> bool {
        match self {
            Self::Race(pair) => pair.unmet(machine, state).next().is_none(),
            _ => self.unmet(machine, state).is_empty(),
        }
    }
}

/// Calls `each` with the goals of these kinds that hold in a state in which these events are next;
/// but for those of which events have to have happened.
pub fn in_state(
    machine: &Machine<'_>,
    state: &State,
    next: &[EventId],
    kinds: GoalKinds,
    mut each: impl FnMut(Goal),
) {
    let circles =
        |fair| deadlock::among(machine, state, next, fair).into_iter().map(Goal::Deadlock);
    for kind in kinds.iter() {
        match kind {
            GoalKind::Race => race::among(machine.trace(), next, |pair| {
                let goal = Goal::Race(pair);
                if goal.holds(machine, state) {
                    each(goal);
                }
            }),
            GoalKind::Deadlock => circles(false).for_each(&mut each),
            GoalKind::FairDeadlock => circles(true).for_each(&mut each),
            GoalKind::Stall => {
                Stall::of(machine, state).map(Goal::Stall).into_iter().for_each(&mut each);
            }
            GoalKind::SendToNobody => {
                let sends = next.iter().map(|event| Goal::SendToNobody(*event));
                sends.filter(|goal| goal.holds(machine, state)).for_each(&mut each);
            }
            GoalKind::FailedCheck | GoalKind::Panic => {
                let goals = next.iter().filter_map(|event| Goal::of_kind(kind, &[*event]));
                goals.filter(|goal| goal.holds(machine, state)).for_each(&mut each);
            }
            // It is not the state alone that tells: see `atomicity::Begun`.
            GoalKind::Atomicity | GoalKind::InferredAtomicity | GoalKind::AssumedAtomicity => {}
        }
    }
}
