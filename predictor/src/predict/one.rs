//! One pair of a trace, by all that `predict` would try.

use std::time::Instant;

use super::{Decider, HeldLocks, HoldBack, Verdict};
use crate::encode::{Index, Window};
use crate::race::Pair;
use crate::semantics::Machine;
use crate::solve::SolverKind;
use crate::trace::Trace;
use crate::witness::Checker;

/// Decides whether a pair of conflicting accesses is a race: the solver first, whose witnesses are
/// small; then, if it does not find out in time, by holding a thread back.
pub fn decide_pair(
    trace: &Trace,
    pair: Pair,
    solver: SolverKind,
    deadline: Option<Instant>,
) -> Verdict {
    let (machine, index) = (Machine::new(trace), Index::new(trace));
    let (window, checker) = (Window::whole(&machine), Checker::new(&machine));
    let mut decider = Decider::new(trace, &index, &window, &checker, solver.build());
    let verdict = decider.decide(pair, deadline);
    if verdict != Verdict::Unknown {
        return verdict;
    }
    let held = HeldLocks::new(trace);
    let proven = HoldBack { trace, index: &index, held: &held }.prove(pair, &checker);
    proven.map_or(verdict, Verdict::Race)
}
