//! What cannot be proven is tried: `cargo racelog test`, without a flag, on what is in order by
//! chance and beside it by rule, `tests/accidental`; and on twenty programs with one bug each, and
//! their right versions, `tests/one-bug`.
//!
//! All of it is one test: the parts share what was built and recorded. Each finding is replayed
//! twice, or as often as `REPLAYS` in the environment says.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use predictor::finding::{Finding, Kind, Level};
use predictor::project::{Explored, Project};
use tempfile::TempDir;

use crate::cargo_racelog::copy;
use crate::render::validate;
use crate::support::{cargo_racelog, repository, run};

struct Workspace {
    temp: TempDir,
}

impl Workspace {
    fn new(package: &str) -> Self {
        let temp = tempfile::tempdir().expect("a folder");
        copy(&repository().join("tests").join(package), &temp.path().join("crate"));
        Self { temp }
    }

    fn target() -> PathBuf {
        repository().join("target/accidental")
    }

    /// `cargo racelog`, with a line of words.
    fn command(&self, line: &str) -> Command {
        let mut command = cargo_racelog();
        command.args(line.split(' ')).current_dir(self.temp.path().join("crate"));
        command.env("CARGO_TARGET_DIR", Self::target());
        command.env("XDG_STATE_HOME", self.temp.path().join("state"));
        // What does not end is known sooner.
        command.env("RACELOG_MAX_STEPS", "100000");
        for variable in ["CARGO", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "NO_COLOR"] {
            command.env_remove(variable);
        }
        command
    }

    /// Exit code, standard output, standard error.
    fn run(&self, line: &str) -> (i32, String, String) {
        run(&mut self.command(line), b"")
    }

    fn json() -> String {
        fs::read_to_string(Self::target().join("racelog/report.json")).expect("there is a report")
    }

    fn project() -> Project {
        Project::from_json(&Self::json()).expect("it can be read")
    }
}

/// The tests in which a finding occurred.
fn tests<'a>(project: &'a Project, finding: &'a Finding) -> impl Iterator<Item = &'a str> {
    let traces = finding.occurrences.iter().filter_map(|it| project.trace(&it.trace));
    traces.filter_map(|trace| trace.test.as_deref())
}

fn is_directed(finding: &Finding) -> bool {
    finding.best().directed.is_some()
}

#[test]
fn what_cannot_be_proven_is_tried() {
    let workspace = Workspace::new("accidental");
    all_that_is_in_order_by_chance_is_proven(&workspace);
    every_format_has_it(&workspace);
    it_happens_again_whenever_it_is_asked_for(&workspace);
    an_analysis_of_the_same_traces_keeps_it(&workspace);
    it_can_be_turned_off(&workspace);
    let workspace = Workspace::new("one-bug");
    programs_with_one_bug_are_told_from_right_ones(&workspace);
    ordinary_tests_have_many_schedules(&workspace);
    a_circle_that_happens_in_any_schedule_is_reported_once(&workspace);
    an_interrupt_keeps_what_was_found(&workspace);
}

/// Schedules that are directed to nothing end in it, and so do runs that are directed to it.
fn a_circle_that_happens_in_any_schedule_is_reported_once(workspace: &Workspace) {
    let (code, out, err) =
        workspace.run("explore --schedules 12 sleepy::wrong::accounts_in_both_orders");
    assert_eq!(code, 1, "{out}{err}");
    let project = Workspace::project();
    let [finding] = &project.findings[..] else { panic!("one finding: {out}{err}") };
    assert_eq!((&finding.kind, finding.level), (&Kind::Deadlock, Level::Proven), "{out}");
    assert!(out.contains("each of them waits for what only another of them can give"), "{out}");
}

/// There are more schedules than anybody waits for.
fn an_interrupt_keeps_what_was_found(workspace: &Workspace) {
    let line = "explore --schedules 1000000 --explore-time 600 ordinary::update_is_lost";
    let begun = SystemTime::now();
    let mut command = workspace.command(line);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // Recordings of schedules that show something are kept as they come: of one that goes well, and
    // of one that does not.
    let is_new = |entry: &fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_of_schedule = name.contains(".random-") || name.contains(".pct-");
        let modified = entry.metadata().and_then(|file| file.modified());
        is_of_schedule && modified.is_ok_and(|modified| modified > begun)
    };
    let kept = || {
        let folders = fs::read_dir(Workspace::target().join("racelog")).into_iter().flatten();
        let files = folders.flatten().filter_map(|folder| fs::read_dir(folder.path()).ok());
        files.flatten().flatten().filter(is_new).count()
    };
    while kept() < 2 {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it has ended");
        thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("there is a `kill`").success());
    let output = child.wait_with_output().expect("it ends");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    let project = Workspace::project();
    let schedules = project.explored.as_ref().and_then(|it| it.schedules).expect("there were some");
    assert!(schedules.runs < 1_000_000, "{out}");
    let [finding] = &project.findings[..] else { panic!("one finding: {out}") };
    assert_eq!((&finding.kind, finding.level), (&Kind::Panic, Level::Proven), "{out}");
    assert!(out.contains(&format!("error[{}]", Kind::Panic.code())), "{out}");
}

/// Bad runs end nothing but themselves: each test has all its schedules.
fn ordinary_tests_have_many_schedules(workspace: &Workspace) {
    let run = || workspace.run("explore --schedules 12 --explore-time 60 ordinary::");
    let (code, out, err) = run();
    assert_eq!(code, 1, "{out}{err}");
    let project = Workspace::project();
    validate("racelog-project-2.json", &Workspace::json());
    let schedules = project.explored.as_ref().and_then(|it| it.schedules).expect("there were some");
    assert_eq!((schedules.tests, schedules.runs), (9, 9 * 12), "{out}{err}");
    assert!(out.contains("108 schedules of 9 tests"), "{out}");
    let happened =
        project.findings.iter().filter(|it| is_directed(it) && it.level == Level::Proven);
    let happened: Vec<&Finding> = happened.collect();
    let has = |kind: &Kind| happened.iter().any(|finding| finding.kind == *kind);
    assert!(has(&Kind::Panic) && has(&Kind::Deadlock), "{out}{err}");
    let crashes = happened.iter().filter(|finding| finding.kind == Kind::Crash);
    let signals: BTreeSet<&str> =
        crashes.flat_map(|it| it.sources().map(|source| source.operation.as_str())).collect();
    // An abort, with which an overflow of the stack ends as well; and an access of no memory.
    assert_eq!(signals.into_iter().collect::<Vec<_>>(), ["signal 11", "signal 6"], "{out}{err}");
    let explored = project.explored.as_ref().expect("there were runs");
    assert!(explored.lost > 0 && explored.unended > 0, "{explored:?}: {out}{err}");
    let of =
        |finding: &Finding| finding.occurrences.iter().any(|it| it.trace.contains("_not_lost"));
    assert!(!project.findings.iter().any(of), "{out}");
    for finding in &happened {
        let (code, out, err) = workspace.run(&format!("replay {}", finding.number));
        assert_eq!(code, 0, "{finding:#?}: {out}{err}");
    }
    // The same seeds, so the same again.
    let kinds = |project: &Project| {
        let kinds = project.findings.iter().map(|it| it.kind.code().to_owned());
        kinds.collect::<BTreeSet<String>>()
    };
    let before = kinds(&project);
    run();
    assert_eq!(kinds(&Workspace::project()), before);
}

/// As ordinary programs, and with threads that all sleep in between.
fn programs_with_one_bug_are_told_from_right_ones(workspace: &Workspace) {
    for variant in ["plain", "sleepy"] {
        let (code, out, err) = workspace.run(&format!("test {variant}"));
        assert_eq!(code, 1, "{out}{err}");
        let project = Workspace::project();
        validate("racelog-project-2.json", &Workspace::json());
        assert_eq!(project.traces.len(), 2 * 20, "{out}{err}");
        let found = project.findings.iter().flat_map(|finding| tests(&project, finding));
        let found: BTreeSet<&str> = found.collect();
        let right: Vec<&&str> = found.iter().filter(|name| name.contains("::right::")).collect();
        assert!(right.is_empty(), "{right:?}: {out}");
        assert!(found.len() >= 18, "{found:?}: {out}{err}");
        let proven = project.findings.iter().all(|finding| finding.level == Level::Proven);
        let explored = project.explored.as_ref().expect("suspects were tried");
        assert!(proven && explored.first.is_some_and(|first| first.runs <= explored.runs), "{out}");
        for finding in &project.findings {
            for _ in 0..replays() {
                let (code, out, err) = workspace.run(&format!("replay {}", finding.number));
                assert_eq!(code, 0, "{finding:#?}: {out}{err}");
            }
        }
    }
}

/// How often each finding is replayed: `REPLAYS` in the environment says it.
fn replays() -> usize {
    match std::env::var("REPLAYS") {
        Ok(times) => times.parse().expect("REPLAYS is a number"),
        Err(_) => 2,
    }
}

fn all_that_is_in_order_by_chance_is_proven(workspace: &Workspace) {
    let (code, out, err) = workspace.run("test");
    assert_eq!(code, 1, "{out}{err}");
    let project = Workspace::project();
    validate("racelog-project-2.json", &Workspace::json());
    let mut found: Vec<&str> =
        project.findings.iter().flat_map(|finding| tests(&project, finding)).collect();
    found.sort_unstable();
    let by_chance = [
        "channel_of_others",
        "count_of_an_arc",
        "counter_behind_a_mutex",
        "counter_behind_a_rwlock",
        "counter_that_is_atomic",
        "log_of_what_was_done",
        "queue_of_jobs",
        "settings_that_are_made_once",
        "statistics_of_what_was_done",
        "what_is_printed",
    ];
    let held = ["accounts_in_both_orders", "notification_of_nothing", "sum_in_two_steps"];
    let by_chance = by_chance.iter().map(|name| format!("accidental::by_chance::{name}"));
    let held = held.iter().map(|name| format!("accidental::held::{name}"));
    assert_eq!(found, by_chance.chain(held).collect::<Vec<_>>(), "{out}{err}");
    for finding in &project.findings {
        assert_eq!((finding.level, finding.is_open()), (Level::Proven, true), "{finding:#?}");
    }
    let directed = project.findings.iter().filter(|it| is_directed(it)).count() as u64;
    let Some(Explored { suspects, left: 0, happened, .. }) = project.explored else {
        panic!("{:?}", project.explored)
    };
    assert!(directed >= 9 && happened == directed && suspects > happened, "{suspects} {directed}");
    let of_kind = |kind: &Kind| project.findings.iter().filter(|it| it.kind == *kind).count();
    assert_eq!((of_kind(&Kind::Deadlock), of_kind(&Kind::Panic)), (1, 1), "{out}");
    let words: String = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!(", {happened} happened")), "{out}");
    assert!(words.contains(&format!("{suspects} suspects tried in ")), "{out}");
}

fn every_format_has_it(workspace: &Workspace) {
    let project = Workspace::project();
    let all = project.findings.len();
    let (code, out, _) = workspace.run("report");
    assert_eq!((code, out.matches("error[RL0").count()), (1, all), "{out}");
    assert!(out.contains("it happened in a run under control"), "{out}");
    let finding = project.findings.iter().find(|it| is_directed(it)).expect("there are some");
    assert!(out.contains(&format!("cargo racelog replay {}", finding.number)), "{out}");
    let (_, out, _) = workspace.run("report --format sarif");
    assert_eq!(out.matches("\"ruleId\": ").count(), all, "{out}");
    let (_, out, _) = workspace.run("report --format junit");
    assert_eq!(out.matches("<failure ").count(), all, "{out}");
    let (_, out, _) = workspace.run("report --format github");
    assert_eq!(out.matches("::error ").count(), all, "{out}");
}

fn it_happens_again_whenever_it_is_asked_for(workspace: &Workspace) {
    let project = Workspace::project();
    let directed: Vec<&Finding> = project.findings.iter().filter(|it| is_directed(it)).collect();
    for finding in directed.iter().cycle().take(directed.len() * replays()) {
        let (code, out, err) = workspace.run(&format!("replay {}", finding.number));
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.starts_with("confirmed\n  by the seed `"), "{out}");
    }
}

fn an_analysis_of_the_same_traces_keeps_it(workspace: &Workspace) {
    let before = Workspace::project();
    let (code, out, _) = workspace.run("report --analyze");
    let after = Workspace::project();
    assert_eq!((code, after.explored == before.explored), (1, true), "{out}");
    let directed = |project: &Project| project.findings.iter().filter(|it| is_directed(it)).count();
    assert_eq!(directed(&after), directed(&before), "{out}");
}

fn it_can_be_turned_off(workspace: &Workspace) {
    let (_, out, err) = workspace.run("test --explore-time 0");
    let project = Workspace::project();
    assert_eq!(project.explored, None, "{out}{err}");
    assert!(!project.findings.iter().any(is_directed), "{out}");
    let (_, out, err) = workspace.run("test --no-confirm by_rule");
    let project = Workspace::project();
    assert_eq!((project.explored, project.findings.len()), (None, 0), "{out}{err}");
    let (code, _, err) = workspace.run("test --explore-time never");
    assert!(code == 2 && err.contains("--explore-time"), "{err}");
}
