//! The quick check: locksets, and what is ordered in every execution.
//!
//! After the hybrid of O'Callahan and Choi (PPoPP 2003), which is phase 1 of Sen's race-directed
//! testing (PLDI 2008) and the quick check of Huang, Meredith and Roşu (PLDI 2014, section 4). Two
//! conflicting accesses pass if no lock protects both and the weak happens-before, without the
//! edges of locks and memory, leaves them unordered.
//!
//! **Unsound by design**: that a pair passes does not mean that it is a race. What it is good for
//! is the reverse: whatever is a race passes. For that we deviate from the papers in one point: a
//! notification or an unpark orders others only where no other one could have served, see
//! [`Wakeups::Necessary`](crate::order::Wakeups::Necessary).

use super::scan::{self, Along, Guards};
use super::{Findings, Scope};
use crate::index::{HeldWalk, LocksetId, Regions};
use crate::order::Edges;
use crate::trace::{EventId, Trace};

/// The pairs that pass the quick check: every race, and others. Unsound by design, see the
/// [module](self).
///
/// With [`Scope::Signatures`], one for each signature, unless
/// [`Limits::forgotten`](super::Limits::forgotten) says that a limit was hit.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    let regions = Regions::new(trace);
    let locksets = Locksets { trace, regions: &regions, walk: regions.walk() };
    scan::guarded_races(trace, scope, Along::new(trace, Edges::NECESSARY), locksets)
}

/// The locks that threads hold.
struct Locksets<'a> {
    trace: &'a Trace,
    regions: &'a Regions,
    walk: HeldWalk<'a>,
}

impl Guards for Locksets<'_> {
    fn held(&mut self, event: EventId) -> LocksetId {
        self.walk.held(self.trace.thread(event), self.trace.position(event))
    }

    fn exclude(&self, a: LocksetId, b: LocksetId) -> bool {
        self.regions.sets().exclude(a, b)
    }
}
