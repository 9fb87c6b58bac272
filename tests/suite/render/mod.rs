//! The formats of `cargo racelog`, each made from the recorded tests of a small crate,
//! `tests/reports/cache`, and compared with `tests/reports/golden`. `cargo bless` writes these
//! files anew.

mod github;
mod junit;
mod odd_words;
mod sarif;
mod schema;
mod sizes;
mod text;
mod validator;
mod waiting;

pub(crate) use self::schema::validate;

use std::fs;
use std::sync::Arc;

use predictor::analysis::{Detector, analyze};
use predictor::finding::{Place, Replay, Spots, Suppressed};
use predictor::predict::Options;
use predictor::project::{Analysed, Collector, Project, Sources};
use predictor::render::replay_lines;
use predictor::replay::{Aftermath, ControlledRun, Ending, Order, Replayed, ReportNames, Target};
use predictor::trace::Trace;
use predictor::trace::format::{Format, Source};
use predictor::unrecorded::{Dependency, Unrecorded, Use, What};
use racelog_tests::expected::check_text;

use crate::support::repository;

/// The sources of the crate.
pub(crate) struct Files;

impl Sources for Files {
    fn read(&self, file: &str) -> Option<Arc<str>> {
        let path = repository().join("tests/reports/cache").join(file);
        fs::read_to_string(path).ok().map(Into::into)
    }
}

/// What is found in some of the crate's traces. Times are set to what they never are.
pub(crate) fn project_of(keep: impl Fn(&str) -> bool) -> Project {
    project_by(&Options::default(), keep)
}

fn project_by(options: &Options, keep: impl Fn(&str) -> bool) -> Project {
    let folder = repository().join("tests/reports/cache/traces");
    let mut collector = Collector::new(None);
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        if !keep(&name) {
            continue;
        }
        let bytes = fs::read(&path).expect("it can be read");
        collector.add(analysed(options, &name, bytes));
    }
    let mut project = collector.finish(&Files);
    settle_times(&mut project);
    project
}

/// A trace in the text format, analysed.
fn analysed(options: &Options, name: &str, bytes: Vec<u8>) -> Analysed {
    let mut source = Source::of_bytes(bytes, Some(Format::Text)).expect("a trace");
    let trace = Trace::load(&mut source, |_| ()).expect("a valid trace");
    let detectors = [Detector::Mcm, Detector::Hb];
    let report = analyze(&trace, name, &detectors, options, |_, _| ()).expect("one solver");
    Analysed::new(&trace, &report, None, &[])
}

fn settle_times(project: &mut Project) {
    for run in project.traces.iter_mut().flat_map(|trace| &mut trace.detectors) {
        run.seconds = 0.25;
    }
    for occurrence in project.findings.iter_mut().flat_map(|finding| &mut finding.occurrences) {
        occurrence.seconds = occurrence.seconds.map(|_| 0.125);
    }
}

/// What a run says that stops before the race: as much as there can be.
const BLOCKED: &str = "result diverged\nat 4\nwhy blocked\nexpected 0.1 acquire l3 @ src/lib.rs:9:5\n\
                       stands 0.1 ready lock @ src/lib.rs:9:5\nholds 0.2 @ src/lib.rs:8:5\njoins 0.2\n\
                       early 7 0.2 release l3\ndiffers 2 0.2 write x8 @ src/lib.rs:7:5\n\
                       predicted wrote 7\ninstead wrote 8\nthen deadlock\n\
                       wait 0.1 ready lock\nlost 0.2 @ src/lib.rs:6:5\nforeign 1\n";

/// A replay of two runs: the thread `t1` goes first in one, and `t2` in the other.
pub(crate) fn replay(orders: [&str; 2]) -> Replay {
    let threads = [("0", "main"), ("0.1", "t1"), ("0.2", "t2")];
    let threads = threads.map(|(path, name)| (path.to_owned(), name.to_owned()));
    let names = ReportNames { threads: threads.into(), ..ReportNames::default() };
    let order = |first: &str, lines: &str| {
        let outcome = ControlledRun::parse(&format!("racelog-outcome 4\n{lines}"), &names);
        let outcome = outcome.expect("an outcome");
        let code = Some(if outcome.then == Aftermath::Nothing { 0 } else { 101 });
        Order { first: Some(first.to_owned()), outcome, code, printed: Vec::new() }
    };
    let [one, other] = orders;
    let recorded = Ending { then: Aftermath::Nothing, panicked: None, code: Some(0) };
    let orders = vec![order("t1", one), order("t2", other)];
    let replayed = Replayed::new(Target::Race, orders, Some(recorded));
    let mut replay = Replay::new(replayed);
    replay.lines = replay_lines(&replay);
    replay
}

/// All of the crate's traces, and besides one of everything that a project can have.
pub(crate) fn full_project() -> Project {
    full_project_by(&Options::default())
}

pub(crate) fn full_project_by(options: &Options) -> Project {
    let mut project = project_by(options, |_| true);
    assert_eq!(project.findings.len(), 4, "{project:#?}");
    // One that was there before.
    let mut known = project.findings[0].clone();
    (known.number, known.known) = (5, true);
    known.fingerprint = "0123456789abcdef".to_owned();
    known.occurrences.truncate(1);
    known.occurrences[0].replay = Some(replay([BLOCKED, BLOCKED]));
    project.findings.push(known);
    // Nothing here is a thread but what is said to be one.
    let good = "value 0.1 wrote 1\nvalue 0.2 read 0\nthen nothing\n";
    let bad = "value 0.2 read 0\nvalue 0.1 wrote 1\nthen panic 0.1 < 0, not 0.2\n\
               panicked 0.2 @ src/lib.rs:33:5\n";
    let orders = [good, bad].map(|lines| format!("result confirmed\n{lines}"));
    project.findings[0].occurrences[0].replay = Some(replay(orders.each_ref().map(|it| &**it)));
    let closed = project
        .findings
        .iter_mut()
        .find(|finding| finding.places().next().is_some_and(|place| place.line == 49));
    closed.expect("it is there").suppressed = Some(Suppressed {
        reason: "closing is seen late, and that is fine".to_owned(),
        by: "racelog.toml".to_owned(),
    });
    project.traces[0].note = Some("it ends within a chunk".to_owned());
    project.traces[1].unseen_pointers = 2;
    project.traces[1].unseen_places = vec!["src/lib.rs:70:9".parse().expect("a place")];
    project.traces[2].foreign_threads =
        Spots { number: 1, places: vec!["src/pool.rs:7:5".parse().expect("a place")] };
    for trace in &mut project.traces {
        let warm = trace.name.contains("warm");
        let program = if warm { "warm-0123456789abcdef" } else { "cache-0123456789abcdef" };
        trace.program = Some(program.to_owned());
    }
    let problem = "no trace of racelog: its first bytes are `%PDF`";
    project.skipped.push(predictor::project::Skipped {
        name: "odd.rlog".to_owned(),
        problem: problem.to_owned(),
    });
    project.unused_suppressions.push("src/lib.rs:9 (allow RL001)".to_owned());
    project.unrecorded = unrecorded();
    project.judge();
    project
}

/// What the sources of the crate could use: two things that only one program has, and one of each
/// other kind.
fn unrecorded() -> Unrecorded {
    let place = |line, column| Place { file: "tests/warm.rs".to_owned(), line, column };
    let used = |name: &str, what, line| Use {
        place: place(line, 5),
        name: name.to_owned(),
        what,
        programs: vec!["warm".to_owned()],
    };
    Unrecorded {
        uses: vec![
            used("std::sync::Mutex", What::Sync, 3),
            used("std::sync::Arc", What::Arc, 3),
            used("std::sync::Arc::get_mut", What::ArcOrder, 9),
        ],
        crates: vec![Dependency { name: "rayon".to_owned(), programs: vec!["other".to_owned()] }],
        ..Unrecorded::default()
    }
}

/// Compares with a golden file.
pub(crate) fn check_golden(name: &str, text: &str) {
    check_text(&format!("tests/reports/golden/{name}"), text);
}
