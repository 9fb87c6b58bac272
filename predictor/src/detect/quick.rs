//! The quick check: locksets, and what is ordered in every execution.
//!
//! After the hybrid of O'Callahan and Choi (PPoPP 2003), which is phase 1 of Sen's race-directed
//! testing (PLDI 2008) and the quick check of Huang, Meredith and Roşu (PLDI 2014, section 4). Two
//! conflicting accesses pass if no lock protects both and the weak happens-before, without the edges
//! of locks and memory, leaves them unordered.
//!
//! **Unsound by design**: that a pair passes does not mean that it is a race. What it is good for
//! is the reverse: whatever is a race passes. For that we deviate from the papers in one point: a
//! notification or an unpark orders others only where no other one could have served, see
//! [`Wakeups::Necessary`](crate::order::Wakeups::Necessary).

use racelog::trace::ThreadId;

use super::scan::{self, Order};
use super::{Findings, Scope};
use crate::index::{HeldWalk, LocksetId, Regions};
use crate::order::{Clocks, Edges, Epoch, Flow};
use crate::trace::{EventId, Op, Trace};

/// The pairs that pass the quick check: every race, and others. Unsound by design, see the
/// [module](self).
///
/// With [`Scope::Signatures`], one for each signature, unless
/// [`Limits::forgotten`](super::Limits::forgotten) says that a limit was hit.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    let flow = Flow::new(trace, Edges::NECESSARY, Clocks::new(trace.thread_count()));
    let regions = Regions::new(trace);
    let (walk, held) = (regions.walk(), LocksetId::EMPTY);
    scan::races(trace, scope, LocksAndNecessity { trace, flow, regions: &regions, walk, held })
}

struct LocksAndNecessity<'a> {
    trace: &'a Trace,
    flow: Flow<'a, Clocks>,
    regions: &'a Regions,
    walk: HeldWalk<'a>,
    /// What the thread of the present event holds.
    held: LocksetId,
}

impl Order for LocksAndNecessity<'_> {
    fn arrive(&mut self, event: EventId, op: &Op) {
        self.flow.arrive(event, op);
        self.held = self.walk.held(self.trace.thread(event), self.trace.position(event));
    }

    fn depart(&mut self, event: EventId, op: &Op) {
        self.flow.depart(event, op);
    }

    fn epoch(&self, thread: ThreadId) -> Epoch {
        self.flow.knowledge().epoch(thread)
    }

    fn seen(&self, thread: ThreadId) -> &[u32] {
        self.flow.knowledge().of(thread)
    }

    fn locks(&self) -> LocksetId {
        self.held
    }

    fn exclude(&self, a: LocksetId, b: LocksetId) -> bool {
        self.regions.sets().exclude(a, b)
    }
}
