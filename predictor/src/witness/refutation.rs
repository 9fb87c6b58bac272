//! Why a witness proves nothing.

use std::fmt;

use crate::goal::Unmet;
use crate::semantics::WhyNot;
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
    /// An event that the goal says has happened has not, or not in its order.
    NotHappened(EventId),
    /// The state that is reached is not what the goal says.
    Unmet(Unmet),
}

impl Refutation {
    /// A step of a schedule fails.
    pub(super) fn new(trace: &Trace, step: usize, event: EventId, reason: Reason) -> Self {
        let message = reason.describe(trace, event);
        Self { step, event, reason, message }
    }
}

impl Reason {
    fn describe(&self, trace: &Trace, event: EventId) -> String {
        let mut printer = trace.printer();
        match self {
            Self::NoSuchEvent => format!("the trace has {} events", trace.len()),
            Self::NotEnabled(why) => {
                let why = why.describe(&mut printer);
                format!("`{}` cannot happen here: {why}", printer.event(event))
            }
            Self::NotHappened(event) => {
                let text = printer.event(*event);
                format!("event {event}, `{text}`, has not happened where it should have")
            }
            Self::Unmet(unmet) => unmet.describe(&mut printer),
        }
    }
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}, event {}: {}", self.step, self.event, self.message)
    }
}

impl std::error::Error for Refutation {}
