//! Deadlocks, stalls and messages to nobody that are predicted from runs in which nothing happened:
//! every one of them is confirmed by a replay, each time. Their right twins have none. The programs
//! of `examples/src/hangs` are held to the same in `programs`; these are the other ways to wait.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use predictor::child::controlled::ControlledProgram;
use predictor::explore::explore;
use predictor::goal::{Goal, GoalKind, GoalKinds};
use predictor::replay::{Cause, Plan, Replayed};
use predictor::trace::Trace;
use predictor::trace::format::{Format, Source};
use predictor::witness::Witness;
use tempfile::TempDir;

use crate::support::{has_come_to, predictor, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hangs");

/// How often each schedule is followed.
const TIMES: usize = 10;

/// How many seeds are tried for a run that ends well.
const SEEDS: usize = 40;

/// What can be predicted besides races.
fn hangs() -> GoalKinds {
    GoalKinds::ALL.without(GoalKind::Race)
}

/// Records a run under control; gives its trace if it ends well. Mostly a thread goes on until it
/// waits.
fn record(args: &[&str], seed: usize, input: &[u8], folder: &Path) -> Option<Trace> {
    let seed = match seed % 2 {
        0 => format!("pct:1:1:{seed}"),
        _ => format!("random:{seed}"),
    };
    let mut command = Command::new(PROGRAM);
    command.args(args).env("RACELOG", "1").env("RACELOG_DIR", folder);
    let (code, ..) = run(command.env("RACELOG_CONTROL", seed), input);
    let path = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let trace = (code == 0).then(|| {
        let mut source = Source::open(&path, Some(Format::Binary)).unwrap();
        Trace::load(&mut source, |_| {}).unwrap()
    });
    fs::remove_file(path).unwrap();
    trace
}

/// All that is predicted from runs that end well, by all executions of each trace.
fn predict(args: &[&str], input: &[u8]) -> Vec<(Trace, Vec<Witness>)> {
    let folder = TempDir::new().unwrap();
    let traces = (0..SEEDS).filter_map(|seed| record(args, seed, input, folder.path()));
    let explored = traces.map(|trace| {
        let explored = explore(&trace, hangs(), 1_000_000, |_| {});
        assert!(explored.complete, "{args:?}");
        (trace, explored.found.into_values().collect())
    });
    let explored: Vec<(Trace, Vec<Witness>)> = explored.collect();
    assert!(!explored.is_empty(), "{args:?}: no run ends well");
    explored
}

/// The first trace of a program from which something of a kind is predicted.
fn predicted(args: &[&str], kind: GoalKind, input: &[u8]) -> (Trace, Vec<Witness>) {
    let has = |(_, found): &(Trace, Vec<Witness>)| found.iter().any(|it| it.goal.kind() == kind);
    let found = predict(args, input).into_iter().find(has);
    found.unwrap_or_else(|| panic!("{args:?}: no {}", kind.name()))
}

fn replay(args: &[&str], trace: &Trace, witness: &Witness) -> Replayed {
    let plan = Plan::new(trace, witness).expect("all threads are controlled");
    let words = [PROGRAM].iter().chain(args).map(OsString::from);
    let words: Vec<OsString> = words.collect();
    let program = ControlledProgram::new(&words, Duration::from_secs(60)).without_variables();
    let orders = program.replay(&plan, &plan.report_names(&[]));
    let orders = orders.unwrap_or_else(|problem| panic!("{args:?}: {problem}"));
    Replayed::new(plan.target(), orders, None)
}

/// Every goal that is predicted from a program is confirmed, each time; at least one is of a kind.
fn is_confirmed(name: &str, kind: GoalKind) {
    let (trace, found) = predicted(&[name], kind, b"");
    for witness in &found {
        for _ in 0..TIMES {
            let replayed = replay(&[name], &trace, witness);
            assert!(replayed.is_confirmed(), "{name}: {:?}: {replayed:#?}", witness.goal);
            assert!(has_come_to(&witness.goal, &replayed), "{name}: {replayed:#?}");
        }
    }
}

/// Nothing is predicted from the program without its bug.
fn has_a_right_twin(name: &str) {
    for (_, found) in predict(&[name, "right"], b"") {
        let goals: Vec<&Goal> = found.iter().map(|witness| &witness.goal).collect();
        assert!(goals.is_empty(), "{name}: {goals:?}");
    }
}

/// One test a program, so that they run side by side.
macro_rules! programs {
    ($($test:ident $name:literal $kind:ident;)*) => {
        $(#[test]
        fn $test() {
            is_confirmed($name, GoalKind::$kind);
            has_a_right_twin($name);
        })*
    };
}

programs! {
    a_once_that_takes_a_lock "once" Deadlock;
    a_lazy_value_that_takes_a_lock "lazy" Deadlock;
    a_join_under_a_lock "join" Deadlock;
    the_end_of_a_scope_under_a_lock "scope" Deadlock;
    a_wait_that_needs_its_lock_back "timed-wait" Deadlock;
    locks_of_parking_lot "parking-lot" Deadlock;
    a_reader_that_becomes_a_writer "upgrade" Deadlock;
    two_tokens_that_are_one "park" Stall;
    a_message_that_is_waited_for_under_a_lock "receive" Stall;
    a_barrier_under_a_lock "barrier" Stall;
    a_full_channel_of_crossbeam "crossbeam" Stall;
}

#[test]
fn a_program_that_goes_another_way_diverges() {
    let is = |name: &str, cause: &dyn Fn(&Cause) -> bool| {
        let (trace, found) = predicted(&[name], GoalKind::Deadlock, b"go\n");
        let replayed = replay(&[name], &trace, &found[0]);
        let [order] = &replayed.orders[..] else { panic!("{replayed:?}") };
        assert_eq!(order.code, Some(101), "it ends: {replayed:#?}");
        assert!(replayed.cause().is_some_and(cause), "{name}: {replayed:#?}");
    };
    is("said-order", &|cause| matches!(cause, Cause::Blocked(_)));
    // The lock that it is to wait for is free.
    is("said-lock", &|cause| matches!(cause, Cause::GoesOn { .. }));
}

/// A scope ends with all of its threads, though it waits for one after the other: for the first,
/// which has not begun, and so for the second, too.
#[test]
fn the_end_of_a_scope_waits_for_all_of_its_threads() {
    let steps = "step 0 store -\nstep 0 fork 0.1\nstep 0 store -\nstep 0 fork 0.2\n\
                 step 0.2 begin -\nstep 0.2 load -\nstep 0 acquire l\n";
    let follow = |ends: &str| {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("schedule");
        fs::write(&file, format!("racelog-schedule 4\n{steps}{ends}")).unwrap();
        let mut command = Command::new(PROGRAM);
        command.arg("scope").env("RACELOG_DIR", folder.path()).env("RACELOG_SCHEDULE", &file);
        let (code, _, err) = run(&mut command, b"");
        assert_eq!(code, 101, "{err}");
        fs::read_to_string(folder.path().join("schedule.outcome")).unwrap()
    };
    let outcome = follow("deadlock 0 leave -\ndeadlock 0.2 acquire l\n");
    assert!(outcome.contains("\nresult confirmed\n"), "{outcome}");
    assert!(outcome.contains("\nwait 0 ready end of scope @ "), "{outcome}");
    // The first thread could go on, so not all stand still.
    let outcome = follow("stall 0.2 acquire l\n");
    assert!(outcome.contains("\nresult diverged\n"), "{outcome}");
    assert!(outcome.contains("\nfound 0.1 begin"), "{outcome}");
}

#[test]
fn a_deadlock_is_replayed_by_the_numbers_of_its_events() {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("parking-lot").env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    let (code, ..) = run(command.env("RACELOG_CONTROL", "pct:1:1:0"), b"");
    assert_eq!(code, 0);
    let trace = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let mut command = predictor();
    command.args(["analyze", "--goals", "deadlocks", "--format", "json"]).arg(&trace);
    let (_, out, err) = run(&mut command, b"");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
    let events: Vec<String> =
        report["deadlocks"][0].as_array().unwrap().iter().map(ToString::to_string).collect();
    let events = events.join(",");
    let (code, witness, _) = run(predictor().arg("witness").arg(&trace).arg(&events), b"");
    assert_eq!(code, 0, "{witness}");
    let mut command = predictor();
    let (_, out, _) = run(command.arg("check").arg(&trace).arg("-"), witness.as_bytes());
    assert!(out.contains("is a deadlock"), "{out}");
    let mut command = predictor();
    command.arg("replay").arg(&trace).arg(&events).args(["--", PROGRAM, "parking-lot"]);
    let (code, out, err) = run(&mut command, b"");
    assert_eq!(code, 0, "{out}{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "confirmed", "{out}");
    assert!(lines[1].contains(" waits for `") && lines[1].contains(" holds it since "), "{out}");
    assert_eq!(lines.last(), Some(&"  none of them can go on, whatever others do"), "{out}");
    // The threads are started there, and nobody waits.
    let mut command = predictor();
    command.arg("replay").arg(&trace).arg("2,5").args(["--", PROGRAM, "parking-lot"]);
    let (code, _, err) = run(&mut command, b"");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("there is nothing to replay: (2, 5) is no deadlock"), "{err}");
}
