//! Replays that do not come to the race: what is said of them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::case::Case;
use crate::support::{predictor, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_controlled");

/// Records a program, and replays its race where it must go another way.
fn diverge(args: &[&str], input: &[u8]) {
    let case = Case { input, ..Case::new(Path::new(PROGRAM), args) };
    let (code, replayed, said) = case.replay_only_race();
    assert_eq!(code, 1, "{replayed}");
    let verdict = &replayed["verdict"];
    let cause = &verdict["cause"];
    assert_eq!(
        (&verdict["result"], &cause["kind"]),
        (&"diverged".into(), &"other_operation".into())
    );
    // It takes no lock this time.
    let expected = &verdict["expected"];
    assert_eq!((&expected["thread"], &expected["what"]), (&"t1".into(), &"acquire".into()));
    assert_eq!(expected["place"]["line"], line("the ordinary way"), "{verdict}");
    let found = &cause["found"];
    assert_eq!((&found["thread"], &found["what"]), (&"t1".into(), &"write".into()));
    // The steps before are those of the main thread, and the thread's begin.
    let step = verdict["step"].as_u64().unwrap();
    assert!((2..10).contains(&step), "{verdict}");
    let first = format!("diverged at step {step}: expected `t1 acquire ");
    assert!(said.starts_with(&first), "{said}");
    assert!(said.contains("found `t1 write "), "{said}");
    assert!(said.contains("besides its schedule, such as input or time"), "{said}");
}

fn line(remark: &str) -> usize {
    let source = fs::read_to_string("src/bin/controlled.rs").unwrap();
    source.lines().position(|line| line.ends_with(&format!("// {remark}"))).unwrap() + 1
}

#[test]
fn a_program_that_depends_on_its_input_diverges() {
    diverge(&["input"], b"lock\n");
}

#[test]
fn a_program_that_depends_on_the_time_diverges() {
    let folder = TempDir::new().unwrap();
    // The first run finds no file here, and all others do.
    let file = folder.path().join("last");
    diverge(&["time", file.to_str().unwrap()], b"");
}

#[test]
fn a_program_that_waits_where_nobody_sees_it_is_told_apart() {
    let case = Case::new(Path::new(PROGRAM), &["outside"]);
    let (code, replayed, said) = case.replay_only_race();
    assert_eq!(code, 1, "{replayed}");
    let verdict = &replayed["verdict"];
    let cause = &verdict["cause"];
    assert_eq!((&verdict["result"], &cause["kind"]), (&"diverged".into(), &"control_lost".into()));
    assert_eq!(cause["thread"], "t1", "{verdict}");
    assert!(said.contains("thread `t1` blocked outside of racelog, after "), "{said}");
    assert!(!said.contains("input"), "{said}");
}

/// Records a program with this input, and replays its race without: gives the cause, and the words.
fn cause(args: &[&str]) -> (Value, String) {
    let case = Case { input: b"lock\n", ..Case::new(Path::new(PROGRAM), args) };
    let (code, replayed, said) = case.replay_only_race();
    assert_eq!(code, 1, "{replayed}");
    (replayed["verdict"]["cause"].clone(), said)
}

#[test]
fn threads_that_were_not_recorded_are_named() {
    let (cause, said) = cause(&["stranger"]);
    assert_eq!(cause["kind"], "foreign_threads", "{said}");
    assert!(said.contains("was not started by recorded code"), "{said}");
    assert!(!said.contains("time"), "{said}");
}

#[test]
fn a_value_that_differs_is_named() {
    let (cause, said) = cause(&["value"]);
    assert_eq!(cause["kind"], "other_value", "{said}");
    assert_eq!(
        (&cause["predicted"]["wrote"], &cause["found"]["wrote"]),
        (&"4".into(), &"0".into())
    );
    assert_eq!(cause["access"]["place"]["line"], line("what was said"), "{said}");
    assert!(said.contains("`main` wrote 0 at tests/src/bin/controlled.rs"), "{said}");
    assert!(said.contains("(predicted: wrote 4)"), "{said}");
}

#[test]
fn a_run_that_ends_early_says_how() {
    let (exit, said) = cause(&["ends", "exits early"]);
    assert_eq!((&exit["kind"], &exit["code"]), (&"ended_early".into(), &3.into()), "{said}");
    assert!(said.contains("the program ended before: exit code 3"), "{said}");
    let (panic, said) = cause(&["ends", "panics early"]);
    assert_eq!(
        (&panic["kind"], &panic["then"]["panic"]),
        (&"ended_early".into(), &"0.1 is not 0".into())
    );
    assert!(
        said.contains("the program ended before: panic: 0.1 is not 0, in `main` at "),
        "{said}"
    );
}

#[test]
fn another_program_is_no_riddle() {
    let case = Case { input: b"lock\n", ..Case::new(Path::new(PROGRAM), &["input"]) };
    let folder = TempDir::new().unwrap();
    let trace = case.record(folder.path()).expect("it is recorded");
    let race = case.predict(&trace).remove(0);
    // The same program under another name, which goes the same other way.
    let copy = folder.path().join("copy");
    fs::copy(PROGRAM, &copy).unwrap();
    let other = Case::new(&copy, &["input"]);
    let (code, replayed) = other.replay(&trace, &race);
    assert_eq!((code, &replayed["verdict"]["cause"]["kind"]), (1, &"program_changed".into()));
    let (_, said, _) = other.replay_as(&trace, &race, "text");
    assert!(said.contains("is what was recorded: record it again"), "{said}");
    // It is no reason where there is nothing to explain.
    let case = Case { input: b"", ..case };
    let folder = TempDir::new().unwrap();
    let trace = case.record(folder.path()).expect("it is recorded");
    assert_eq!(Case::new(&copy, &["input"]).confirm_all(&trace).0, 1);
}

#[test]
fn what_cannot_be_replayed_is_an_error() {
    let program = Path::new(env!("CARGO_BIN_EXE_recorded"));
    let folder = TempDir::new().unwrap();
    let case = Case::new(program, &["race"]);
    let trace = case.record(folder.path()).unwrap();
    let race = case.predict(&trace).remove(0);
    let replay = |race: &str, words: &[&str]| {
        let mut command = predictor();
        let (code, out, err) =
            run(command.arg("replay").arg(&trace).arg(race).arg("--").args(words), b"");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        err
    };
    assert!(replay("1,2", &["true"]).contains("do not conflict"));
    assert!(replay(&race, &["true"]).contains("true: it has left no outcome"));
    assert!(replay(&race, &["no-such-program"]).contains("it cannot be started"));
}

#[test]
fn a_program_that_is_killed_before_its_race_is_an_error() {
    let case = Case::new(Path::new(PROGRAM), &["ends", "early"]);
    let case = Case { input: b"go on\n", ..case };
    let folder = TempDir::new().unwrap();
    let trace = case.record(folder.path()).expect("it is recorded");
    let race = case.predict(&trace).remove(0);
    let (code, out, err) = case.replay_as(&trace, &race, "text");
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("it was killed by signal 6 before what was predicted"), "{err}");
}
