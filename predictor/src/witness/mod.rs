//! The witness checker: replays a claimed race.
//!
//! A witness is a schedule, the numbers of the events in the order in which they are to happen,
//! that ends in the two racing accesses. It proves the race if every event before those two is
//! enabled when its turn comes, and in the end both accesses are the next events of their threads
//! and enabled.
//!
//! The checker is built on the [semantics](crate::semantics) alone. It never sees an encoder or a
//! solver, so whatever those get wrong, it does not get wrong with them.

mod needed;
mod schedule;
mod tidy;
mod touched;

use std::fmt;

pub use self::needed::needed;
pub use self::schedule::{Checker, Schedule};
pub use self::tidy::{switches, tidy};
use crate::race::{Pair, conflict};
use crate::semantics::{Machine, Replay, WhyNot};
use crate::trace::{EventId, Trace};

/// Why a witness proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// Which step of the schedule fails, from 1.
    pub step: usize,
    /// The event at that step.
    pub event: EventId,
    /// What is wrong there.
    pub reason: Reason,
    /// The same in the words of the trace.
    pub message: String,
}

/// What can be wrong with a step of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The trace has no such event.
    NoSuchEvent,
    /// The event is not enabled.
    NotEnabled(WhyNot),
    /// The last two events do not conflict.
    NoConflict,
    /// The schedule is too short to end in a race.
    TooShort,
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}, event {}: {}", self.step, self.event, self.message)
    }
}

impl std::error::Error for Refutation {}

/// Replays a schedule that ends in a claimed race, and says which race it proves.
pub fn check(trace: &Trace, schedule: &[EventId]) -> Result<Pair, Refutation> {
    let refute = |step: usize, reason: Reason| {
        let event = schedule.get(step - 1).copied().unwrap_or(EventId::from_index(0));
        let message = describe(trace, event, &reason);
        Refutation { step, event, reason, message }
    };
    if let Some(step) = schedule.iter().position(|event| !trace.contains(*event)) {
        return Err(refute(step + 1, Reason::NoSuchEvent));
    }
    let [prefix @ .., a, b] = schedule else {
        return Err(refute(schedule.len().max(1), Reason::TooShort));
    };
    let machine = Machine::new(trace);
    let followed = follow(&machine, Replay::of(&machine, prefix), prefix, [*a, *b]);
    followed.map_err(|(step, reason)| refute(step, reason))
}

/// Follows a sequence to the two accesses in which it ends, and says at which step it fails.
fn follow(
    machine: &Machine<'_>,
    mut replay: Replay<'_, '_>,
    prefix: &[EventId],
    [a, b]: [EventId; 2],
) -> Result<Pair, (usize, Reason)> {
    for (step, event) in (1..).zip(prefix) {
        replay.step(*event).map_err(|why| (step, Reason::NotEnabled(why)))?;
    }
    for (step, (event, other)) in (prefix.len() + 1..).zip([(a, b), (b, a)]) {
        let enabled = machine.enabled_beside(replay.state(), event, other);
        enabled.map_err(|why| (step, Reason::NotEnabled(why)))?;
    }
    if !conflict(machine.trace(), a, b) {
        return Err((prefix.len() + 2, Reason::NoConflict));
    }
    Ok(Pair::new(a, b))
}

fn describe(trace: &Trace, event: EventId, reason: &Reason) -> String {
    match reason {
        Reason::NoSuchEvent => format!("the trace has {} events", trace.len()),
        Reason::NotEnabled(why) => {
            let mut printer = trace.printer();
            let why = why.describe(&mut printer);
            format!("`{}` cannot happen here: {why}", printer.event(event))
        }
        Reason::NoConflict => "the last two events do not conflict: they are not accesses of one \
             variable by two threads, one of them a write and one of them not atomic"
            .to_owned(),
        Reason::TooShort => "a schedule ends in two racing accesses".to_owned(),
    }
}
