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

use super::scan::{self, Along};
use super::{Findings, Scope};
use crate::goal::Pair;
use crate::order::Edges;
pub use crate::order::{WeakLink, weak_links};
use crate::trace::Trace;

/// The pairs that happens-before leaves unordered.
///
/// With [`Scope::AllPairs`], exactly these. With [`Scope::Signatures`], one for each signature that
/// they have, unless [`Limits::forgotten`](super::Limits::forgotten) says that a limit was hit. The
/// time is linear in the trace and in how many sites and threads a variable is accessed from.
pub fn races(trace: &Trace, scope: Scope) -> Findings {
    scan::races(trace, scope, happens_before(trace))
}

/// The first race: of the pairs that end earliest, the one that begins latest.
pub fn first_race(trace: &Trace) -> Option<Pair> {
    scan::first_race(trace, happens_before(trace))
}

fn happens_before(trace: &Trace) -> Along<'_> {
    Along::new(trace, Edges::HAPPENS_BEFORE)
}
