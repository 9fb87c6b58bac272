//! One pair of a trace, by all that `predict` would try.

use std::time::Instant;

use super::{
    Closed, Closures, Decider, HeldLocks, HoldBack, MustOrder, PATIENCE, Verdict, Waiting, Writes,
};
use crate::encode::{Index, Window};
use crate::race::Pair;
use crate::semantics::Machine;
use crate::solve::SolverKind;
use crate::trace::Trace;
use crate::witness::Checker;

/// Decides whether a pair of conflicting accesses is a race: the solver first, whose witnesses are
/// small, told what the race would force; then, if it does not find out in time, by the cheap proofs.
pub fn decide_pair(
    trace: &Trace,
    pair: Pair,
    solver: SolverKind,
    deadline: Option<Instant>,
) -> Verdict {
    let (machine, index) = (Machine::new(trace), Index::new(trace));
    let (window, checker) = (Window::whole(&machine), Checker::new(&machine));
    let (held, writes) = (HeldLocks::new(trace), Writes::new(trace));
    let plain = MustOrder::plain(trace, &index);
    let by_values = plain.by_values(trace, &index, &held, &writes);
    let orders = [Some(&by_values), None];
    let closures = Closures { trace, index: &index, writes: &writes, orders };
    let (forced, closed) = match closures.decide(pair, &checker, deadline) {
        Closed::NoRace => return Verdict::NoRace,
        Closed::Race(witness) => (None, Some(witness)),
        Closed::Open(forced) => (Some(forced), None),
        Closed::Unfinished => (None, None),
    };
    let mut decider = Decider::new(trace, &index, &window, &checker, solver.build());
    match decider.decide(pair, forced.as_ref(), deadline) {
        Verdict::Unknown => {}
        verdict => return verdict,
    }
    let held_back = || HoldBack { trace, index: &index, held: &held }.prove(pair, &checker);
    // The time is up, but that much there is for what takes no more than a second.
    let waited = || Waiting { steps: PATIENCE, deadline: None }.prove(pair, &checker).0;
    closed.or_else(held_back).or_else(waited).map_or(Verdict::Unknown, Verdict::Race)
}
