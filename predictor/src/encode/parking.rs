//! Parking: who parks finds the token that an `unpark` set after the `park` before; who gives up
//! finds none.

use super::Encoder;
use crate::solve::formula::Lit;
use crate::trace::EventId;

pub(super) fn state_park(encoder: &mut Encoder<'_>, park: EventId) {
    let included = encoder.included(park);
    let mut reasons = vec![!included];
    if has_first_token(encoder, park) {
        reasons.push(Lit::TRUE);
    }
    let previous = encoder.index.park_before.get(&park).copied();
    for unpark in unparks(encoder, park) {
        let sets = encoder.formula.proposition(false);
        let mut conditions = vec![encoder.included(unpark), encoder.before(unpark, park)];
        if let Some(previous) = previous {
            conditions.push(encoder.before(previous, unpark));
        }
        encoder.formula.implies(&[sets], &conditions);
        reasons.push(sets);
    }
    encoder.formula.clause(&reasons);
}

pub(super) fn state_timeout(encoder: &mut Encoder<'_>, timeout: EventId) {
    let included = encoder.included(timeout);
    if has_first_token(encoder, timeout) {
        encoder.formula.clause(&[!included]);
    }
    let previous = encoder.index.park_before.get(&timeout).copied();
    for unpark in unparks(encoder, timeout) {
        let consumed = match previous {
            Some(previous) => encoder.before(unpark, previous),
            None => Lit::FALSE,
        };
        let (happens, later) = (encoder.included(unpark), encoder.before(timeout, unpark));
        encoder.formula.clause(&[!included, !happens, consumed, later]);
    }
}

/// Whether a token that was set before the window has not been consumed by a `park` in it.
fn has_first_token(encoder: &Encoder<'_>, park: EventId) -> bool {
    let previous = encoder.index.park_before.get(&park).copied();
    let thread = encoder.trace.thread(park);
    encoder.window.state.has_token(thread)
        && previous.is_none_or(|previous| previous < encoder.window.start)
}

/// The `unpark` events of the window for the thread of an event.
fn unparks(encoder: &Encoder<'_>, event: EventId) -> Vec<EventId> {
    let thread = encoder.trace.thread(event);
    let unparks = &encoder.index.unparks[thread.index()];
    unparks.iter().copied().filter(|unpark| encoder.window.contains(*unpark)).collect()
}
