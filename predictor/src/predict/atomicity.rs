//! Atomicity violations: which could be some.

use std::collections::BTreeMap;

use super::MustOrder;
use crate::goal::atomicity::{is_violation, pairs};
use crate::goal::{Goal, Signature, Violation};
use crate::trace::Trace;

/// So many candidates are looked at.
const MOST: usize = 1 << 20;

/// Candidates by their places in the program, and how many were left out for they were too many.
#[derive(Debug, Default)]
pub(super) struct Violations {
    pub(super) by_place: Vec<Vec<Goal>>,
    pub(super) left_out: u64,
    /// How many an order that all executions share rules out.
    pub(super) ordered: u64,
}

/// The triples of accesses that no serial order explains, and no order rules out.
pub(super) fn candidates(trace: &Trace, orders: [Option<&MustOrder>; 2]) -> Violations {
    let mut found = Violations::default();
    let mut places: BTreeMap<Signature, Vec<Goal>> = BTreeMap::new();
    let mut count = 0;
    for (first, lasts) in pairs(trace) {
        let Some(var) = trace.op(first).var() else { continue };
        for last in lasts {
            for between in trace.events_of_var(var) {
                if !is_violation(trace, first, *between, last) {
                    continue;
                }
                let is_before =
                    |a, b| orders.into_iter().flatten().any(|order| order.is_before(trace, a, b));
                if is_before(*between, first) || is_before(last, *between) {
                    found.ordered += 1;
                    continue;
                }
                count += 1;
                if count > MOST {
                    found.left_out += 1;
                    continue;
                }
                let goal = Goal::Atomicity(Violation::new(first, *between, last));
                places.entry(goal.signature(trace)).or_default().push(goal);
            }
        }
    }
    found.by_place = places.into_values().collect();
    found
}
