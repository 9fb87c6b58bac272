//! A destructor that frees memory writes it, where the counts of `Arc` are recorded.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use predictor::analysis::{Detector, analyze};
use predictor::finding::Finding;
use predictor::goal::GoalKinds;
use predictor::predict::Options;
use predictor::trace::Trace;
use predictor::trace::format::Source;
use tempfile::TempDir;

use crate::support::{repository, run};

/// Builds the programs, once.
fn build() {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--target-dir"]).arg(repository().join("target/bodies"));
        cargo.current_dir(repository().join("tests/frees")).env_remove("CARGO_TARGET_DIR");
        let (code, _, said) = run(&mut cargo, b"");
        assert_eq!(code, 0, "{said}");
    });
}

fn frees(args: &[&str]) -> Command {
    build();
    let mut command = Command::new(repository().join("target/bodies/debug/frees"));
    command.args(args).env_remove("RACELOG_MAX_BYTES");
    command
}

fn names(args: &[&str]) -> Vec<String> {
    let (code, names, _) = run(&mut frees(args), b"");
    assert_eq!(code, 0);
    names.lines().map(str::to_owned).collect()
}

/// The kinds of the accesses of all races that are found in a run of a program.
fn races(args: &[&str]) -> Vec<Vec<String>> {
    let folder = TempDir::new().unwrap();
    let mut command = frees(args);
    command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    assert_eq!(run(&mut command, b""), (0, String::new(), String::new()), "{args:?}");
    let path = fs::read_dir(folder.path()).unwrap().next().expect("a trace").unwrap().path();
    let mut source = Source::open(&path, None).unwrap();
    let trace = Trace::load(&mut source, |_| {}).unwrap_or_else(|e| panic!("{args:?}: {e}"));
    let detectors = [Detector::Mcm, Detector::Hb];
    let options = Options { goals: GoalKinds::RACES, ..Options::default() };
    let report = analyze(&trace, "frees", &detectors, &options, |_, _| {}).unwrap();
    let operations = |finding: &Finding| {
        let parts = finding.occurrences[0].parts.iter();
        parts.map(|part| part.source.operation.clone()).collect()
    };
    report.findings.iter().map(operations).collect()
}

#[test]
fn a_free_that_is_ordered_with_all_accesses_is_no_race() {
    let names = names(&["list"]);
    assert_eq!(names.len(), 15);
    for name in names {
        for _ in 0..20 {
            assert_eq!(races(&[&name]), Vec::<Vec<String>>::new(), "{name}");
        }
    }
}

#[test]
fn a_free_that_nothing_orders_with_an_access_is_a_race_and_says_so() {
    let names = names(&["list", "racy"]);
    assert_eq!(names.len(), 8);
    for name in names {
        let access = if name == "read" { "read" } else { "write" };
        for _ in 0..5 {
            // Which of the two parts is first depends on their places in the source.
            let mut found = races(&[&name, "racy"]);
            found.iter_mut().for_each(|operations| operations.sort_by_key(|word| word == "free"));
            assert_eq!(found, [[access, "free"]], "{name}");
        }
    }
}
