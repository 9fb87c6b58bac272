//! Whole processes under control.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use predictor::trace::Trace;
use predictor::trace::format::{Format, Source};
use racelog::trace::End;
use tempfile::TempDir;

use crate::support::run;

fn controlled(program: &str, args: &[&str], folder: &Path, seed: &str) -> Command {
    let mut command = Command::new(program);
    command.args(args).env("RACELOG", "1").env("RACELOG_DIR", folder);
    command.env("RACELOG_CONTROL", seed).env_remove("RACELOG_MAX_BYTES");
    command
}

/// Runs a program; gives what it printed and the bytes of its trace.
fn record(program: &str, args: &[&str], seed: &str) -> (String, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    let (code, out, err) = run(&mut controlled(program, args, folder.path(), seed), b"");
    assert_eq!((code, err.as_str()), (0, ""), "{args:?} {seed}");
    let trace = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    (out, fs::read(trace).unwrap())
}

fn load(trace: Vec<u8>) -> Trace {
    let mut source = Source::of_bytes(trace, Some(Format::Binary)).unwrap();
    Trace::load(&mut source, |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

const FOUR: &str = env!("CARGO_BIN_EXE_controlled");

#[test]
fn a_seed_decides_every_byte_of_the_trace() {
    let (out, first) = record(FOUR, &["four"], "random:7");
    for _ in 1..1000 {
        let (again, trace) = record(FOUR, &["four"], "random:7");
        assert_eq!(again, out);
        assert!(trace == first, "the traces differ");
    }
    let trace = load(first);
    assert_eq!((trace.end(), trace.thread_count()), (End::Clean, 4));
}

#[test]
fn other_seeds_give_other_runs_and_valid_traces() {
    let mut outputs = BTreeSet::new();
    for number in 0..30 {
        let seed = if number % 2 == 0 { "random:" } else { "pct:3:200:" };
        let (out, trace) = record(FOUR, &["four"], &format!("{seed}{number}"));
        assert_eq!(load(trace).thread_count(), 4);
        outputs.insert(out);
    }
    assert!(outputs.len() > 5, "{outputs:?}");
}

#[test]
fn eight_threads_that_do_everything_are_recorded_the_same_every_time() {
    let stress = env!("CARGO_BIN_EXE_recorded");
    for seed in ["random:1", "pct:5:5000:2"] {
        let (_, first) = record(stress, &["stress", "100"], seed);
        let (_, second) = record(stress, &["stress", "100"], seed);
        assert!(first == second, "{seed}: the traces differ");
        assert_eq!(load(first).end(), End::Clean);
    }
}

#[test]
fn a_deadlock_ends_the_process_and_is_told() {
    let folder = TempDir::new().unwrap();
    let ends: BTreeSet<_> = (0..20)
        .map(|seed| {
            let seed = format!("random:{seed}");
            let mut command = controlled(FOUR, &["deadlock"], folder.path(), &seed);
            let (code, _, err) = run(&mut command, b"");
            assert_eq!(err.contains("racelog: deadlock: nobody can go on"), code == 101, "{err}");
            code
        })
        .collect();
    assert_eq!(ends, BTreeSet::from([0, 101]));
}

#[test]
fn what_cannot_be_done_as_asked_is_not_done() {
    let folder = TempDir::new().unwrap();
    for (seed, message) in [
        (
            "x",
            "racelog: RACELOG_CONTROL: `x` is no seed: write one as a failing run has printed it\n",
        ),
        ("race:0:1", "racelog: RACELOG_CONTROL: `race:0:1` needs two places in RACELOG_RACE\n"),
    ] {
        let (code, out, err) = run(&mut controlled(FOUR, &["four"], folder.path(), seed), b"");
        assert_eq!((code, out.as_str(), err.as_str()), (2, "", message));
    }
}

#[test]
fn a_process_can_be_directed_to_a_race() {
    let source = fs::read_to_string("src/bin/controlled.rs").unwrap();
    let line = |text: &str| {
        let at = source.lines().position(|line| line.contains(text)).unwrap() + 1;
        format!("controlled.rs:{at}")
    };
    let sites = format!("{},{}", line("RESULT.set"), line("RESULT.get"));
    let folder = TempDir::new().unwrap();
    let mut found = 0;
    for seed in 0..20 {
        let seed = format!("race:0:{seed}");
        let mut command = controlled(FOUR, &["late"], folder.path(), &seed);
        let (_, _, err) = run(command.env("RACELOG_RACE", &sites), b"");
        found += usize::from(err.contains("racelog: real race: "));
    }
    assert!(found >= 5, "{found} of 20");
}
