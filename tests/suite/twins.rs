//! Functions with unsafe code, each with and without its race: how many of the races are found, and
//! that nothing else is.

use std::fs;
use std::process::Command;

use predictor::trace::Trace;
use racelog::contract::marker::Marker;

use crate::support::{self, repository, run, true_races};

/// Those whose race is not found, as the guide says, and why.
const MISSED: [&str; 2] = ["non-null", "method"];

fn twins(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twins"));
    command.args(args);
    command
}

fn names() -> Vec<String> {
    listed("list")
}

fn listed(list: &str) -> Vec<String> {
    let (code, names, _) = run(&mut twins(&[list]), b"");
    assert_eq!(code, 0);
    names.lines().map(str::to_owned).collect()
}

fn record(args: &[&str]) -> Trace {
    support::record(twins(args), &format!("{args:?}"))
}

#[test]
fn thirty_functions_without_races_have_none() {
    let names = names();
    assert_eq!(names.len(), 30);
    for name in names {
        assert!(true_races(&record(&[&name])).is_empty(), "{name}");
    }
}

#[test]
fn of_their_racy_twins_all_but_those_that_the_guide_names_are_found() {
    let missed: Vec<String> = names()
        .into_iter()
        .filter(|name| true_races(&record(&[name, "racy"])).is_empty())
        .collect();
    assert_eq!(missed, MISSED);
    let guide = fs::read_to_string(repository().join("docs/USER_GUIDE.md")).unwrap();
    for name in MISSED {
        assert!(guide.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn what_is_said_in_other_words_is_the_same() {
    for name in listed("variants") {
        assert!(true_races(&record(&[&name])).is_empty(), "{name}");
        assert!(!true_races(&record(&[&name, "racy"])).is_empty(), "{name}");
    }
}

#[test]
fn functions_of_the_program_are_not_taken_for_those_of_std() {
    for name in listed("harmless") {
        assert!(true_races(&record(&[&name, "racy"])).is_empty(), "{name}");
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
fn a_pointer_of_a_cell_whose_uses_are_seen_is_not_said_to_be_out_of_sight() {
    for name in names() {
        for args in [&[&*name][..], &[&name, "racy"]] {
            let trace = record(args);
            let said =
                trace.events().find(|event| trace.marker(*event) == Some(Marker::CellPointer));
            assert_eq!(said, None, "{args:?}");
        }
    }
}

#[test]
fn a_race_with_who_frees_the_memory_says_so() {
    let trace = record(&["boxed-free", "racy"]);
    let found = true_races(&trace);
    let kinds = found.iter().map(|pair| {
        [pair.first(), pair.second()].map(|event| predictor::finding::operation_of(&trace, event))
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [["read", "free"]]);
    let (_, second) = found.iter().map(|pair| (pair.first(), pair.second())).next().unwrap();
    let place = trace.printer().location(second).expect("it has a place").to_owned();
    let line = place.split(':').nth(1).unwrap().parse::<usize>().unwrap();
    let file = repository().join("tests/src/bin/twins/allocations.rs");
    let source = fs::read_to_string(file).unwrap();
    assert!(source.lines().nth(line - 1).unwrap().contains("Box::from_raw"), "{place}");
}
