//! Goals: what can be predicted of a trace, one kind a file.
//!
//! A goal is a property of a feasible prefix. Some events have *happened* in it, in a given order.
//! Others are *next*, each of its thread. And a condition holds of the state that is reached. That
//! is all that searches, encodings, the explorer, the witness checker and replays know of a finding:
//! they ask the goal, and are the same for every kind.
//!
//! This module depends on the loaded trace and on the [semantics](crate::semantics) only, since it
//! is what the judges look at: [`Goal::unmet`] has the last word on whether a state is the one that
//! a goal describes. What a search assumes to get there is said where the search is; what the
//! encoder assumes is in `encode/goals.rs`.

pub mod race;
mod signature;

pub use self::race::Pair;
pub use self::signature::{ProgramPoint, Signature};
use crate::semantics::{Machine, State, WhyNot};
use crate::trace::{EventId, Printer, Trace};

/// The kinds of goals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GoalKind {
    /// Two conflicting accesses are next and enabled at once.
    Race,
}

impl GoalKind {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Race];

    /// What a goal of this kind is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
        }
    }

    /// The goal that a list of events ends in, and the events before. A list of events says a goal of
    /// a known kind by having its next events last; there is none if the list is too short.
    pub fn split_schedule(self, schedule: &[EventId]) -> Option<(&[EventId], Goal)> {
        match self {
            Self::Race => {
                let [prefix @ .., a, b] = schedule else { return None };
                Some((prefix, Goal::Race(Pair::new(*a, *b))))
            }
        }
    }

    /// What a list of events has at its end, in words.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Race => "two racing accesses",
        }
    }
}

/// A property of a feasible prefix.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// Both accesses of a pair are next and enabled.
    Race(Pair),
}

impl Goal {
    /// Its kind.
    pub const fn kind(&self) -> GoalKind {
        match self {
            Self::Race(_) => GoalKind::Race,
        }
    }

    /// The events that have happened, in this order.
    pub const fn happened(&self) -> &[EventId] {
        match self {
            Self::Race(_) => &[],
        }
    }

    /// The events that are next, each of a thread of its own, in the trace's order.
    pub const fn next(&self) -> &[EventId] {
        match self {
            Self::Race(pair) => pair.events(),
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
        }
    }

    /// The two accesses, if the goal is a race.
    pub const fn as_race(&self) -> Option<Pair> {
        match self {
            Self::Race(pair) => Some(*pair),
        }
    }

    /// What of the goal does not hold in a state; nothing if all of it does. Whether the events that
    /// are to have happened stand in their order is a matter of the sequence that led there.
    pub fn unmet(&self, machine: &Machine<'_>, state: &State) -> Vec<Unmet> {
        match self {
            Self::Race(pair) => pair.unmet(machine, state).collect(),
        }
    }

    /// Whether the goal holds in a state.
    pub fn holds(&self, machine: &Machine<'_>, state: &State) -> bool {
        match self {
            Self::Race(pair) => pair.unmet(machine, state).next().is_none(),
        }
    }
}

/// Calls `each` with the goals of every kind that may hold in a state in which these events are
/// next. Which of them do is for [`Goal::holds`] to say.
pub fn in_state(machine: &Machine<'_>, next: &[EventId], mut each: impl FnMut(Goal)) {
    for kind in GoalKind::ALL {
        match kind {
            GoalKind::Race => race::among(machine.trace(), next, |pair| each(Goal::Race(pair))),
        }
    }
}

/// What of a goal does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unmet {
    /// One of its next events is not enabled.
    NotEnabled(EventId, WhyNot),
    /// Its two accesses do not conflict.
    NoConflict,
}

impl Unmet {
    /// The event that it is about, if it is about one.
    pub const fn event(&self) -> Option<EventId> {
        match self {
            Self::NotEnabled(event, _) => Some(*event),
            Self::NoConflict => None,
        }
    }

    /// Says it in the words of the trace.
    pub fn describe(&self, printer: &mut Printer<'_>) -> String {
        match self {
            Self::NotEnabled(event, why) => {
                let why = why.describe(printer);
                format!("`{}` cannot happen here: {why}", printer.event(*event))
            }
            Self::NoConflict => {
                "the last two events do not conflict: they are not accesses of one variable by two \
                 threads, one of them a write and one of them not atomic"
                    .to_owned()
            }
        }
    }
}
