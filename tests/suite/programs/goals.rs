//! What else than races can happen to the programs: it is predicted from runs in which nothing
//! happened, and happens when it is replayed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use predictor::child::controlled::ControlledProgram;
use predictor::explore::explore;
use predictor::goal::{Goal, GoalKind, GoalKinds};
use predictor::predict::{Decided, Options, Prediction, Proven, decide_goal, predict};
use predictor::replay::{Plan, Replayed};
use predictor::solve::SolverKind;
use predictor::trace::Trace;
use racelog::trace::End;
use racelog_examples::{GoalKind as KnownKind, Origin, Place, Program, programs};

use super::{EXPLORED, is_deadlock, run_recorded};
use crate::support::{example_program, has_come_to};

/// How often each schedule is followed.
const TIMES: usize = 5;

/// Whether the threads of a program come in turns, so that nothing happens when it is run.
fn has_turns(program: &Program) -> bool {
    matches!(program.origin, Origin::Hangs | Origin::Steps)
}

/// Whether schedules can lead a program to goals of a kind.
fn can_be_replayed(kind: GoalKind) -> bool {
    !matches!(kind, GoalKind::Atomicity | GoalKind::InferredAtomicity | GoalKind::AssumedAtomicity)
}

/// The kind of a goal, and where its threads then stand, sorted.
type GoalPlaces = (GoalKind, Vec<String>);

/// What is predicted besides races, without limits of time.
fn find(trace: &Trace) -> Prediction {
    let goals = GoalKinds::ALL.without(GoalKind::Race);
    predict(trace, &Options { goals, goal_time: None, ..Options::default() }, |_, _| {})
}

/// The deadlocks, stalls and sends to nobody that a run shows.
fn known_goals(program: &Program) -> BTreeSet<GoalPlaces> {
    let all = program.expected_goals().unwrap_or_else(|error| panic!("{error}"));
    let provable = program.goals.iter().zip(all).filter(|(goal, _)| goal.unproven.is_none());
    let places = provable.map(|(goal, places)| {
        let kind = match goal.kind {
            KnownKind::Deadlock => GoalKind::Deadlock,
            KnownKind::FairDeadlock => GoalKind::FairDeadlock,
            KnownKind::Stall => GoalKind::Stall,
            KnownKind::SendToNobody => GoalKind::SendToNobody,
            KnownKind::FailedCheck => GoalKind::FailedCheck,
            KnownKind::Panic => GoalKind::Panic,
            KnownKind::Atomicity => GoalKind::Atomicity,
            KnownKind::InferredAtomicity => GoalKind::InferredAtomicity,
        };
        let mut places: Vec<String> = places.iter().map(Place::to_string).collect();
        places.sort();
        (kind, places)
    });
    places.collect()
}

fn goal_places<'g>(trace: &Trace, goals: impl Iterator<Item = &'g Goal>) -> BTreeSet<GoalPlaces> {
    let mut printer = trace.printer();
    let places = goals.map(|goal| {
        let mut places: Vec<String> = goal
            .next()
            .iter()
            .map(|event| {
                let place = printer.location(*event).expect("what waits knows its place");
                place.rsplit_once(':').expect("a place has a column").0.to_owned()
            })
            .collect();
        places.sort();
        (goal.kind(), places)
    });
    places.collect()
}

/// What stands in one list and not in the other.
fn other_goals(
    what: &str,
    left: &BTreeSet<GoalPlaces>,
    right: &BTreeSet<GoalPlaces>,
) -> Vec<String> {
    let name = |(kind, places): &GoalPlaces| format!("{what}: {} {places:?}", kind.name());
    left.difference(right).map(name).collect()
}

#[test]
fn what_else_can_happen_to_a_program_is_found_and_nothing_else() {
    let (mut problems, mut explored, mut wrong) = (Vec::new(), 0, 0);
    let kinds = GoalKinds::ALL.without(GoalKind::Race);
    for program in programs() {
        let name = program.name;
        // Nothing happens in the run that is looked at.
        let seed = (!has_turns(program)).then_some(program.schedule);
        let (trace, err) = run_recorded(program, seed);
        assert!(!is_deadlock(&err), "{name} hangs: choose another schedule");
        let known = known_goals(program);
        wrong += usize::from(!known.is_empty());
        let prediction = find(&trace);
        assert_eq!(prediction.counts.unknown.total(), 0, "{name}");
        let found = goal_places(&trace, prediction.found.iter().map(Proven::goal));
        problems.extend(other_goals(&format!("{name}: missed"), &known, &found));
        problems.extend(other_goals(&format!("{name}: too much"), &found, &known));
        if trace.len() <= EXPLORED.0 {
            let exploration = explore(&trace, kinds, EXPLORED.1, |_| {});
            if exploration.complete {
                explored += 1;
                let found = goal_places(&trace, exploration.found.keys());
                problems.extend(other_goals(&format!("{name}: not explored"), &known, &found));
                problems.extend(other_goals(&format!("{name}: explored"), &found, &known));
            }
        } else {
            assert!(!has_turns(program), "{name} is too large to be explored");
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(explored >= 30 && wrong >= 14, "{explored} explored, {wrong} wrong");
}

/// A run in which nothing happens is what prediction begins with.
#[test]
fn programs_whose_threads_come_in_turns_end() {
    for program in programs().filter(|program| has_turns(program)) {
        for _ in 0..5 {
            let (trace, err) = run_recorded(program, None);
            assert_eq!(err, "", "{}", program.name);
            assert_eq!(trace.end(), End::Clean, "{}", program.name);
        }
    }
}

/// Runs a program by the schedule that leads to a goal.
fn replay(program: &Program, trace: &Trace, goal: &Goal) -> Replayed {
    // The solver's witness, as `predictor replay` takes it: it has only what the goal needs.
    let decided = decide_goal(trace, goal, SolverKind::default(), None);
    let Decided::Proven(witness) = decided else {
        panic!("{}: {goal:?} is not proven: {decided:?}", program.name);
    };
    let plan = Plan::new(trace, &witness).expect("all threads are controlled");
    let words = [OsString::from(example_program("example")), OsString::from(program.name)];
    let program = ControlledProgram::new(&words, Duration::from_secs(60)).without_variables();
    let orders = program.replay(&plan, &plan.report_names(&[]));
    let orders = orders.unwrap_or_else(|problem| panic!("{goal:?}: {problem}"));
    Replayed::new(plan.target(), orders, None)
}

/// All that can be proven of the programs that hang or whose steps come apart, from one run of each
/// in which nothing happened: the program is driven there, and the scheduler says that none of its
/// threads can go on, or that it has panicked.
#[test]
fn what_can_happen_to_programs_whose_threads_come_in_turns_happens_when_it_is_replayed() {
    let (mut problems, mut confirmed) = (Vec::new(), BTreeSet::new());
    for program in programs().filter(|program| has_turns(program)) {
        let name = program.name;
        let (trace, err) = run_recorded(program, None);
        assert_eq!((err.as_str(), trace.end()), ("", End::Clean), "{name}");
        let found = find(&trace);
        let goals = found.found.iter().map(Proven::goal);
        for goal in goals.filter(|goal| goal.aim().is_some()) {
            for _ in 0..TIMES {
                let replayed = replay(program, &trace, goal);
                if !replayed.is_confirmed() || !has_come_to(goal, &replayed) {
                    problems.push(format!("{name}: {goal:?}: {replayed:#?}"));
                    break;
                }
            }
        }
        let goals = found.found.iter().map(Proven::goal).filter(|goal| goal.aim().is_some());
        let places = goal_places(&trace, goals);
        confirmed.extend(places.into_iter().map(|places| (name, places)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let known = programs().filter(|program| has_turns(program));
    let known = known.flat_map(|program| {
        let aimed = known_goals(program).into_iter().filter(|(kind, _)| can_be_replayed(*kind));
        aimed.map(move |places| (program.name, places))
    });
    assert_eq!(confirmed, known.collect());
}
