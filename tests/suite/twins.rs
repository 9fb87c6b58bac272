//! Functions with unsafe code, each with and without its race: how many of the races are found, and
//! that nothing else is.

use std::fs;
use std::process::Command;

use predictor::explore::explore;
use predictor::trace::Trace;
use predictor::trace::format::Source;
use racelog::contract::marker::Marker;
use tempfile::TempDir;

use crate::support::{repository, run};

/// Those whose race is not found, as the guide says, and why.
const MISSED: [&str; 2] = ["non-null", "method"];

fn twins(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twins"));
    command.args(args);
    command
}

fn names() -> Vec<String> {
    let (code, names, _) = run(&mut twins(&["list"]), b"");
    assert_eq!(code, 0);
    names.lines().map(str::to_owned).collect()
}

fn record(args: &[&str]) -> Trace {
    let folder = TempDir::new().unwrap();
    let mut command = twins(args);
    command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    command.env_remove("RACELOG_MAX_BYTES");
    assert_eq!(run(&mut command, b""), (0, String::new(), String::new()), "{args:?}");
    let path = fs::read_dir(folder.path()).unwrap().next().expect("a trace").unwrap().path();
    let mut source = Source::open(&path, None).unwrap();
    Trace::load(&mut source, |_| {}).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

fn races(trace: &Trace, name: &str) -> usize {
    let found = explore(trace, 1_000_000, |_| {});
    assert!(found.complete, "{name}");
    found.races().count()
}

#[test]
fn thirty_functions_without_races_have_none() {
    let names = names();
    assert_eq!(names.len(), 30);
    for name in names {
        assert_eq!(races(&record(&[&name]), &name), 0, "{name}");
    }
}

#[test]
fn of_their_racy_twins_all_but_those_that_the_guide_names_are_found() {
    let missed: Vec<String> =
        names().into_iter().filter(|name| races(&record(&[name, "racy"]), name) == 0).collect();
    assert_eq!(missed, MISSED);
    let guide = fs::read_to_string(repository().join("docs/USER_GUIDE.md")).unwrap();
    for name in MISSED {
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn where_a_race_is_missed_it_is_said_that_memory_went_out_of_sight() {
    for name in MISSED {
        let trace = record(&[name, "racy"]);
        let said = |event| trace.marker(event) == Some(Marker::RawReference);
        assert!(trace.events().any(said), "{name}");
    }
}

#[test]
fn a_race_with_who_frees_the_memory_says_so() {
    let trace = record(&["boxed-free", "racy"]);
    let found = explore(&trace, 1_000_000, |_| {});
    let kinds = found.races().map(|pair| {
        [pair.first(), pair.second()].map(|event| predictor::finding::operation_of(&trace, event))
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [["read", "free"]]);
    let (_, second) = found.races().map(|pair| (pair.first(), pair.second())).next().unwrap();
    let place = trace.printer().location(second).expect("it has a place").to_owned();
    let line = place.split(':').nth(1).unwrap().parse::<usize>().unwrap();
    let file = repository().join("tests/src/bin/twins/allocations.rs");
    let source = fs::read_to_string(file).unwrap();
    assert!(source.lines().nth(line - 1).unwrap().contains("Box::from_raw"), "{place}");
}
