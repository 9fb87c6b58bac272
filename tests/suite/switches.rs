//! Thread switches of witnesses, held against an exhaustive search for the fewest.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;

use predictor::goal::{self, Goal, GoalKind, GoalKinds};
use predictor::predict::{Options, Prediction, predict};
use predictor::semantics::{Machine, State};
use predictor::trace::{EventId, Op, Trace};
use predictor::witness;
use racelog::trace::ThreadId;
use racelog_tests::random_trace::{small_trace, small_waiting_trace};
use racelog_tests::random_values::small_value_trace;

use crate::support::repository;

/// Goals that a state alone tells.
const KINDS: GoalKinds =
    GoalKinds::ALL.without(GoalKind::Atomicity).without(GoalKind::InferredAtomicity);

/// How many states of a program are looked at.
const STATES: usize = 60_000;

/// With how few switches each goal of a trace is reached; none if the trace is too large. A search
/// through all states, each with the thread whose turn was last; those with fewer switches first.
fn fewest(trace: &Trace) -> Option<BTreeMap<Goal, usize>> {
    let machine = Machine::new(trace);
    let mut found: BTreeMap<Goal, usize> = BTreeMap::new();
    let mut seen: std::collections::HashSet<(State, Option<ThreadId>)> = Default::default();
    let mut queue: VecDeque<(State, Option<ThreadId>, usize)> = VecDeque::new();
    queue.push_back((machine.initial(), None, 0));
    while let Some((state, last, switches)) = queue.pop_front() {
        if !seen.insert((state.clone(), last)) {
            continue;
        }
        if seen.len() > STATES {
            return None;
        }
        let next: Vec<EventId> =
            trace.threads().filter_map(|thread| machine.next(&state, thread)).collect();
        goal::in_state(&machine, &state, &next, KINDS, |goal| {
            let events = goal.next();
            let goes_on = last.is_none_or(|last| {
                events.is_empty() || events.iter().any(|event| trace.thread(*event) == last)
            });
            let all = switches + events.len().saturating_sub(1) + usize::from(!goes_on);
            let least = found.entry(goal).or_insert(all);
            *least = all.min(*least);
        });
        for event in next.into_iter().filter(|event| machine.enabled(&state, *event).is_ok()) {
            let thread = trace.thread(event);
            let switch = last.is_some_and(|last| last != thread);
            let woken: Vec<Option<ThreadId>> = match trace.op(event) {
                Op::NotifyOne { condvar, .. } => state.waiters(condvar).map(Some).collect(),
                _ => Vec::new(),
            };
            for woken in if woken.is_empty() { vec![None] } else { woken } {
                let mut state = state.clone();
                machine.step(&mut state, event, woken).expect("it is enabled");
                let reached = (state, Some(thread), switches + usize::from(switch));
                if switch { queue.push_back(reached) } else { queue.push_front(reached) }
            }
        }
    }
    Some(found)
}

fn options(max_switches: Option<usize>) -> Options {
    Options {
        goals: KINDS,
        all_goals: true,
        goal_time: None,
        jobs: Some(1),
        max_switches,
        ..Options::default()
    }
}

fn switches(trace: &Trace, found: &Prediction) -> BTreeMap<Goal, usize> {
    let each = found.found.iter().map(|proven| {
        let prefix: Vec<EventId> = proven.witness.prefix().collect();
        assert_eq!(witness::check(trace, &prefix, proven.goal()), Ok(()));
        (proven.goal().clone(), proven.witness.switches(trace))
    });
    each.collect()
}

#[test]
fn witnesses_have_the_fewest_thread_switches() {
    let (mut compared, mut beyond) = (0, 0);
    for seed in 0..450 {
        let (text, trace) = match seed % 3 {
            0 => small_trace(seed),
            1 => small_waiting_trace(seed),
            _ => small_value_trace(seed),
        };
        let Some(truth) = fewest(&trace) else { continue };
        let found = predict(&trace, &options(None), |_, _| {});
        // Where values have to be computed the search may give up.
        if found.counts.unknown.total() == 0 {
            assert_eq!(switches(&trace, &found), truth, "seed {seed}\n{text}");
            compared += truth.len();
        }
        let most = seed as usize % 4;
        let found = predict(&trace, &options(Some(most)), |_, _| {});
        let unknown = found.counts.unknown;
        if unknown.total() == unknown.switches {
            let within = truth.iter().filter(|(_, switches)| **switches <= most);
            let within: BTreeSet<&Goal> = within.map(|(goal, _)| goal).collect();
            let bounded = switches(&trace, &found);
            let bounded: BTreeSet<&Goal> = bounded.keys().collect();
            assert_eq!(bounded, within, "seed {seed}, {most} switches\n{text}");
            assert_eq!(
                unknown.switches as usize,
                truth.len() - within.len(),
                "seed {seed}\n{text}"
            );
            beyond += unknown.switches;
        }
    }
    assert!(compared > 500 && beyond > 200, "{compared} compared, {beyond} need more switches");
}

/// The figures of the page that defines the goals.
#[test]
fn checks_of_the_paper_need_so_many_switches() {
    let cases = fs::read_to_string(repository().join("tests/cases/values.cases")).unwrap();
    for (name, check, switches) in
        [("A1 ", 13, 1), ("A2 ", 13, 1), ("A6 ", 10, 4), ("A8 ", 12, 4), ("A13 ", 20, 4)]
    {
        let case = cases.split("=== ").find(|case| case.starts_with(name)).expect("there is such");
        let trace: Trace = case.split_once('\n').expect("a trace").1.parse().unwrap();
        let options = Options { max_switches: None, ..options(None) };
        let found = predict(&trace, &options, |_, _| {});
        let is_check = |goal: &Goal| goal.kind() == GoalKind::FailedCheck;
        let checks = found.found.iter().filter(|proven| is_check(proven.goal()));
        let checks: Vec<(u64, usize)> = checks
            .map(|proven| (proven.goal().next()[0].number(), proven.witness.switches(&trace)))
            .collect();
        assert_eq!(checks, [(check, switches)], "{name}");
        let options = self::options(Some(switches - 1));
        let found = predict(&trace, &options, |_, _| {});
        assert!(!found.found.iter().any(|proven| is_check(proven.goal())), "{name}");
    }
}
