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
    state_no_token(encoder, timeout, included, true);
}

/// If a condition holds, a thread has no token when it comes to an event that would look for one;
/// or, if the event does not happen, when the prefix ends.
pub(super) fn state_no_token(
    encoder: &mut Encoder<'_>,
    event: EventId,
    condition: Lit,
    happens: bool,
) {
    if has_first_token(encoder, event) {
        encoder.formula.clause(&[!condition]);
    }
    let previous = encoder.index.park_before.get(&event).copied();
    for unpark in unparks(encoder, event) {
        let consumed = match previous {
            Some(previous) => encoder.before(unpark, previous),
            None => Lit::FALSE,
        };
        let later = if happens { encoder.before(event, unpark) } else { Lit::FALSE };
        let set = encoder.included(unpark);
        encoder.formula.clause(&[!condition, !set, consumed, later]);
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
