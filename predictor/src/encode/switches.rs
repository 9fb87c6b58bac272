//! Thread switches: a prefix in so many stretches, each of one thread.
//!
//! Chao Wang, Sudipta Kundu, Rhishikesh Limaye, Malay Ganai and Aarti Gupta, "Symbolic Predictive
//! Analysis for Concurrent Programs" bound how often a schedule goes from one thread to another: most
//! errors need few switches. Here the bound is a proposition that a question may assume, so what is
//! refuted without it is refuted for good.
//!
//! Between two stretches is a *boundary*: a place in the total order, like an event, that no prefix
//! has. Which stretch an event belongs to is a matter of its order with the boundaries, and an event
//! belongs to a stretch only if that is its thread's turn. A stretch is the turn of one thread.

use racelog::trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Encoder;
use crate::solve::formula::Lit;
use crate::trace::EventId;

/// What has been said of prefixes in so many stretches.
#[derive(Debug)]
pub(super) struct Bound {
    /// In how many stretches, and whose turn the last one may be.
    stretches: usize,
    last: Vec<ThreadId>,
    /// That the prefix is such a one.
    asked: Lit,
    boundaries: Vec<EventId>,
    /// For each stretch, that it is a thread's turn.
    turns: Vec<FxHashMap<ThreadId, Lit>>,
    stated: FxHashSet<EventId>,
}

/// That the prefix has no more than so many stretches, the last of which is a turn of one of these
/// threads.
pub(super) fn within(encoder: &mut Encoder<'_>, stretches: usize, last: &[ThreadId]) -> Lit {
    let known = encoder.bounds.iter();
    let mut known = known.filter(|bound| bound.stretches == stretches && bound.last == last);
    if let Some(bound) = known.next() {
        return bound.asked;
    }
    // Places in the order that no event of the trace has.
    let used: usize = encoder.bounds.iter().map(|bound| bound.boundaries.len()).sum();
    let first = encoder.trace.len() + used;
    let boundaries: Vec<EventId> =
        (first..first + stretches.saturating_sub(1)).map(EventId::from_index).collect();
    for pair in boundaries.windows(2) {
        encoder.formula.order(pair[0], pair[1]);
    }
    let asked = encoder.formula.proposition(false);
    encoder.bounds.push(Bound {
        stretches,
        last: last.to_vec(),
        asked,
        boundaries,
        turns: vec![FxHashMap::default(); stretches],
        stated: FxHashSet::default(),
    });
    let trace = encoder.trace;
    for thread in trace.threads() {
        let reached = encoder.window.state.position(thread)..encoder.reached[thread.index()];
        for event in &trace.events_of_thread(thread)[reached] {
            state(encoder, *event);
        }
    }
    asked
}

/// States of an event that may be in the prefix which stretches it may belong to.
pub(super) fn state(encoder: &mut Encoder<'_>, event: EventId) {
    for at in 0..encoder.bounds.len() {
        if encoder.bounds[at].stated.insert(event) {
            state_in(encoder, at, event);
        }
    }
}

fn state_in(encoder: &mut Encoder<'_>, at: usize, event: EventId) {
    let (thread, included) = (encoder.trace.thread(event), encoder.included(event));
    let Bound { stretches, asked, .. } = encoder.bounds[at];
    if stretches == 0 {
        encoder.formula.clause(&[!asked, !included]);
    }
    for stretch in 0..stretches {
        let mut clause = vec![!asked, !included];
        let boundaries = &encoder.bounds[at].boundaries;
        let (start, end) =
            (stretch.checked_sub(1).map(|before| boundaries[before]), boundaries.get(stretch));
        let end = end.copied();
        clause.extend(start.map(|start| encoder.formula.before(event, start)));
        clause.extend(end.map(|end| encoder.formula.before(end, event)));
        if stretch + 1 < stretches || encoder.bounds[at].last.contains(&thread) {
            clause.push(turn(encoder, at, stretch, thread));
        }
        encoder.formula.clause(&clause);
    }
}

/// That a stretch is a thread's turn, and nobody else's.
fn turn(encoder: &mut Encoder<'_>, at: usize, stretch: usize, thread: ThreadId) -> Lit {
    let turns = &mut encoder.bounds[at].turns[stretch];
    if let Some(turn) = turns.get(&thread) {
        return *turn;
    }
    let turn = encoder.formula.proposition(false);
    for other in turns.values() {
        encoder.formula.clause(&[!turn, !*other]);
    }
    turns.insert(thread, turn);
    turn
}
