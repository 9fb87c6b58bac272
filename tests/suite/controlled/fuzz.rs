//! Many runs, directed to races.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{predictor, run};

const CONTROLLED: &str = env!("CARGO_BIN_EXE_controlled");
const INSTRUMENTED: &str = env!("CARGO_BIN_EXE_instrumented");

/// The line of a source that has this text, as a place.
fn place(path: &str, text: &str) -> String {
    let source = fs::read_to_string(path).unwrap();
    let line = source.lines().position(|line| line.contains(text)).unwrap() + 1;
    format!("{path}:{line}")
}

fn late() -> String {
    let place = |text| place("src/bin/controlled.rs", text);
    format!("{},{}", place("RESULT.set"), place("RESULT.get"))
}

fn command(options: &[&str], words: &[&str]) -> Command {
    let mut command = predictor();
    command.args(["fuzz", "--format", "json"]).args(options).arg("--").args(words);
    command
}

/// The exit code, and what is said of each pair.
fn fuzz(options: &[&str], words: &[&str]) -> (i32, Vec<Value>) {
    let (code, out, err) = run(&mut command(options, words), b"");
    (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}")))
}

fn count(tally: &Value, what: &str) -> u64 {
    tally[what].as_u64().unwrap_or_else(|| panic!("no {what}: {tally}"))
}

#[test]
fn a_harmful_race_is_found_and_its_seed_finds_it_again() {
    let late = late();
    let (code, tallies) = fuzz(&["--pair", &late, "--runs", "40"], &[CONTROLLED, "late"]);
    assert_eq!((code, tallies.len()), (1, 1));
    let tally = &tallies[0];
    assert_eq!((count(tally, "runs"), &tally["places"]), (40, &Value::from(late.clone())));
    assert!(count(tally, "hits") >= 10 && count(tally, "harmful") >= 1, "{tally}");
    let check = Value::from("the result is there");
    assert_eq!(tally["harmful_example"]["then"]["check"], check, "{tally}");
    for (example, harmful) in [("harmful_example", 1), ("harmless_example", 0)] {
        let seed = tally[example]["seed"].to_string();
        let options = ["--pair", &late, "--runs", "1", "--seed", &seed];
        let (code, again) = fuzz(&options, &[CONTROLLED, "late"]);
        let counts = (count(&again[0], "hits"), count(&again[0], "harmful"));
        assert_eq!((code, counts), (1, (1, harmful)), "{again:?}");
    }
}

#[test]
fn a_seed_decides_every_event() {
    let late = late();
    for options in [
        &["--pair", &late, "--seed", "7"][..],
        &["--strategy", "random", "--seed", "7"],
        &["--strategy", "pct", "--seed", "8", "--pair", &late],
    ] {
        let record = || {
            let folder = TempDir::new().unwrap();
            let one = [&["--runs", "1"], options].concat();
            let mut command = command(&one, &[CONTROLLED, "four"]);
            command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
            let (code, _, err) = run(command.env_remove("RACELOG_MAX_BYTES"), b"");
            assert_eq!(code, 0, "{err}");
            let trace = fs::read_dir(folder.path()).unwrap().next().expect("a trace").unwrap();
            fs::read(trace.path()).unwrap()
        };
        let first = record();
        assert!(first.len() > 100);
        assert!(first == record(), "{options:?}: the traces differ");
    }
}

#[test]
fn a_race_of_bare_memory_is_found() {
    let path = "src/bin/instrumented/statics.rs";
    let update = place(path, "// update without the lock");
    let pair = format!("{update},{}", place(path, "// read with the lock"));
    let options = ["--pair", &pair, "--runs", "20"];
    let (code, tallies) = fuzz(&options, &[INSTRUMENTED, "static-bug"]);
    assert_eq!(code, 1);
    assert!(count(&tallies[0], "hits") >= 15, "{tallies:?}");
    let seed = tallies[0]["harmless_example"]["seed"].to_string();
    let options = ["--pair", &pair, "--runs", "1", "--seed", &seed];
    let (_, again) = fuzz(&options, &[INSTRUMENTED, "static-bug"]);
    assert_eq!(count(&again[0], "hits"), 1);
    // Its twin has no such race.
    let (code, tallies) = fuzz(&["--pair", &pair, "--runs", "20"], &[INSTRUMENTED, "static"]);
    assert_eq!((code, count(&tallies[0], "hits")), (0, 0));
}

#[test]
fn the_pairs_of_a_trace_are_taken_up() {
    let folder = TempDir::new().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_recorded"));
    let mut record = Command::new(program);
    run(record.arg("race").env("RACELOG", "1").env("RACELOG_DIR", folder.path()), b"");
    let trace = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    for strategy in ["race", "random"] {
        let options = ["--trace", trace.to_str().unwrap(), "--runs", "20", "--strategy", strategy];
        let (code, tallies) = fuzz(&options, &[program.to_str().unwrap(), "race"]);
        assert_eq!((code, tallies.len()), (1, 1));
        assert!(count(&tallies[0], "hits") >= 1, "{strategy}: {tallies:?}");
        assert_eq!(count(&tallies[0], "harmful"), 0);
    }
}

#[test]
fn failures_without_a_race_have_their_seed_too() {
    let options = ["--strategy", "random", "--runs", "20"];
    let (code, tallies) = fuzz(&options, &[CONTROLLED, "deadlock"]);
    assert_eq!(code, 1);
    assert_eq!(tallies[0]["other_example"]["then"], "deadlock", "{tallies:?}");
    let seed = tallies[0]["other_example"]["seed"].to_string();
    let options = ["--strategy", "random", "--runs", "1", "--seed", &seed];
    let (_, again) = fuzz(&options, &[CONTROLLED, "deadlock"]);
    assert_eq!(count(&again[0], "other_failures"), 1);
}

#[test]
fn runs_that_do_not_end_are_counted() {
    let options = ["--runs", "2", "--run-time", "0.3"];
    let (code, tallies) = fuzz(&options, &[CONTROLLED, "spin"]);
    assert_eq!((code, count(&tallies[0], "runs"), count(&tallies[0], "hangs")), (1, 2, 2));
    assert_eq!(tallies[0]["hang_example"]["then"], "unended", "{tallies:?}");
    // Under control, what goes round in circles is found by the number of its steps.
    let mut command = command(&["--runs", "2"], &[CONTROLLED, "livelock"]);
    let (code, out, err) = run(command.env("RACELOG_MAX_STEPS", "20000"), b"");
    assert_eq!(code, 1, "{err}");
    let tallies: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(count(&tallies[0], "other_failures"), 2, "{tallies}");
    assert_eq!(tallies[0]["other_example"]["then"], "livelock", "{tallies}");
}

#[test]
fn what_cannot_be_done_is_an_error() {
    let problem = |options: &[&str], words: &[&str]| {
        let (code, out, err) = run(&mut command(options, words), b"");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        err
    };
    assert!(problem(&["--strategy", "race"], &["true"]).contains("give --pair or --trace"));
    assert!(problem(&["--pair", "a.rs:1"], &["true"]).contains("`a.rs:1` are not two places"));
    assert!(problem(&["--strategy", "luck"], &["true"]).contains("no strategy is called `luck`"));
    assert!(problem(&["--runs", "1"], &["true"]).contains("it has left no outcome"));
}
