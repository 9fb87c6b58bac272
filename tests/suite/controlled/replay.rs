//! Witnesses of predicted races, replayed in the program.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use predictor::explore::explore;
use predictor::goal::GoalKinds;
use predictor::replay::thread_paths;
use predictor::trace::format::{Format, Source};
use predictor::trace::{EventId, Op, Trace};
use racelog::cell::Shared;
use racelog::trace::Object;
use tempfile::TempDir;

use crate::support::run;

const PROGRAM: &str = env!("CARGO_BIN_EXE_controlled");

/// Records a program under control, so that the test knows what is recorded.
fn record(args: &[&str], folder: &Path, seed: &str) -> Trace {
    let mut command = Command::new(PROGRAM);
    command.args(args).env("RACELOG", "1").env("RACELOG_DIR", folder);
    run(command.env("RACELOG_CONTROL", seed), b"");
    load(folder)
}

/// The one trace in the folder, which is then removed.
fn load(folder: &Path) -> Trace {
    let path = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let mut source = Source::open(&path, Some(Format::Binary)).unwrap();
    let trace = Trace::load(&mut source, |_| {}).unwrap();
    fs::remove_file(path).unwrap();
    trace
}

/// A witness as the program is given it.
fn schedule(trace: &Trace, witness: &[EventId], first: usize) -> String {
    let paths = thread_paths(trace);
    let mut printer = trace.printer();
    let mut text = "racelog-schedule 2\n".to_owned();
    if let Some(test) = &trace.metadata().test {
        let _ = writeln!(text, "test {test}");
    }
    let (steps, race) = witness.split_at(witness.len() - 2);
    let _ = writeln!(text, "first {}", paths[&trace.thread(race[first])]);
    for (word, events) in [("step", steps), ("race", race)] {
        for &event in events {
            let op = trace.op(event);
            let object = match op {
                Op::Read { var, .. }
                | Op::Write { var, .. }
                | Op::Load { var, .. }
                | Op::Store { var, .. } => printer.name(Object::Var(var)).to_owned(),
                Op::Acquire(lock) | Op::Release(lock) => {
                    printer.name(Object::Lock(lock)).to_owned()
                }
                _ => "-".to_owned(),
            };
            let place =
                printer.location(event).map(|place| format!(" @ {place}")).unwrap_or_default();
            let thread = &paths[&trace.thread(event)];
            let _ = writeln!(text, "{word} {thread} {} {object}{place}", op.keyword());
        }
    }
    text
}

/// Replays a schedule; gives the exit code and the outcome, line by line.
fn replay(args: &[&str], schedule: &str) -> (i32, Vec<String>) {
    replay_in(Path::new(PROGRAM), args, schedule)
}

fn replay_in(program: &Path, args: &[&str], schedule: &str) -> (i32, Vec<String>) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("schedule");
    fs::write(&file, schedule).unwrap();
    let mut command = Command::new(program);
    command.args(args).env("RACELOG_DIR", folder.path()).env("RACELOG_SCHEDULE", &file);
    let (code, _, err) = run(command.env_remove("RACELOG_CONTROL"), b"");
    let outcome = fs::read_to_string(folder.path().join("schedule.outcome"));
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}: {err}"));
    // What threads are called is for those who read it all.
    let is_told = |line: &&str| !line.starts_with("thread ") && !line.starts_with("program ");
    let lines = outcome.lines().filter(is_told);
    (code, lines.map(str::to_owned).collect())
}

/// A run in which all goes well, and a predicted race on the result.
fn predicted() -> (Trace, Vec<EventId>) {
    let folder = TempDir::new().unwrap();
    // The writer goes first all the way: its priority is the highest.
    for seed in 0..50 {
        let trace = record(&["late"], folder.path(), &format!("pct:1:1:{seed}"));
        let found = explore(&trace, GoalKinds::RACES, 1_000_000, |_| {});
        if let Some(witness) = found.found.values().next() {
            return (trace, witness.schedule().collect());
        }
    }
    panic!("no run has a race");
}

#[test]
fn a_predicted_race_is_confirmed_in_both_orders() {
    let (trace, witness) = predicted();
    let mut ends = Vec::new();
    for first in [0, 1] {
        let text = schedule(&trace, &witness, first);
        let (code, outcome) = replay(&["late"], &text);
        assert_eq!(outcome[..2], ["racelog-outcome 4", "result confirmed"], "{text}");
        let value = |thread: &str| {
            outcome.iter().find_map(|line| line.strip_prefix(&format!("value {thread} "))).unwrap()
        };
        assert_eq!(value("0.1"), "wrote 7");
        let then = outcome.iter().find_map(|line| line.strip_prefix("then ")).unwrap();
        ends.push((code, value("0.2").to_owned(), then.to_owned()));
    }
    ends.sort();
    let bad = (101, "read 0".to_owned(), "check the result is there".to_owned());
    assert_eq!(ends, [(0, "read 7".to_owned(), "nothing".to_owned()), bad]);
}

#[test]
fn a_schedule_that_the_program_does_not_follow_is_refuted() {
    let (trace, witness) = predicted();
    let text = schedule(&trace, &witness, 0);
    let lines: Vec<_> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("acquire")).unwrap();
    let wrong = lines[at].replace("acquire", "load");
    let (code, outcome) = replay(&["late"], &text.replace(lines[at], &wrong));
    assert_eq!(code, 101);
    assert_eq!(outcome[1], "result diverged");
    // Two lines stand before the first step.
    assert_eq!(outcome[2], format!("at {}", at - 1));
    assert_eq!(outcome[3..5], ["why other".to_owned(), wrong.replace("step", "expected")]);
    assert!(outcome[5].starts_with("found 0.") && outcome[5].contains(" acquire "), "{outcome:?}");
}

#[test]
fn a_program_that_ends_before_the_race_has_not_reached_it() {
    let (trace, witness) = predicted();
    let text = schedule(&trace, &witness, 0);
    let only_race: Vec<_> = text.lines().filter(|line| !line.starts_with("step")).collect();
    let (code, outcome) = replay(&["late"], &only_race.join("\n"));
    // Nobody spawns the threads, for no step says so.
    assert_eq!(code, 101);
    assert_eq!(outcome[1], "result diverged");
    assert_eq!(outcome[3], "why absent");
    // Who should have: it has come to its end by then, or waits for what it has not started.
    assert!(outcome[5].starts_with("stands 0 "), "{outcome:?}");
}

#[test]
fn a_thread_that_cannot_go_on_is_told_apart() {
    let (trace, witness) = predicted();
    let text = schedule(&trace, &witness, 0);
    // The writer never gives its lock back, so the reader does not get it.
    let kept: Vec<_> = text.lines().filter(|line| !line.contains("0.1 release")).collect();
    assert_eq!(kept.len(), text.lines().count() - 1);
    let (code, outcome) = replay(&["late"], &kept.join("\n"));
    assert_eq!((code, outcome[1].as_str()), (101, "result diverged"));
    assert_eq!(outcome[3], "why blocked");
    assert!(outcome[5].starts_with("stands 0.2 ready lock @ "), "{outcome:?}");
    assert!(outcome[6].starts_with("holds 0.1 @ "), "{outcome:?}");
}

/// A test with a race that does no harm in its natural order.
#[racelog::test]
fn a_racy_test() {
    let data = Shared::new(0);
    racelog::thread::scope(|scope| {
        let writer = scope.spawn(|| data.set(1));
        if !std::env::args().any(|word| word == "--exact") {
            // Nobody looks for the race: then there is none.
            writer.join().unwrap();
        }
        assert!(data.get() < 2);
    });
}

#[test]
fn a_race_in_a_test_is_replayed_in_that_test() {
    let program = std::env::current_exe().unwrap();
    let args = ["controlled::replay::a_racy_test", "--exact"];
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(&program);
    command.args(args).env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    assert_eq!(run(&mut command, b"").0, 0);
    let trace = load(folder.path());
    let found = explore(&trace, GoalKinds::RACES, 1_000_000, |_| {});
    let witness = found.found.values().next().expect("there is a race");
    let witness: Vec<EventId> = witness.schedule().collect();
    let mut values = Vec::new();
    for first in [0, 1] {
        let (code, outcome) = replay_in(&program, &args, &schedule(&trace, &witness, first));
        assert_eq!((code, outcome[1].as_str()), (0, "result confirmed"), "{outcome:?}");
        assert!(outcome.contains(&"then nothing".to_owned()), "{outcome:?}");
        values.extend(outcome.into_iter().filter(|line| line.starts_with("value 0 ")));
    }
    values.sort();
    assert_eq!(values, ["value 0 read 0", "value 0 read 1"]);
}
