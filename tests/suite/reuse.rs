//! Memory that is given back and used again is another object, and what only the allocator orders
//! is no race.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::OnceLock;

use predictor::trace::{EventId, Trace};

use crate::support::{self, repository, run, true_races};

/// Builds the programs, once.
fn build() {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--target-dir"]).arg(repository().join("target/bodies"));
        cargo.current_dir(repository().join("tests/reuse")).env_remove("CARGO_TARGET_DIR");
        let (code, _, said) = run(&mut cargo, b"");
        assert_eq!(code, 0, "{said}");
    });
}

/// Runs a program, recorded, and loads its trace, which must be valid.
fn record(allocator: &str, program: &str) -> Trace {
    build();
    let mut command = Command::new(repository().join("target/bodies/debug").join(allocator));
    command.arg(program);
    support::record(command, &format!("{allocator} {program}"))
}

/// What the comment says at the end of the line that an event comes from; the place if there is
/// none.
fn remark(trace: &Trace, event: EventId) -> String {
    support::remark(trace, event, &repository().join("tests/reuse")).unwrap_or_else(|place| place)
}

fn check(allocator: &str, program: &str, expected: &[(&str, &str)]) {
    let trace = record(allocator, program);
    let races: BTreeSet<(String, String)> = true_races(&trace)
        .into_iter()
        .map(|pair| (remark(&trace, pair.first()), remark(&trace, pair.second())))
        .collect();
    let expected = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(races, expected, "{allocator} {program}");
}

const RACE: &[(&str, &str)] = &[("first write", "second write")];

#[test]
fn what_is_used_again_does_not_race_with_what_it_was() {
    for program in ["same", "part", "marked", "cell", "grown"] {
        check("told", program, &[]);
    }
    // A cell that is not dropped is not known to be gone.
    for program in ["same", "part", "marked", "grown"] {
        check("untold", program, &[]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_stack_that_is_used_again_does_not_race_with_what_it_was() {
    check("told", "stack", &[]);
    check("untold", "stack", &[]);
}

#[test]
fn races_on_the_heap_are_found_where_it_is_known_what_is_freed() {
    check("told", "race", RACE);
    check("told", "reused-race", RACE);
    check("told", "static-race", RACE);
}

#[test]
fn where_it_is_not_known_only_statics_race() {
    check("untold", "race", &[]);
    check("untold", "reused-race", &[]);
    check("untold", "static-race", RACE);
}

/// Two objects at one place are two variables that share nothing.
#[test]
fn objects_at_one_place_are_different_variables() {
    let trace = record("told", "same");
    let mut printer = trace.printer();
    let mut names = BTreeSet::new();
    for event in trace.events() {
        let line = printer.event(event);
        let words: Vec<&str> = line.split(' ').collect();
        if words[1] == "write" && words[2].starts_with('[') {
            names.insert(words[2].to_owned());
        }
    }
    let lives: Vec<&str> = names.iter().filter_map(|name| name.split('+').nth(1)).collect();
    assert_eq!(lives, ["4@0..1]", "4@1..]"], "{names:?}");
}
