//! How long who sends or receives would wait.

use std::time::Duration;

use crate::rt::CallSite;
use crate::sched::{Action, Deadline};
use crate::trace;

/// How long a thread waits.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    None,
    Until(Deadline),
    Forever,
}

impl Patience {
    /// So long from now; for ever, if no clock reaches that.
    pub(crate) fn of(timeout: Duration) -> Self {
        Deadline::after(timeout).map_or(Self::Forever, Self::Until)
    }

    /// The same, as the trace says it.
    pub(crate) fn in_trace(self) -> trace::Patience {
        match self {
            Self::None => trace::Patience::Try,
            Self::Until(_) => trace::Patience::Timed,
            Self::Forever => trace::Patience::Forever,
        }
    }

    /// Whether the calling thread, in this operation, waits no longer.
    pub(crate) fn is_over(self, action: Action, here: Option<CallSite>) -> bool {
        match self {
            Self::None => true,
            Self::Until(deadline) => deadline.has_passed(action, here),
            Self::Forever => false,
        }
    }
}
