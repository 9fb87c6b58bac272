//! What of a goal does not hold.

use racelog::trace::{Object, ThreadId};

use crate::semantics::WhyNot;
use crate::trace::{EventId, Printer};

/// What of a goal does not hold in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unmet {
    /// One of its next events is not enabled.
    NotEnabled(EventId, WhyNot),
    /// Its two accesses do not conflict.
    NoConflict,
    /// One of its next events does not wait for a thread that is known.
    NotBlocked(EventId),
    /// Its threads wait, and not each for the next.
    NoCircle,
    /// This thread may go on.
    GoesOn(ThreadId),
    /// All threads have come to their ends.
    AllFinished,
    /// Some threads wait for each other in a circle.
    Deadlock,
    /// The threads that nobody is left to help are others, with these next events.
    OtherRoots(Vec<EventId>),
    /// The trace was cut off: how its threads end is not known.
    CutOff,
    /// An event sends nothing.
    NoSend(EventId),
    /// Receivers may be left.
    HasReceivers(EventId),
    /// An event is no check whose condition is known.
    NoCheck(EventId),
    /// The condition of a check holds.
    Holds(EventId),
    /// Three accesses can be put in series, or two of them are not meant to be one step.
    NoViolation,
}

impl Unmet {
    /// The event that it is about, if it is about one.
    pub const fn event(&self) -> Option<EventId> {
        match self {
            Self::NotEnabled(event, _)
            | Self::NotBlocked(event)
            | Self::NoSend(event)
            | Self::NoCheck(event)
            | Self::Holds(event)
            | Self::HasReceivers(event) => Some(*event),
            Self::NoConflict
            | Self::NoViolation
            | Self::NoCircle
            | Self::GoesOn(_)
            | Self::AllFinished
            | Self::Deadlock
            | Self::OtherRoots(_)
            | Self::CutOff => None,
        }
    }

    /// Says it in the words of the trace.
    pub fn describe(&self, printer: &mut Printer<'_>) -> String {
        let mut line = |event: &EventId| format!("`{}`", printer.event(*event));
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
            Self::NotBlocked(event) => {
                format!("{} does not wait for another thread here", line(event))
            }
            Self::NoCircle => "the threads do not wait for each other in a circle".to_owned(),
            Self::GoesOn(thread) => {
                format!("`{}` may go on here", printer.name(Object::Thread(*thread)))
            }
            Self::AllFinished => "all threads have come to their ends".to_owned(),
            Self::Deadlock => "threads wait for each other in a circle".to_owned(),
            Self::OtherRoots(roots) => {
                let roots: Vec<String> = roots.iter().map(line).collect();
                format!("the threads that nobody is left to help are about to {}", roots.join(", "))
            }
            Self::CutOff => "the trace was cut off, so how its threads end is not known".to_owned(),
            Self::NoCheck(event) => {
                format!("{} is no check whose condition is known", line(event))
            }
            Self::Holds(event) => format!("the condition of {} holds here", line(event)),
            Self::NoViolation => {
                "the three accesses are not two that are meant to be one step and one of another \
                 thread that no serial order explains"
                    .to_owned()
            }
            Self::NoSend(event) => format!("{} sends nothing", line(event)),
            Self::HasReceivers(event) => {
                format!("receivers may be left for {}", line(event))
            }
        }
    }
}
