//! The detectors of deadlocks, held against the explorer.

use std::collections::BTreeSet;

use predictor::detect::Scope;
use predictor::detect::deadlock::{FoundCircles, lock_order, sync_preserving};
use predictor::explore::explore;
use predictor::goal::{Circle, Goal, GoalKind, GoalKinds};
use predictor::trace::Trace;
use racelog_tests::random_trace::small_waiting_trace;

/// How many random programs are looked at.
const PROGRAMS: u64 = 6_000;

const DEADLOCKS: GoalKinds = GoalKinds::ALL
    .without(GoalKind::Race)
    .without(GoalKind::FairDeadlock)
    .without(GoalKind::Stall)
    .without(GoalKind::SendToNobody)
    .without(GoalKind::FailedCheck)
    .without(GoalKind::Panic)
    .without(GoalKind::Atomicity)
    .without(GoalKind::InferredAtomicity);

/// All deadlocks of a small trace; none if it is too large after all.
fn truth(trace: &Trace) -> Option<BTreeSet<Circle>> {
    let found = explore(trace, DEADLOCKS, 400_000, |_| {});
    let circle = |goal: Goal| match goal {
        Goal::Deadlock(circle) => Some(circle),
        Goal::Race(_)
        | Goal::Stall(_)
        | Goal::SendToNobody(_)
        | Goal::FailedCheck(_)
        | Goal::Panic(_)
        | Goal::Atomicity(_) => None,
    };
    found.complete.then(|| found.found.into_keys().filter_map(circle).collect())
}

fn complete(found: FoundCircles) -> BTreeSet<Circle> {
    assert!(!found.is_cut);
    found.circles.into_iter().collect()
}

/// What the threads of a circle are about to do, whenever they do it.
fn operations(trace: &Trace, circle: &Circle) -> BTreeSet<String> {
    let mut printer = trace.printer();
    let event = |event: &predictor::trace::EventId| {
        format!("{:?} {}", trace.thread(*event), printer.operation(*event))
    };
    circle.events().iter().map(event).collect()
}

#[test]
fn what_keeps_the_order_of_locks_is_a_deadlock_and_every_deadlock_is_a_lock_order_circle() {
    let (mut kept, mut all, mut suspected) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let (text, trace) = small_waiting_trace(seed);
        let Some(truth) = truth(&trace) else { continue };
        let preserving = complete(sync_preserving(&trace, Scope::AllPairs));
        assert!(preserving.is_subset(&truth), "seed {seed}: {preserving:?}, {truth:?}\n{text}");
        let circles = complete(lock_order(&trace, Scope::AllPairs));
        let suspects: BTreeSet<_> = circles.iter().map(|it| operations(&trace, it)).collect();
        for circle in &truth {
            let operations = operations(&trace, circle);
            assert!(suspects.contains(&operations), "seed {seed}: {operations:?}\n{text}");
        }
        kept += preserving.len();
        all += truth.len();
        suspected += circles.len();
    }
    assert!(kept > 20 && kept < all && all < 4 * suspected, "{kept}, {all}, {suspected}");
}
