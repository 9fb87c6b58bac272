//! Whether a trace can have stalls at all, and how much it would take to ask the solver.

use racelog::trace::End;

use crate::index::{Index, can_be_root, endless_wait};
use crate::trace::Trace;

/// That some thread of a trace may wait for what nobody is left to do.
#[derive(Clone, Copy, Debug)]
pub(in crate::predict) struct StallCandidates {
    /// How large the encoding of the whole trace is, about.
    pub(super) size: usize,
}

impl StallCandidates {
    /// Those of a trace; none if no event can be a root, or no end is known because the trace was
    /// cut off.
    pub(in crate::predict) fn new(trace: &Trace, index: &Index) -> Option<Self> {
        if trace.end() != End::Clean || trace.lost_events() > 0 {
            return None;
        }
        let can_be_root = |event| {
            endless_wait(trace, event).is_some_and(|it| can_be_root(trace, index, event, it))
        };
        trace.events().any(can_be_root).then(|| Self { size: size(trace, index) })
    }
}

/// Most axioms speak of an event and a few others. Those of condvars speak of each wait, each
/// notification and each event that may have come in between.
fn size(trace: &Trace, index: &Index) -> usize {
    let of_condvars = index.condvars.iter().map(|condvar| {
        let (stays, ones) = (condvar.stays.len(), condvar.notify_one.len());
        let between = stays + ones + condvar.notify_all.len();
        stays.saturating_mul(ones).saturating_mul(between)
    });
    of_condvars.fold(trace.len(), usize::saturating_add)
}
