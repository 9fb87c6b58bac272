//! Threads that nobody who is recorded has started: what was observed before an event of theirs
//! comes before it, and what was observed after it comes after it.
//!
//! Only neighbours are stated; with program order the rest follows.

use super::Encoder;
use crate::solve::formula::Lit;
use crate::trace::EventId;

pub(super) fn state(encoder: &mut Encoder<'_>, event: EventId) {
    let trace = encoder.trace;
    if trace.awaited(event).is_empty() {
        return;
    }
    let included = encoder.included(event);
    for before in trace.awaited(event) {
        let condition = encoder.included(*before);
        encoder.formula.implies(&[included], &[condition]);
        encoder.order(*before, event);
    }
}

/// That an event may happen as far as foreign threads go.
pub(super) fn allowed(encoder: &mut Encoder<'_>, event: EventId) -> Vec<Lit> {
    let trace = encoder.trace;
    trace.awaited(event).iter().map(|before| encoder.included(*before)).collect()
}
