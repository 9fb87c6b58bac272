//! Happens-before: pairs that nothing orders in the observed run.
//!
//! Lamport's relation (1978), computed with the epochs of Flanagan and Freund, "FastTrack"
//! (PLDI 2009); deviations: atomics follow the C++20 memory model by their orderings, and where
//! FastTrack keeps the last accesses of a variable, we keep the last of each site, so that every
//! signature is found and not only the first race of each variable.
//!
//! A pair that is reported is a data race of this very run by the memory model of Rust, as Miri
//! would see it. What is missed: races that only another schedule shows, and pairs that nothing but
//! a notification orders, which the memory model does not count. The first race can also be
//! brought about by a schedule, under conditions; see docs/ALGORITHM.md.

use racelog::trace::ThreadId;

use super::scan::{self, Order};
use super::{Findings, Scope};
use crate::goal::Pair;
use crate::order::{Clocks, Edges, Epoch, Flow};
pub use crate::order::{WeakLink, weak_links};
use crate::trace::{EventId, Op, Trace};

/// The pairs that happens-before leaves unordered.
///
/// With [`Scope::AllPairs`], exactly these. With [`Scope::Signatures`], one for each signature that
/// they have, unless [`Limits::forgotten`](super::Limits::forgotten) says that a limit was hit. The
/// time is linear in the trace and in how many sites and threads a variable is accessed from.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    scan::races(trace, scope, HappensBefore::new(trace))
}

/// The first race: of the pairs that end earliest, the one that begins latest.
pub fn first_race(trace: &Trace) -> Option<Pair> {
    scan::first_race(trace, HappensBefore::new(trace))
}

struct HappensBefore<'a> {
    flow: Flow<'a, Clocks>,
}

impl<'a> HappensBefore<'a> {
    fn new(trace: &'a Trace) -> Self {
        let clocks = Clocks::new(trace.thread_count());
        Self { flow: Flow::new(trace, Edges::HAPPENS_BEFORE, clocks) }
    }
}

impl Order for HappensBefore<'_> {
    fn arrive(&mut self, event: EventId, op: &Op) {
        self.flow.arrive(event, op);
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
}
