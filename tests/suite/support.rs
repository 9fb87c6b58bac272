//! What the tests share.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use predictor::explore::explore;
use predictor::goal::race::conflict;
use predictor::goal::{Goal, GoalKinds, Pair};
use predictor::replay::{Aftermath, Reached, Replayed};
use predictor::trace::format::{Format, Sink, Source, SourceError};
use predictor::trace::{EventId, Trace};
use racelog::trace::{Dictionary, Item, Metadata};
pub(crate) use racelog_tests::expected::repository;
use tempfile::TempDir;

/// All of a trace, and the error that ended it.
pub(crate) struct Contents {
    pub(crate) metadata: Metadata,
    pub(crate) dictionary: Dictionary,
    pub(crate) items: Vec<Item>,
    pub(crate) error: Option<SourceError>,
}

pub(crate) fn read(bytes: &[u8], format: Format) -> Result<Contents, SourceError> {
    let mut source = Source::of_bytes(bytes.to_vec(), Some(format))?;
    let mut items = Vec::new();
    let error = loop {
        match source.next_item() {
            Ok(Some(item)) => items.push(item),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let (metadata, dictionary) = (source.metadata(), source.dictionary().clone());
    Ok(Contents { metadata, dictionary, items, error })
}

pub(crate) fn convert(bytes: &[u8], from: Format, to: Format) -> Vec<u8> {
    let mut source = Source::of_bytes(bytes.to_vec(), Some(from)).expect("opens");
    let mut sink = Sink::new(Vec::new(), to, &source.metadata(), false).expect("memory");
    while let Some(item) = source.next_item().expect("reads") {
        sink.write(source.dictionary(), &item).expect("writes");
    }
    sink.set_lost_events(source.lost_events());
    sink.finish(source.dictionary(), source.end()).expect("memory").0
}

/// The `predictor` command.
pub(crate) fn predictor() -> Command {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = || build(&["--package", "predictor", "--bin", "predictor"]).remove(0);
    Command::new(BUILT.get_or_init(built))
}

/// The `cargo racelog` command.
pub(crate) fn cargo_racelog() -> Command {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = || build(&["--package", "predictor", "--bin", "cargo-racelog"]).remove(0);
    let mut command = Command::new(BUILT.get_or_init(built));
    command.arg("racelog");
    command
}

/// The programs of `examples/`.
pub(crate) fn examples() -> &'static [PathBuf] {
    static BUILT: OnceLock<Vec<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| build(&["--package", "racelog-examples", "--bins"]))
}

/// One of them, by its file's name.
pub(crate) fn example_program(name: &str) -> &'static Path {
    let named = |path: &&PathBuf| path.file_stem().is_some_and(|stem| stem == name);
    examples().iter().find(named).unwrap_or_else(|| panic!("{name} is not among the examples"))
}

/// Builds programs and finds out where they are.
fn build(what: &[&str]) -> Vec<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .arg("build")
        .args(what)
        .args(["--message-format", "json-render-diagnostics", "--quiet"])
        .current_dir(repository())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{what:?} do not build");
    let messages = String::from_utf8(output.stdout).expect("cargo speaks UTF-8");
    let executables = messages.lines().filter_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        rest.split_once('"').map(|(path, _)| PathBuf::from(path))
    });
    let executables: Vec<PathBuf> = executables.collect();
    assert!(!executables.is_empty(), "cargo says where the executables are");
    executables
}

/// What a command did: exit code, standard output, standard error.
pub(crate) fn run(command: &mut Command, stdin: &[u8]) -> (i32, String, String) {
    let output = run_raw(command, stdin);
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code().expect("it was not killed"), text(output.stdout), text(output.stderr))
}

pub(crate) fn run_raw(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut pipe = child.stdin.take().expect("piped");
    std::thread::scope(|scope| {
        // A command that fails early does not read its input.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().expect("the command ends")
    })
}

/// Runs a program, recorded, and loads its one trace, which must be valid. The program succeeds and
/// says nothing.
pub(crate) fn record(mut command: Command, what: &str) -> Trace {
    let folder = TempDir::new().expect("a folder for traces");
    command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    command.env_remove("RACELOG_MAX_BYTES");
    assert_eq!(run(&mut command, b""), (0, String::new(), String::new()), "{what}");
    let mut files = folder.path().read_dir().expect("the folder can be listed");
    let path = files.next().expect("there is a trace").expect("the folder can be listed").path();
    let mut source = Source::open(&path, None).expect("it opens");
    Trace::load(&mut source, |_| {}).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// All races of a trace, by the explorer.
pub(crate) fn true_races(trace: &Trace) -> BTreeSet<Pair> {
    let found = explore(trace, GoalKinds::RACES, 2_000_000, |_| {});
    assert!(found.complete);
    found.races().collect()
}

/// The text of a trace of `examples/traces`.
pub(crate) fn example_trace(name: &str) -> String {
    let path = repository().join(format!("examples/traces/{name}.rtxt"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the comment says at the end of the line that an event comes from, or else the event's
/// place. Sources are named from `folder` on.
pub(crate) fn remark(trace: &Trace, event: EventId, folder: &Path) -> Result<String, String> {
    let place = trace.printer().location(event).expect("accesses have places").to_owned();
    let mut parts = place.split(':');
    let (file, line) = (parts.next().expect("a file"), parts.next().expect("a line"));
    let source = std::fs::read_to_string(folder.join(file)).expect("the source is there");
    let line: usize = line.parse().expect("a number");
    let text = source.lines().nth(line - 1).expect("there is such a line");
    text.rsplit_once("// ").map(|(_, remark)| remark.to_owned()).ok_or(place)
}

/// All conflicting pairs of a trace.
pub(crate) fn conflicts(trace: &Trace) -> Vec<Pair> {
    let events: Vec<_> = trace.events().collect();
    let mut pairs = Vec::new();
    for (at, a) in events.iter().enumerate() {
        for b in &events[at + 1..] {
            if conflict(trace, *a, *b) {
                pairs.push(Pair::new(*a, *b));
            }
        }
    }
    pairs
}

/// The findings of a report in JSON, with what stands in its tables.
pub(crate) fn findings_of(report: &serde_json::Value) -> Vec<serde_json::Value> {
    let mut findings = report["findings"].clone();
    predictor::finding::shared::put_back(&mut findings, report["tables"].clone())
        .expect("the tables have all rows");
    findings.as_array().expect("a list").clone()
}

/// Whether a run has come to its goal, and says who waits.
pub(crate) fn has_come_to(goal: &Goal, replayed: &Replayed) -> bool {
    let [order] = &replayed.orders[..] else { return false };
    let outcome = &order.outcome;
    let waits = |thread: &str| outcome.waits.iter().any(|wait| wait.thread == thread);
    let each_by_another = || {
        outcome.waits.iter().all(|wait| {
            // One of the threads of a scope is named; it waits for all.
            if wait.action == "end of scope" {
                return true;
            }
            let by = wait.holders.iter().chain(&wait.writers).map(|spot| &spot.thread);
            let joined = wait.joins.as_ref();
            let by = by.flatten().chain(joined).filter(|thread| **thread != wait.thread);
            by.into_iter().any(|thread| waits(thread))
        })
    };
    outcome.reached == Reached::Confirmed
        && match goal {
            Goal::Race(_) | Goal::Atomicity(_) => false,
            Goal::FailedCheck(_) | Goal::Panic(_) => {
                matches!(outcome.then, Aftermath::Panic(_) | Aftermath::Check(_))
            }
            Goal::Deadlock(circle) => {
                outcome.then == Aftermath::Deadlock
                    && outcome.waits.len() == circle.events().len()
                    && each_by_another()
            }
            Goal::Stall(_) => outcome.then == Aftermath::Deadlock && outcome.waits.len() >= 2,
            // What the program makes of it is its own affair.
            Goal::SendToNobody(_) => true,
        }
}
