//! A generation of a barrier gathers whom it gathered: who leaves has seen all of them arrive, and
//! nobody arrives for the next before.

use racelog::trace::BarrierId;

use super::Encoder;
use crate::solve::formula::Lit;
use crate::trace::EventId;

pub(super) fn state_arrival(
    encoder: &mut Encoder<'_>,
    arrival: EventId,
    barrier: BarrierId,
    generation: u64,
) {
    let index = encoder.index;
    let before = index.previous_arrivals(barrier, generation);
    state_after(encoder, arrival, before);
}

pub(super) fn state_departure(
    encoder: &mut Encoder<'_>,
    departure: EventId,
    barrier: BarrierId,
    generation: u64,
) {
    let index = encoder.index;
    state_after(encoder, departure, index.arrivals_of(barrier, generation));
}

fn state_after(encoder: &mut Encoder<'_>, event: EventId, arrivals: &[EventId]) {
    let included = encoder.included(event);
    for arrival in arrivals {
        let condition = encoder.included(*arrival);
        encoder.formula.implies(&[included], &[condition]);
        encoder.order(*arrival, event);
    }
}

/// If a condition holds, not all threads of a generation have arrived when the prefix ends.
pub(super) fn state_incomplete(
    encoder: &mut Encoder<'_>,
    barrier: BarrierId,
    generation: u64,
    condition: Lit,
) {
    let index = encoder.index;
    let mut clause = vec![!condition];
    for arrival in index.arrivals_of(barrier, generation) {
        clause.push(!encoder.included(*arrival));
    }
    encoder.formula.clause(&clause);
}
