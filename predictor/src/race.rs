//! What a race is.

use crate::trace::{EventId, Op, Trace};

/// Two accesses, the earlier in the trace first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pair {
    first: EventId,
    second: EventId,
}

impl Pair {
    /// The pair of two events, in whichever order they are given.
    pub fn new(a: EventId, b: EventId) -> Self {
        Self { first: a.min(b), second: a.max(b) }
    }

    /// The access that is earlier in the trace.
    pub fn first(self) -> EventId {
        self.first
    }

    /// The access that is later in the trace.
    pub fn second(self) -> EventId {
        self.second
    }
}

/// Whether two events conflict: accesses of one variable by different threads, at least one of
/// which writes and at least one of which is not atomic. Exclusive accesses conflict with none.
pub fn conflict(trace: &Trace, a: EventId, b: EventId) -> bool {
    let (first, second) = (trace.op(a), trace.op(b));
    let exclusive = |op: &Op| matches!(op, Op::Exclusive { .. });
    trace.thread(a) != trace.thread(b)
        && first.var().is_some()
        && first.var() == second.var()
        && (first.writes() || second.writes())
        && !(first.is_atomic() && second.is_atomic())
        && !exclusive(&first)
        && !exclusive(&second)
}
