//! The explorer, the checker and the machine under them, held against the definition.

use std::collections::BTreeSet;

use predictor::explore::explore;
use predictor::goal::race::conflict;
use predictor::goal::{Goal, GoalKind, GoalKinds, Pair};
use predictor::semantics::{Machine, Replay, State};
use predictor::trace::{EventId, Op, Trace};
use predictor::witness;
use racelog_tests::random_trace::{ALL, Family, Shape, loaded, rng, small_waiting_trace};
use rand::RngExt;

use crate::support::true_races;

/// Small traces of all kinds, most of them with something to race for.
fn small(seed: u64, events: usize) -> (String, Trace) {
    use Family::{Atomic, Branch, Condvar, Lock, Plain};
    let mut operations = vec![Plain, Plain, Plain, Lock, Branch];
    match seed % 4 {
        0 => operations.extend([Lock, Condvar, Condvar]),
        1 => operations.extend([Atomic, Atomic, Branch]),
        _ => operations.extend(ALL),
    }
    let foreign = usize::from(seed % 6 == 5);
    let shape = Shape {
        events,
        threads: 3 + (seed % 2) as usize + foreign,
        vars: 2,
        objects: 1 + (seed / 2 % 2) as usize,
        operations,
        locations: false,
        unrecorded: seed.is_multiple_of(5),
        foreign,
        waits: false,
    };
    loaded(seed, &shape)
}

#[test]
fn every_race_has_a_witness_that_the_checker_accepts() {
    let mut count = 0;
    for seed in 0..400 {
        let (text, trace) = small(seed, 16);
        for (goal, witness) in explore(&trace, GoalKinds::RACES, 1_000_000, |_| {}).found {
            let prefix: Vec<EventId> = witness.prefix().collect();
            assert_eq!(witness::check(&trace, &prefix, &goal), Ok(()), "seed {seed}\n{text}");
            count += 1;
        }
    }
    assert!(count > 300, "only {count} races in all");
}

#[test]
fn every_goal_has_a_witness_that_the_checker_accepts() {
    let mut count = [0; GoalKind::ALL.len()];
    for seed in 0..4_000 {
        let (text, trace) = small_waiting_trace(seed);
        for (goal, witness) in explore(&trace, GoalKinds::ALL, 400_000, |_| {}).found {
            let prefix: Vec<EventId> = witness.prefix().collect();
            assert_eq!(witness::check(&trace, &prefix, &goal), Ok(()), "seed {seed}\n{text}");
            count[goal.kind() as usize] += 1;
        }
    }
    // Checks and regions are in programs of their own: see `prediction`.
    let of_values =
        [GoalKind::FailedCheck, GoalKind::Panic, GoalKind::Atomicity, GoalKind::InferredAtomicity];
    let others = GoalKinds::ALL.iter().filter(|kind| !of_values.contains(kind));
    assert!(others.map(|kind| count[kind as usize]).all(|count| count > 4), "{count:?}");
}

/// Tries every sequence one by one, merging nothing, each from the start.
fn races_by_enumeration(
    machine: &Machine<'_>,
    sequence: &mut Vec<EventId>,
    races: &mut BTreeSet<Pair>,
) {
    let trace = machine.trace();
    let mut replay = Replay::of(machine, sequence);
    if sequence.iter().any(|event| replay.step(*event).is_err()) {
        return;
    }
    let next: Vec<EventId> =
        trace.threads().filter_map(|thread| machine.next(replay.state(), thread)).collect();
    for a in &next {
        for b in &next {
            let enabled = |event| machine.enabled(replay.state(), event).is_ok();
            if conflict(trace, *a, *b) && enabled(*a) && enabled(*b) {
                races.insert(Pair::new(*a, *b));
            }
        }
    }
    for event in next {
        sequence.push(event);
        races_by_enumeration(machine, sequence, races);
        sequence.pop();
    }
}

#[test]
fn the_explorer_finds_what_enumeration_finds() {
    for seed in 0..150 {
        let (text, trace) = small(seed, 9);
        let mut enumerated = BTreeSet::new();
        races_by_enumeration(&Machine::new(&trace), &mut Vec::new(), &mut enumerated);
        assert_eq!(true_races(&trace), enumerated, "seed {seed}\n{text}");
    }
}

/// A random execution: its events, with whomever each `notify_one` happened to wake.
fn random_walk(machine: &Machine<'_>, seed: u64) -> Vec<EventId> {
    let trace = machine.trace();
    let mut rng = rng(seed);
    let mut state: State = machine.initial();
    let mut walk = Vec::new();
    loop {
        let enabled: Vec<EventId> = trace
            .threads()
            .filter_map(|thread| machine.next(&state, thread))
            .filter(|event| machine.enabled(&state, *event).is_ok())
            .collect();
        if enabled.is_empty() || rng.random_bool(0.02) {
            return walk;
        }
        let event = enabled[rng.random_range(0..enabled.len())];
        let woken = match trace.op(event) {
            Op::NotifyOne { condvar, .. } => {
                let waiters: Vec<_> = state.waiters(condvar).collect();
                (!waiters.is_empty()).then(|| waiters[rng.random_range(0..waiters.len())])
            }
            _ => None,
        };
        machine.step(&mut state, event, woken).unwrap();
        walk.push(event);
    }
}

#[test]
fn whoever_was_woken_a_replay_finds_a_choice_that_works() {
    let mut notifications = 0;
    for seed in 0..600 {
        let operations = vec![Family::Condvar, Family::Condvar, Family::Condvar, Family::Lock];
        let shape = Shape { events: 60, threads: 6, objects: 2, operations, ..Shape::default() };
        let (text, trace) = loaded(seed, &shape);
        let machine = Machine::new(&trace);
        for walk_seed in 0..5 {
            let walk = random_walk(&machine, walk_seed);
            let mut replay = Replay::of(&machine, &walk);
            for event in &walk {
                let step = replay.step(*event);
                assert_eq!(step, Ok(()), "seed {seed}, walk {walk:?}, {event:?}\n{text}");
                notifications += u32::from(matches!(trace.op(*event), Op::NotifyOne { .. }));
            }
        }
    }
    assert!(notifications > 5000, "only {notifications}");
}

#[test]
fn fewer_branches_mean_no_fewer_races() {
    let mut gained = 0;
    for seed in 0..300 {
        use Family::{Branch, Lock, Plain};
        let operations = vec![Plain, Plain, Plain, Lock, Lock, Branch];
        let shape = Shape { events: 24, objects: 1, operations, ..Shape::default() };
        let (text, trace) = loaded(seed, &shape);
        let freer: String = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.replace(" branch", " fence") + "\n")
            .collect();
        let (fewer, more) = (true_races(&trace), true_races(&freer.parse().unwrap()));
        assert!(fewer.is_subset(&more), "seed {seed}\n{text}");
        gained += more.len() - fewer.len();
    }
    assert!(gained > 10, "only {gained} races more");
}

#[test]
fn the_limit_is_kept_and_said() {
    let (_, trace) = small(1, 16);
    let all = explore(&trace, GoalKinds::RACES, usize::MAX, |_| {});
    assert!(all.complete);
    let some = explore(&trace, GoalKinds::RACES, all.states / 2, |_| {});
    assert!(!some.complete);
    assert!(some.states <= all.states / 2);
    assert!(some.found.keys().all(|goal| all.found.contains_key(goal)));
    assert!(explore(&trace, GoalKinds::RACES, all.states, |_| {}).complete);
}

#[test]
fn the_checker_refuses_what_is_no_witness() {
    let trace: Trace = "\
        t1 acquire l\n\
        t1 write x 1\n\
        t1 release l\n\
        t2 acquire l\n\
        t2 write x 2\n\
        t2 release l\n\
        t3 read x 2\n"
        .parse()
        .unwrap();
    for (schedule, expected) in [
        (
            &[1, 4, 2, 5][..],
            "step 2, event 4: `t2 acquire l` cannot happen here: `l` is held by `t1`",
        ),
        (
            &[2, 5],
            "step 1, event 2: `t1 write x 1` cannot happen here: the next event of `t1` is 1",
        ),
        (
            &[1, 2, 2, 7],
            "step 3, event 2: `t1 write x 1` cannot happen here: the next event of `t1` is 3",
        ),
        (&[1, 9, 2, 7], "step 2, event 9: the trace has 7 events"),
        (&[1, 7], "step 2, event 7: the last two events do not conflict"),
        (
            &[1, 2, 3, 4, 5, 6, 7, 7, 2],
            "step 8, event 2: `t1 write x 1` cannot happen here: `t1` has no event left",
        ),
    ] {
        let schedule: Vec<EventId> =
            schedule.iter().map(|number| EventId::from_number(*number).unwrap()).collect();
        let [prefix @ .., a, b] = &schedule[..] else { panic!("two events are next") };
        let goal = Goal::Race(Pair::new(*a, *b));
        let refutation = witness::check(&trace, prefix, &goal).unwrap_err().to_string();
        assert!(refutation.starts_with(expected), "{refutation}");
    }
}
