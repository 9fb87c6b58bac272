//! What is not recorded is found in the sources, and findings that it could order are doubtful:
//! `tests/unrecorded`.
//!
//! All of it is one test: the parts share what was built.

use std::fs;
use std::path::PathBuf;

use predictor::finding::{Doubt, Level};
use predictor::project::Project;
use predictor::unrecorded::{Unrecorded, What};
use tempfile::TempDir;

use crate::cargo_racelog::copy;
use crate::support::{cargo_racelog, repository, run};

struct Workspace {
    temp: TempDir,
}

impl Workspace {
    fn new() -> Self {
        let temp = tempfile::tempdir().expect("a folder");
        copy(&repository().join("tests/unrecorded"), temp.path());
        Self { temp }
    }

    fn target() -> PathBuf {
        repository().join("target/unrecorded")
    }

    /// Exit code, standard output, standard error; a line of words.
    fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = cargo_racelog();
        command.args(line.split(' ')).current_dir(self.temp.path());
        command.env("CARGO_TARGET_DIR", Self::target());
        for variable in ["CARGO", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "NO_COLOR"] {
            command.env_remove(variable);
        }
        run(&mut command, b"")
    }

    fn project() -> Project {
        let text = fs::read_to_string(Self::target().join("racelog/report.json"));
        Project::from_json(&text.expect("there is a report")).expect("it can be read")
    }
}

#[test]
fn what_is_not_recorded_is_said() {
    let workspace = Workspace::new();
    a_forgotten_import_is_a_doubt(&workspace);
    all_formats_agree(&workspace);
    it_can_be_an_error_before_anything_runs(&workspace);
    what_is_confirmed_is_proven_all_the_same(&workspace);
    tests_are_read_too(&workspace);
    counts_of_an_arc_are_a_doubt(&workspace);
    an_allocator_of_the_program_is_left_alone(&workspace);
    init_lists_the_work(&workspace);
}

/// It builds, what is no memory of the heap is as it was, and one line says that the rest is not.
fn an_allocator_of_the_program_is_left_alone(workspace: &Workspace) {
    let (_, out, err) = workspace.run("test -p allocator --no-confirm");
    assert!(out.contains("data race on `self.count`"), "{out}{err}");
    let notes = err.lines().filter(|line| line.contains("allocator of its own"));
    let place = "at allocator/tests/counts.rs:23:8, so racelog's feature `allocator` is off";
    assert!(notes.clone().all(|line| line.contains(place)), "{err}");
    assert_eq!(notes.count(), 1, "{err}");
    // Elsewhere there is none.
    let (_, _, err) = workspace.run("test -p lock --no-confirm");
    assert!(!err.contains("allocator of its own"), "{err}");
}

fn a_forgotten_import_is_a_doubt(workspace: &Workspace) {
    let (code, out, err) = workspace.run("test -p lock --no-confirm");
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("`std::sync::Mutex` at lock/src/lib.rs:5:16"), "{err}");
    let warned = "warning[RL001]: data race on `self.count`";
    assert!(out.contains(warned) && !out.contains("error["), "{out}");
    assert!(out.contains("import it from racelog there"), "{out}");
    let closing = out
        .rfind("racelog: no race, deadlock, stall or send to nobody found, ")
        .expect("there is a closing line");
    assert!(out[closing..].contains("lock/src/lib.rs:5:16"), "{out}");
    let project = Workspace::project();
    assert!(!project.findings.is_empty());
    for finding in &project.findings {
        assert_eq!(finding.level, Level::Doubtful);
        let [Doubt::Unrecorded { number: 1, uses }] = &finding.doubts[..] else {
            panic!("{:?}", finding.doubts)
        };
        assert_eq!(uses[0].name, "std::sync::Mutex");
        assert_eq!(uses[0].place.to_string(), "lock/src/lib.rs:5:16");
    }
    assert_eq!(project.capture.unrecorded.number, 1);
}

/// All about the same finding: none fails but with `--strict`.
fn all_formats_agree(workspace: &Workspace) {
    let (code, out, _) = workspace.run("report --quiet");
    assert_eq!((code, out.contains("warning[RL001]")), (0, true), "{out}");
    let (code, out, _) = workspace.run("report --format sarif");
    assert_eq!((code, out.contains("\"level\": \"warning\"")), (0, true), "{out}");
    assert!(!out.contains("\"kind\": \"fail\",\n          \"level\": \"error\""), "{out}");
    let (code, out, _) = workspace.run("report --format junit");
    assert_eq!((code, out.contains("failures=\"0\"")), (0, true), "{out}");
    assert!(out.contains("<system-out>warning[RL001]"), "{out}");
    let (code, out, _) = workspace.run("report --format github");
    assert_eq!((code, out.contains("::error")), (0, false), "{out}");
    assert!(out.contains("::warning file=lock/src/lib.rs"), "{out}");
    let (code, out, _) = workspace.run("report --strict");
    assert_eq!((code, out.contains("error[RL001]")), (1, true), "{out}");
    let (code, out, _) = workspace.run("report --strict --format junit");
    assert_eq!((code, out.contains("failures=\"1\"")), (1, true), "{out}");
    let (code, out, _) = workspace.run("report --strict --format github");
    assert_eq!((code, out.contains("::error")), (1, true), "{out}");
    // By the settings, too.
    let settings = workspace.temp.path().join("racelog.toml");
    fs::write(&settings, "strict = true\n").expect("it can be written");
    assert_eq!(workspace.run("report").0, 1);
    assert_eq!(workspace.run("report --strict=false").0, 0);
    fs::remove_file(settings).expect("it is there");
    // The traces can be analysed again, and the list is still there.
    let (code, out, err) = workspace.run("analyze");
    assert_eq!((code, out.contains("warning[RL001]")), (0, true), "{out}{err}");
    let kept = fs::read_to_string(Workspace::target().join("racelog/unrecorded.json"));
    let kept: Unrecorded = serde_json::from_str(&kept.expect("it is kept")).expect("a list");
    assert_eq!(kept.uses.len(), 1);
}

fn it_can_be_an_error_before_anything_runs(workspace: &Workspace) {
    let (code, out, err) = workspace.run("test -p lock --deny-unrecorded");
    assert_eq!(code, 2, "{out}{err}");
    assert!(err.contains("lock/src/lib.rs:5:16: `std::sync::Mutex`"), "{err}");
    assert!(!out.contains("running") && !err.contains("Running"), "{out}{err}");
}

fn what_is_confirmed_is_proven_all_the_same(workspace: &Workspace) {
    let (code, out, err) = workspace.run("test -p racy");
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("error[RL001]"), "{out}");
    let project = Workspace::project();
    assert!(project.findings.iter().any(|finding| finding.level == Level::Proven), "{out}");
}

fn tests_are_read_too(workspace: &Workspace) {
    let (code, out, err) = workspace.run("test -p outside --no-confirm");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("warning[RL001]"), "{out}");
    let project = Workspace::project();
    let [used] = &project.unrecorded.uses[..] else { panic!("{:?}", project.unrecorded) };
    assert_eq!((used.name.as_str(), used.what), ("std::sync::Mutex", What::Sync));
    assert_eq!(used.place.to_string(), "outside/tests/outside.rs:5:16");
    assert_eq!(used.programs, ["outside"]);
    // The library alone uses nothing of the kind.
    let (code, out, err) = workspace.run("test -p outside --lib --deny-unrecorded");
    assert_eq!(code, 0, "{out}{err}");
}

fn counts_of_an_arc_are_a_doubt(workspace: &Workspace) {
    let (code, out, err) = workspace.run("test -p arcs --no-confirm");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("feature `recorded-arc`"), "{out}");
    let project = Workspace::project();
    assert_eq!(project.findings.len(), 2, "{out}");
    for finding in &project.findings {
        let [Doubt::Arc { uses, .. }] = &finding.doubts[..] else { panic!("{:?}", finding.doubts) };
        let names: Vec<&str> = uses.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["Drop for Log", "racelog::sync::Arc::get_mut"]);
    }
    // With its counts on the record there is nothing to find, and nothing to doubt.
    let (code, out, err) = workspace.run("test -p arcs --features recorded-arc --deny-unrecorded");
    assert_eq!(code, 0, "{out}{err}");
    let project = Workspace::project();
    assert_eq!((project.findings.len(), project.capture.is_complete()), (0, true), "{out}");
    assert!(!out.contains("not seen"), "{out}");
}

fn init_lists_the_work(workspace: &Workspace) {
    let (code, out, err) = workspace.run("init --manifest-path lock/Cargo.toml");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("lock/src/lib.rs:5:16: `std::sync::Mutex` is not recorded"), "{out}");
}
