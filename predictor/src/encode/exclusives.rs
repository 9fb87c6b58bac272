//! Exclusive accesses keep their place among the accesses of their variable, and in mixed memory
//! all accesses do.

use super::Encoder;
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op};

pub(super) fn state(encoder: &mut Encoder<'_>, access: EventId) {
    let required = required(encoder, access);
    if required.is_empty() {
        return;
    }
    let included = encoder.included(access);
    for before in required {
        let condition = encoder.included(before);
        encoder.formula.implies(&[included], &[condition]);
        encoder.order(before, access);
    }
}

/// That an access may happen as far as exclusive ones go, beside another one: in mixed memory, that
/// one may be what it would have to wait for.
pub(super) fn allowed(encoder: &mut Encoder<'_>, access: EventId, other: EventId) -> Vec<Lit> {
    let mut before = required(encoder, access);
    let mixed = encoder.trace.op(access).var().is_some_and(|var| encoder.trace.is_mixed(var));
    if mixed && before.contains(&other) {
        before.retain(|before| *before != other);
        before.extend(required(encoder, other));
    }
    before.into_iter().map(|before| encoder.included(before)).collect()
}

/// The accesses that have to come first: for an exclusive one, all since the last exclusive one;
/// for any other, that last exclusive one.
fn required(encoder: &Encoder<'_>, access: EventId) -> Vec<EventId> {
    let op = encoder.trace.op(access);
    let Some(var) = op.var() else { return Vec::new() };
    let exclusive = encoder.index.exclusive_before(access);
    let start = encoder.window.start;
    let mut required: Vec<EventId> =
        exclusive.filter(|before| *before >= start).into_iter().collect();
    if matches!(op, Op::Exclusive { .. }) {
        let accesses = encoder.trace.events_of_var(var);
        let from = exclusive.map_or(start, |before| before.max(start));
        let first = accesses.partition_point(|other| *other < from);
        let last = accesses.partition_point(|other| *other < access);
        required.extend(accesses[first..last].iter().filter(|other| Some(**other) != exclusive));
    }
    required
}
