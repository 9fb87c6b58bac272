//! Cuts: a prefix has an event only with all that comes before it in its thread, and a thread only
//! after its fork; an implicit branch is passed only by a clean thread; who joins a thread finds it
//! finished.

use racelog::trace::ThreadId;

use super::Encoder;
use crate::solve::formula::Lit;
use crate::trace::EventId;

pub(super) fn state(encoder: &mut Encoder<'_>, event: EventId) {
    let included = encoder.included(event);
    let conditions = reached(encoder, event);
    encoder.formula.implies(&[included], &conditions);
    let thread = encoder.trace.thread(event);
    match encoder.trace.position(event).checked_sub(1) {
        Some(before) => {
            let before = encoder.trace.events_of_thread(thread)[before];
            if before >= encoder.window.start {
                encoder.formula.order(before, event);
            }
        }
        None => {
            if let Some(fork) = encoder.trace.fork_of(thread) {
                encoder.order(fork, event);
            }
        }
    }
}

/// That a thread has come to an event and may take it as far as program order goes.
pub(super) fn reached(encoder: &mut Encoder<'_>, event: EventId) -> Vec<Lit> {
    let thread = encoder.trace.thread(event);
    let before = match encoder.trace.position(event).checked_sub(1) {
        Some(before) => Some(encoder.trace.events_of_thread(thread)[before]),
        None => encoder.trace.fork_of(thread),
    };
    let mut conditions = Vec::new();
    if let Some(before) = before {
        conditions.push(encoder.included(before));
    }
    if encoder.trace.is_guarded(event) {
        conditions.push(encoder.clean_before(event));
    }
    conditions
}

pub(super) fn state_join(encoder: &mut Encoder<'_>, join: EventId, thread: ThreadId) {
    let included = encoder.included(join);
    let finished = encoder.finished(thread);
    encoder.formula.implies(&[included], &finished);
    if let Some(last) = encoder.trace.events_of_thread(thread).last().copied() {
        encoder.order(last, join);
    }
}
