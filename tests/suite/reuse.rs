//! Memory that is given back and used again is another object, and what only the allocator orders is
//! no race.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use predictor::explore::explore;
use predictor::trace::format::Source;
use predictor::trace::{EventId, Trace};
use tempfile::TempDir;

use crate::support::{repository, run};

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
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(repository().join("target/bodies/debug").join(allocator));
    command.arg(program).env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    command.env_remove("RACELOG_MAX_BYTES");
    let what = format!("{allocator} {program}");
    assert_eq!(run(&mut command, b""), (0, String::new(), String::new()), "{what}");
    let path = fs::read_dir(folder.path()).unwrap().next().expect("a trace").unwrap().path();
    let mut source = Source::open(&path, None).unwrap();
    Trace::load(&mut source, |_| {}).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// What the comment says at the end of the line that an event comes from; the place if there is
/// none.
fn remark(trace: &Trace, event: EventId) -> String {
    let place = trace.printer().location(event).expect("accesses have places").to_owned();
    let mut parts = place.split(':');
    let (file, line) = (parts.next().unwrap(), parts.next().unwrap());
    let source = fs::read_to_string(repository().join("tests/reuse").join(file)).unwrap();
    let line = source.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
    line.rsplit_once("// ").map_or(place.clone(), |(_, remark)| remark.to_owned())
}

fn check(allocator: &str, program: &str, expected: &[(&str, &str)]) {
    let trace = record(allocator, program);
    let found = explore(&trace, 1_000_000, |_| {});
    assert!(found.complete, "{allocator} {program}");
    let races: BTreeSet<(String, String)> = found
        .races()
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
