//! What a race is.

use racelog::trace::LocId;

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

/// Where in the program an access stands. One that does not say so stands for itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// A source location.
    Location(LocId),
    /// An event without a location.
    Event(EventId),
}

impl Site {
    /// Where an event stands.
    pub fn of(trace: &Trace, event: EventId) -> Self {
        trace.location(event).map_or(Self::Event(event), Self::Location)
    }
}

/// What pairs have in common that people fix as one: an unordered pair of source locations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Signature {
    low: Site,
    high: Site,
}

impl Signature {
    /// The signature of a pair.
    pub fn of(trace: &Trace, pair: Pair) -> Self {
        let (a, b) = (Site::of(trace, pair.first()), Site::of(trace, pair.second()));
        Self { low: a.min(b), high: a.max(b) }
    }

    /// Whether both accesses say where in the program they stand.
    pub fn has_locations(self) -> bool {
        self.sites().iter().all(|site| matches!(site, Site::Location(_)))
    }

    /// The two sites; they may be the same.
    pub fn sites(self) -> [Site; 2] {
        [self.low, self.high]
    }
}

/// Whether two events conflict: accesses of one variable, or of memory that overlaps, by different
/// threads, at least one of which writes and at least one of which is not atomic. Exclusive accesses
/// conflict with none.
pub fn conflict(trace: &Trace, a: EventId, b: EventId) -> bool {
    let (first, second) = (trace.op(a), trace.op(b));
    let exclusive = |op: &Op| matches!(op, Op::Exclusive { .. });
    trace.thread(a) != trace.thread(b)
        && first.var().is_some()
        && first.var() == second.var()
        && trace.overlap(a, b)
        && (first.writes() || second.writes())
        && !(first.is_atomic() && second.is_atomic())
        && !exclusive(&first)
        && !exclusive(&second)
}
