//! A generation of a barrier gathers whom it gathered: who leaves has seen all of them arrive, and
//! nobody arrives for the next before.

use racelog::trace::BarrierId;

use super::Encoder;
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
