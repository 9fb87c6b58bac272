//! What goals have in common that people fix as one.

use racelog::trace::LocId;

use super::GoalKind;
use crate::trace::{EventId, Trace};

/// Where in the program an event stands. One that does not say so stands for itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProgramPoint {
    /// A source location.
    Location(LocId),
    /// An event without a location.
    Event(EventId),
}

impl ProgramPoint {
    /// Where an event stands.
    pub fn of(trace: &Trace, event: EventId) -> Self {
        trace.location(event).map_or(Self::Event(event), Self::Location)
    }
}

/// A kind of goal, and where in the program its events stand: goals that have this in common are
/// one finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Signature {
    kind: GoalKind,
    /// Sorted; the same point may stand here more than once.
    points: Box<[ProgramPoint]>,
}

impl Signature {
    /// The signature of goals of a kind whose events stand at these points.
    pub fn new(kind: GoalKind, points: impl Into<Box<[ProgramPoint]>>) -> Self {
        let mut points = points.into();
        points.sort_unstable();
        Self { kind, points }
    }

    /// The kind of the goals.
    pub fn kind(&self) -> GoalKind {
        self.kind
    }

    /// Where their events stand, sorted.
    pub fn points(&self) -> &[ProgramPoint] {
        &self.points
    }

    /// Whether all events say where in the program they stand.
    pub fn has_locations(&self) -> bool {
        self.points.iter().all(|point| matches!(point, ProgramPoint::Location(_)))
    }
}
