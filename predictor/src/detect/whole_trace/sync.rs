//! All synchronisation that is not stated only where a solution breaks it: failed attempts at
//! locks, condvars, parking, and who may see an empty channel.

use super::{WholeTrace, condvars, queues, regions};
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op};

pub(super) fn state(whole: &mut WholeTrace<'_>) {
    let (trace, index) = (whole.trace, whole.index);
    for condvar in &index.condvars {
        condvars::state(whole, condvar);
    }
    for event in trace.events() {
        match trace.op(event) {
            Op::AcquireFail(lock) => regions::state_failure(whole, event, lock, false),
            Op::ReadAcquireFail(lock) => regions::state_failure(whole, event, lock, true),
            Op::Park => state_park(whole, event),
            Op::ParkTimeout => state_park_timeout(whole, event),
            Op::RecvEmpty(channel) => queues::state_sender_left(whole, event, channel),
            Op::Send { channel, .. } | Op::SendFull(channel) => {
                queues::state_receiver_left(whole, event, channel);
            }
            _ => {}
        }
    }
}

/// Who parks finds the token that an `unpark` set after the `park` before.
fn state_park(whole: &mut WholeTrace<'_>, park: EventId) {
    let index = whole.index;
    let previous = index.park_before.get(&park).copied();
    let mut reasons: Vec<Lit> = Vec::new();
    for unpark in &index.unparks[whole.trace.thread(park).index()] {
        let mut conditions = vec![whole.before(*unpark, park)];
        if let Some(previous) = previous {
            conditions.push(whole.before(previous, *unpark));
        }
        reasons.push(whole.all(&conditions));
    }
    whole.formula.clause(&reasons);
}

/// Who gives up finds no token.
fn state_park_timeout(whole: &mut WholeTrace<'_>, timeout: EventId) {
    let index = whole.index;
    let previous = index.park_before.get(&timeout).copied();
    for unpark in &index.unparks[whole.trace.thread(timeout).index()] {
        let consumed = previous.map_or(Lit::FALSE, |previous| whole.before(*unpark, previous));
        let later = whole.before(timeout, *unpark);
        whole.formula.clause(&[consumed, later]);
    }
}
