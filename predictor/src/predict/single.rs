//! One goal of a trace, by all that `predict` would try.

use std::time::Instant;

use super::switches::{LONGEST, ask_for_fewer};
use super::{Closed, Closures, Decided, Decider, HoldBack, MustOrder, PATIENCE, Waiting, Writes};
use crate::encode::Window;
use crate::goal::Goal;
use crate::index::Index;
use crate::solve::SolverKind;
use crate::trace::Trace;
use crate::witness::Checker;

/// Decides whether some execution reaches a goal: the solver first, whose witnesses are small, told
/// what the goal forces; then, if it does not find out in time, by the cheap proofs.
pub fn decide_goal(
    trace: &Trace,
    goal: &Goal,
    solver: SolverKind,
    deadline: Option<Instant>,
) -> Decided {
    let (index, checker) = (Index::new(trace), Checker::new(trace));
    let window = Window::whole(checker.machine());
    let writes = Writes::new(trace);
    let plain = MustOrder::plain(trace, &index);
    let by_values = plain.by_values(trace, &index, &writes);
    let orders = [Some(&by_values), None];
    let closures = Closures { trace, index: &index, writes: &writes, orders };
    let (forced, closed) = match closures.decide(goal, &checker, deadline) {
        Closed::Impossible => return Decided::Impossible,
        Closed::Proven(witness) => (None, Some(witness)),
        Closed::Open(forced) => (Some(forced), None),
        Closed::Unfinished => (None, None),
    };
    let mut decider = Decider::new(trace, &index, &window, &checker, solver.build());
    match decider.decide(goal, forced.as_ref(), deadline) {
        Decided::Unknown => {}
        Decided::Proven(witness) if trace.len() <= LONGEST => {
            return Decided::Proven(ask_for_fewer(&mut decider, trace, witness, deadline));
        }
        decided => return decided,
    }
    let by_other_proofs = || {
        let hold_back = HoldBack { trace, index: &index };
        // The time is up, but that much there is for what takes no more than a second.
        let waiting = Waiting { steps: PATIENCE, deadline: None };
        let waits = || waiting.prove(goal.as_race()?, &checker).0;
        hold_back.prove(goal, &checker).or_else(waits)
    };
    closed.or_else(by_other_proofs).map_or(Decided::Unknown, Decided::Proven)
}
