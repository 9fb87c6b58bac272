//! Prediction, held against the exhaustive explorer.

use std::collections::BTreeSet;

use predictor::explore::{explore, explore_model};
use predictor::generate::Plan;
use predictor::goal::{Goal, GoalKind, GoalKinds, Model};
use predictor::predict::{Counts, Options, Prediction, Proof, Proofs, predict};
use predictor::trace::format::{Format, Sink, Source};
use predictor::trace::{EventId, Trace};
use predictor::witness;
use racelog::trace::{End, Metadata};
use racelog_tests::random_trace::{Family, Shape, random_trace, small_trace, small_waiting_trace};
use racelog_tests::random_values::small_value_trace;

/// How many random programs the equality is tested on.
const PROGRAMS: u64 = 12_000;

fn all_goals() -> Options {
    Options {
        all_goals: true,
        goal_time: None,
        jobs: Some(1),
        // See `switches`.
        fewest_switches: false,
        ..Options::default()
    }
}

fn run(trace: &Trace, options: &Options) -> Prediction {
    let found = predict(trace, options, |_, _| {});
    assert_eq!(found.counts.unknown.unconfirmed, 0);
    for proven in &found.found {
        let prefix: Vec<EventId> = proven.witness.prefix().collect();
        assert_eq!(witness::check(trace, &prefix, proven.goal()), Ok(()));
    }
    found
}

fn goals(found: &Prediction) -> BTreeSet<Goal> {
    found.found.iter().map(|proven| proven.goal().clone()).collect()
}

/// All goals of all kinds that a small trace has; none if it is too large after all.
fn truth(trace: &Trace) -> Option<BTreeSet<Goal>> {
    let found = explore(trace, GoalKinds::ALL, 400_000, |_| {});
    found.complete.then(|| found.found.into_keys().collect())
}

/// A random program. Every other one has all that threads can wait for.
fn program(seed: u64) -> (String, Trace) {
    match seed % 2 {
        0 => small_trace(seed / 2),
        _ => small_waiting_trace(seed / 2),
    }
}

/// How many programs that say where values come from.
const VALUE_PROGRAMS: u64 = 3_000;

/// Whether a model has what the model before it has of a goal.
fn is_kept_by(goal: &Goal, model: Model) -> bool {
    match goal {
        // Without values no check is known to fail.
        Goal::FailedCheck(_) | Goal::Panic(_) => model.has_values(),
        Goal::Atomicity(_) => true,
        _ => model.has_all_synchronisation(),
    }
}

/// In every model, and each has what the one before has.
#[test]
fn prediction_equals_exploration_where_values_are_computed() {
    let mut found_of = [0; GoalKind::ALL.len()];
    let (mut compared, mut undecided) = (0, 0);
    for seed in 0..VALUE_PROGRAMS {
        let (text, trace) = small_value_trace(seed);
        let mut before: BTreeSet<Goal> = BTreeSet::new();
        for model in [Model::Concrete, Model::Symbolic, Model::Relaxed, Model::Nested] {
            let wanted = match model.has_all_synchronisation() {
                true => GoalKinds::ALL.with(GoalKind::AssumedAtomicity),
                // Without most of what threads wait for, nothing else is asked about.
                false => GoalKinds::NONE
                    .with(GoalKind::Atomicity)
                    .with(GoalKind::InferredAtomicity)
                    .with(GoalKind::AssumedAtomicity),
            };
            let explored = explore_model(&trace, model, wanted, 400_000, |_| {});
            if !explored.complete {
                break;
            }
            let truth: BTreeSet<Goal> = explored.found.into_keys().collect();
            for proofs in [Proofs::ALL, Proofs::NONE] {
                let options = Options { goals: wanted, model, proofs, ..all_goals() };
                let found = predict(&trace, &options, |_, _| {});
                compared += 1;
                // Where values have to be computed, the search may give up; it says so then.
                if found.counts.unknown.total() > 0 {
                    undecided += 1;
                    assert!(goals(&found).is_subset(&truth), "seed {seed}, {model}\n{text}");
                } else {
                    assert_eq!(goals(&found), truth, "seed {seed}, {model}, {proofs:?}\n{text}");
                }
            }
            before.retain(|goal| is_kept_by(goal, model));
            let lost: Vec<&Goal> = before.difference(&truth).collect();
            assert!(lost.is_empty(), "seed {seed}, {model}: {lost:?}\n{text}");
            truth.iter().for_each(|goal| found_of[goal.kind() as usize] += 1);
            before = truth;
        }
    }
    for kind in [
        GoalKind::Race,
        GoalKind::FailedCheck,
        GoalKind::Panic,
        GoalKind::Atomicity,
        GoalKind::InferredAtomicity,
        GoalKind::AssumedAtomicity,
    ] {
        assert!(found_of[kind as usize] > 60, "{found_of:?}");
    }
    assert!(undecided * 20 < compared, "{undecided} of {compared} are undecided");
}

#[test]
fn prediction_equals_exploration() {
    let (mut refuted, mut compared) = (0, 0);
    let mut by_solver = [0; GoalKind::ALL.len()];
    for seed in 0..PROGRAMS {
        let (text, trace) = program(seed);
        let Some(truth) = truth(&trace) else { continue };
        // Once as it is, and once with all left to the solver.
        for proofs in [Proofs::ALL, Proofs::NONE] {
            let found = run(&trace, &Options { proofs, ..all_goals() });
            assert_eq!(goals(&found), truth, "seed {seed}, {proofs:?}\n{text}");
            let counts = found.counts;
            assert_eq!(counts.unknown.total() + counts.covered, 0, "seed {seed}\n{text}");
            let decided = counts.proven.total() + counts.refuted.total();
            assert_eq!(decided, counts.candidates, "seed {seed}\n{text}");
            refuted += counts.refuted.solver;
            for proven in found.found.iter().filter(|proven| proven.proof == Proof::Solver) {
                by_solver[proven.goal().kind() as usize] += 1;
            }
        }
        compared += 1;
    }
    assert!(compared >= 10_000, "only {compared} programs");
    let least = [15_000, 40, 15, 1_000, 150];
    let are_enough = by_solver.iter().zip(least).all(|(found, least)| *found >= least);
    assert!(are_enough && refuted > 20_000, "{by_solver:?} found, {refuted} refuted");
}

#[test]
fn each_proof_by_itself_changes_nothing() {
    let mut decided = [0; Proofs::EACH.len()];
    for seed in PROGRAMS..PROGRAMS + 2_000 {
        let (text, trace) = program(seed);
        let Some(truth) = truth(&trace) else { continue };
        for (proofs, decided) in Proofs::EACH.into_iter().zip(&mut decided) {
            let found = run(&trace, &Options { proofs, ..all_goals() });
            assert_eq!(goals(&found), truth, "seed {seed}, {proofs:?}\n{text}");
            let counts = found.counts;
            *decided += counts.refuted.common_lock
                + counts.refuted.lock_histories
                + counts.refuted.flags
                + counts.refuted.must_order
                + counts.refuted.forced_order
                + counts.proven.hold_back;
            *decided += counts.refuted.closure.min(counts.proven.closure) + counts.proven.waiting;
        }
    }
    // Crossed histories and flags are rare here: tests of their own have more of them.
    let [common_lock, _, flags, others @ ..] = decided;
    assert!(common_lock > 50 && flags > 10, "{decided:?}");
    assert!(others.iter().all(|count| *count > 100), "{decided:?}");
}

/// Looks for all goals of small random programs with these families of operations, by one kind of
/// proof and the solver: they are the true ones. How many pairs the proof rules out, and how many
/// goals there are.
fn by_one_proof(
    proofs: Proofs,
    shape: impl Fn(u64) -> Shape,
    refuted: impl Fn(&Counts) -> u64,
) -> (u64, usize) {
    let (mut ruled_out, mut all) = (0, 0);
    for seed in 0..3_000 {
        let threads = 2 + seed as usize % 2;
        let shape = Shape { threads, locations: false, foreign: 0, waits: false, ..shape(seed) };
        let text = random_trace(seed, &shape);
        let trace: Trace = text.parse().expect("it is valid");
        let Some(truth) = truth(&trace) else { continue };
        let found = run(&trace, &Options { proofs, ..all_goals() });
        assert_eq!(goals(&found), truth, "seed {seed}\n{text}");
        ruled_out += refuted(&found.counts);
        all += truth.len();
    }
    (ruled_out, all)
}

/// Random programs rarely take locks crosswise, so these have little else.
#[test]
fn lock_histories_by_themselves_change_nothing() {
    let proofs = Proofs { histories: true, ..Proofs::NONE };
    let shape = |_| Shape {
        events: 26,
        vars: 1,
        objects: 2,
        operations: vec![Family::Plain, Family::Lock, Family::Lock, Family::Lock],
        unrecorded: false,
        ..Shape::default()
    };
    let (crossed, _) = by_one_proof(proofs, shape, |counts| counts.refuted.lock_histories);
    assert!(crossed > 30, "only {crossed} pairs were ruled out");
}

/// Random programs rarely take and leave flags, so these do little else.
#[test]
fn flags_by_themselves_change_nothing() {
    let proofs = Proofs { flags: true, ..Proofs::NONE };
    let shape = |seed: u64| Shape {
        events: 22,
        vars: 2,
        objects: 1,
        operations: vec![Family::Plain, Family::Atomic, Family::Atomic, Family::Atomic],
        unrecorded: seed.is_multiple_of(2),
        ..Shape::default()
    };
    let (claimed, races) = by_one_proof(proofs, shape, |counts| counts.refuted.flags);
    assert!(claimed > 300 && races > 300, "{claimed} pairs were ruled out, {races} are races");
}

/// Ten of twenty circles of locks are deadlocks, and nothing comes of them in the trace.
#[test]
fn of_lock_order_circles_the_deadlocks_are_found_and_no_others() {
    let (threads, deadlocks) = (8, 10);
    let plan = Plan {
        events: 30_000,
        locks: 100,
        threads,
        condvars: 0,
        near_races: 0,
        far_races: 0,
        deadlocks,
        false_circles: 10,
        ..Plan::default()
    };
    plan.check().expect("a valid plan");
    let mut sink = Sink::new(Vec::new(), Format::Binary, &Metadata::default(), false).unwrap();
    let dictionary = plan.make(|dictionary, item| sink.write(dictionary, item)).unwrap();
    let (bytes, _) = sink.finish(&dictionary, End::Clean).unwrap();
    let mut source = Source::of_bytes(bytes, Some(Format::Binary)).unwrap();
    let trace = Trace::load(&mut source, |_| {}).unwrap();
    let options = Options { goal_time: None, ..Options::default() };
    let found = run(&trace, &options);
    assert_eq!(found.counts.unknown.total(), 0);
    // Where the members of each deadlock take their second locks.
    let expected = (0..deadlocks as u32).map(|circle| {
        let members = 2 + circle % (threads as u32 / 2);
        (0..members).map(|member| 5 + 100 * circle + 12 * member).collect()
    });
    let expected: BTreeSet<Vec<u32>> = expected.collect();
    let places = found.found.iter().map(|proven| {
        assert_eq!(proven.goal().kind(), GoalKind::Deadlock);
        let places = proven.goal().next().iter().map(|event| trace.source_place(*event).unwrap());
        let mut lines: Vec<u32> = places
            .map(|place| {
                assert_eq!(place.file, "src/deadlocks.rs");
                place.line
            })
            .collect();
        lines.sort_unstable();
        lines
    });
    assert_eq!(places.collect::<BTreeSet<_>>(), expected);
    assert_eq!(found.found.len(), deadlocks, "one finding for each");
}

#[test]
fn windows_lose_goals_and_never_add_one() {
    let (mut found_in_all, mut true_in_all) = (0, 0);
    for seed in 0..2_000 {
        let (text, trace) = program(seed);
        let Some(truth) = truth(&trace) else { continue };
        for size in [4, 9] {
            let found = run(&trace, &Options { window: Some(size), ..all_goals() });
            let found = goals(&found);
            assert!(found.is_subset(&truth), "seed {seed}, window {size}\n{text}");
            found_in_all += found.len();
            true_in_all += truth.len();
        }
    }
    assert!(found_in_all * 4 > true_in_all, "windows find {found_in_all} of {true_in_all}");
}

#[test]
fn one_goal_stands_for_its_signature() {
    for seed in 0..1_000 {
        let (text, trace) = program(seed);
        let signature = |goal: &Goal| goal.signature(&trace);
        let all: BTreeSet<_> = goals(&run(&trace, &all_goals())).iter().map(signature).collect();
        let some = run(&trace, &Options { all_goals: false, ..all_goals() });
        let some: Vec<_> = goals(&some).iter().map(signature).collect();
        assert_eq!(some.len(), all.len(), "seed {seed}\n{text}");
        assert_eq!(some.into_iter().collect::<BTreeSet<_>>(), all, "seed {seed}\n{text}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for seed in 0..60 {
        let (_, trace) = program(seed);
        let with = |jobs| {
            let mut found = run(&trace, &Options { jobs: Some(jobs), ..all_goals() });
            found.found.iter_mut().for_each(|proven| proven.time = Default::default());
            found
        };
        assert_eq!(with(1), with(3), "seed {seed}");
    }
}

#[test]
fn prediction_equals_exploration_in_mixed_memory() {
    use racelog_tests::random_trace::{Family, Shape, random_trace};
    let (mut races, mut others) = (0, 0);
    for seed in 0..3_000_u64 {
        let operations =
            vec![Family::Plain, Family::Plain, Family::Lock, Family::Branch, Family::Atomic];
        let shape = Shape {
            events: 8 + (seed % 14) as usize,
            threads: 2 + (seed % 3) as usize,
            vars: 3,
            objects: 1,
            operations,
            locations: false,
            unrecorded: seed.is_multiple_of(4),
            foreign: 0,
            waits: false,
        };
        let mut text = random_trace(seed, &shape);
        for (name, memory) in [("x0", "[0x10+8]"), ("x1", "[0x14+4]"), ("x2", "[0x20+4]")] {
            text = text.replace(&format!(" {name} "), &format!(" {memory} "));
        }
        let trace: Trace = text.parse().unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        let Some(truth) = truth(&trace) else { continue };
        let found = run(&trace, &all_goals());
        assert_eq!(goals(&found), truth, "seed {seed}\n{text}");
        races += truth.len();
        others += found.counts.candidates as usize - truth.len();
    }
    assert!(races > 1_000 && others > 1_000, "{races} races, {others} others");
}

/// A wait without a condition: the notification may come too early.
const LOST: &str = "\
t0 fork t1
t0 fork t2
t1 acquire l
t1 wait c l
t2 acquire l
t2 notify_one c
t2 release l
t1 wake c l
t1 release l
t0 join t1
t0 join t2
";

/// The stalls of a trace, without cheap proofs, in windows of this size or as a whole.
fn stalls(text: &str, window: Option<usize>) -> Prediction {
    let trace: Trace = text.parse().expect("the trace is valid");
    let goals = GoalKinds::NONE.with(GoalKind::Stall);
    run(&trace, &Options { goals, window, proofs: Proofs::NONE, ..all_goals() })
}

#[test]
fn stalls_are_asked_for_until_there_is_none_left() {
    let found = stalls(LOST, None);
    assert_eq!(found.found.len(), 1);
    let counts = found.counts;
    assert_eq!((counts.candidates, counts.proven.solver, counts.refuted.solver), (2, 1, 1));
}

#[test]
fn without_the_ends_of_threads_there_are_no_stalls() {
    let in_windows = stalls(LOST, Some(6));
    assert!(in_windows.found.is_empty());
    assert_eq!((in_windows.counts.candidates, in_windows.counts.unknown.window), (1, 1));
    let cut_off = stalls(&format!("#racelog end cut-off\n{LOST}"), None);
    assert_eq!((cut_off.found.len(), cut_off.counts.candidates), (0, 0));
}

#[test]
fn where_no_thread_waits_for_anybody_nothing_is_asked() {
    let text = "t0 fork t1\nt1 acquire l\nt1 release l\nt0 acquire l\nt0 join t1\nt0 release l\n";
    assert_eq!(stalls(text, None).counts.candidates, 0);
}

/// A condvar on which so much happens that the solver is not asked.
#[test]
fn stalls_that_are_not_looked_for_are_counted() {
    let mut text = "t0 fork t1\n".to_owned();
    for _ in 0..100 {
        text += "t1 acquire l\nt1 wait c l\nt0 notify_one c t1\nt1 wake c l\nt1 release l\n";
    }
    let found = stalls(&text, None);
    assert_eq!((found.found.len(), found.counts.unknown.limit), (0, 1));
    // Held up before its wait, `t1` misses its notification.
    let trace: Trace = text.parse().expect("the trace is valid");
    let proofs = Proofs { waiting: true, ..Proofs::NONE };
    let goals = GoalKinds::NONE.with(GoalKind::Stall);
    let found = run(&trace, &Options { goals, proofs, ..all_goals() });
    assert!(!found.found.is_empty() && found.counts.unknown.limit == 1);
    assert!(found.found.iter().all(|proven| proven.proof == Proof::Waiting));
}
