//! What the encoder assumes for a goal, one function a kind.
//!
//! The formula's solutions are the feasible prefixes. Assumptions single out those that end in a
//! state in which the goal holds: which events are in the prefix and in which order, which are
//! next, and what makes these enabled.

use super::query::{LastRead, Query};
use super::sources::{Mode, Sources, mode_of};
use super::{Encoder, computed, exclusives, foreign, program_order, reads, stalls};
use crate::goal::{Goal, Pair};
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op};

/// Adds what has to hold for a goal to a query.
pub(super) fn assume(encoder: &mut Encoder<'_>, query: &mut Query, goal: &Goal) {
    happened(encoder, query, goal.happened());
    match goal {
        Goal::Race(pair) => race(encoder, query, *pair),
        Goal::Deadlock(circle) => {
            circle.events().iter().for_each(|event| next(encoder, query, *event));
        }
        Goal::Stall(stall) => {
            let assumptions = stalls::with_roots(encoder, stall.roots());
            query.assumptions.extend(assumptions);
        }
        Goal::SendToNobody(send) => send_to_nobody(encoder, query, *send),
        Goal::FailedCheck(check) | Goal::Panic(check) => {
            next(encoder, query, *check);
            query.assumptions.push(computed::fails(encoder, *check));
        }
        Goal::Atomicity(violation) => {
            let last = violation.last();
            next(encoder, query, last);
            query.assumptions.extend(exclusives::allowed(encoder, last, last));
            finds_value(encoder, query, last);
        }
    }
}

/// These events are in the prefix, in this order.
fn happened(encoder: &mut Encoder<'_>, query: &mut Query, events: &[EventId]) {
    for event in events {
        query.assumptions.push(encoder.included(*event));
    }
    for pair in events.windows(2) {
        query.assumptions.push(encoder.before(pair[0], pair[1]));
    }
}

/// Both accesses are next and enabled. In mixed memory one may be what the other waits for.
fn race(encoder: &mut Encoder<'_>, query: &mut Query, pair: Pair) {
    let (first, second) = (pair.first(), pair.second());
    for (event, other) in [(first, second), (second, first)] {
        query.assumptions.extend(program_order::reached(encoder, event));
        query.assumptions.extend(exclusives::allowed(encoder, event, other));
        query.assumptions.extend(foreign::allowed(encoder, event));
        query.assumptions.push(!encoder.included(event));
        finds_value(encoder, query, event);
    }
}

/// A thread has come to an event, and has not taken it. Who holds a lock then is a matter of the
/// threads' positions, so for events that wait for each other nothing else need be said.
fn next(encoder: &mut Encoder<'_>, query: &mut Query, event: EventId) {
    query.assumptions.extend(program_order::reached(encoder, event));
    query.assumptions.extend(foreign::allowed(encoder, event));
    query.assumptions.push(!encoder.included(event));
}

/// A message is about to be sent, and all receivers are dropped.
fn send_to_nobody(encoder: &mut Encoder<'_>, query: &mut Query, send: EventId) {
    next(encoder, query, send);
    let Op::Send { channel, .. } = encoder.trace.op(send) else { return };
    let index = encoder.index;
    for close in &index.channels[channel.index()].receiver_closes {
        query.assumptions.push(encoder.included(*close));
    }
}

/// A compare-exchange that is next is enabled: its thread is clean, and its variable holds what it
/// found. Other accesses are enabled whatever they find.
fn finds_value(encoder: &mut Encoder<'_>, query: &mut Query, event: EventId) {
    let (Op::Cas { var, old: value, .. } | Op::CasFail { var, seen: value, .. }) =
        encoder.trace.op(event)
    else {
        return;
    };
    if !encoder.model.has_values() {
        return;
    }
    if encoder.trace.is_mixed(var) {
        query.assumptions.push(encoder.clean_before(event));
        query.assumptions.extend(reads::known_before(encoder, var, event));
        return;
    }
    let finds = encoder.formula.proposition(false);
    let (clean, mode) = (encoder.clean_before(event), mode_of(encoder, var, value));
    encoder.formula.implies(&[finds], &[clean]);
    let sources = Sources::state(encoder, event, var, mode, finds);
    query.last_reads.push(LastRead { event, asked: finds, sources, computed: false });
    let computes = computed::exchanges(encoder, event);
    if computes == Lit::FALSE {
        query.assumptions.push(finds);
        return;
    }
    let sources = Sources::state(encoder, event, var, Mode::Any, computes);
    query.last_reads.push(LastRead { event, asked: computes, sources, computed: true });
    let either = encoder.formula.proposition(false);
    encoder.formula.clause(&[!either, finds, computes]);
    query.assumptions.push(either);
}
