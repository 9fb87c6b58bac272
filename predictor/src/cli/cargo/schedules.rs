//! `cargo racelog explore`: every test under many schedules, directed to nothing.
//!
//! The tests are those that the programs list, whatever attribute they have: it is enough that they
//! use recorded types. Each schedule is a run of one test in a process of its own, by a random walk
//! or by priorities in turn, and it is recorded. What goes wrong is a finding if it does so again
//! by the same seed, and not under every schedule. A recording is kept, and analysed with those of
//! the ordinary runs, if a thread of it does something else than in all that are kept: a new
//! schedule shows new code.
//!
//! One bad run ends nothing but itself, and an interrupt keeps what was found.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use racelog::contract::environment::Variable;
use racelog::contract::seed::Seed;
use racelog::interrupt;
use rayon::prelude::*;
use tempfile::TempDir;

use super::super::{Failure, say};
use super::explore::{AGAIN, RUN_TIME};
use super::own_runs::OwnRuns;
use super::recorded::{FILE, Recorded};
use super::settings::Resolved;
use super::workspace::Workspace;
use crate::child::controlled::{Control, ControlledProgram, Surroundings};
use crate::child::{Bounds, End, Limits, run_captured};
use crate::directed::{DEPTH, Failures, Origin, Ran};
use crate::finding::Finding;
use crate::fuzz;
use crate::replay::thread_names;
use crate::suspects::Suspects;
use crate::trace::Trace;
use crate::trace::format::{Format, Source};

/// How many recordings of a test are kept besides those of runs that went wrong.
const MOST_KEPT: usize = 8;

/// How long a test program may take to list its tests.
const LISTING: Duration = Duration::from_secs(30);

/// A test, and how it is run alone.
struct Test {
    /// The folder of its traces.
    program: String,
    recorded: Recorded,
    words: Vec<OsString>,
    surroundings: Surroundings,
}

/// What is known of a test by now.
#[derive(Default)]
struct Known {
    /// How many steps a run has.
    length: u64,
    /// What the threads of the recordings that are kept do.
    shapes: HashSet<u64>,
    failures: Failures,
    /// The recordings of the runs that `failures` has kept.
    traces: Vec<(Seed, PathBuf)>,
    is_given_up: bool,
}

/// What came of all schedules.
#[derive(Default)]
pub(super) struct Scheduled {
    /// What went wrong.
    pub(super) findings: Vec<Finding>,
    /// How many tests there were.
    pub(super) tests: u64,
    /// How many schedules they had together.
    pub(super) runs: u64,
    /// How long that took.
    pub(super) seconds: f64,
}

/// A run that is over, and its recording.
struct Recording {
    ran: Ran,
    folder: TempDir,
}

/// Runs each test of all programs that were recorded under so many schedules.
pub(super) fn run(
    workspace: &Workspace,
    runs: &OwnRuns,
    settings: &Resolved,
    schedules: usize,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Result<Scheduled, Failure> {
    let work = || campaign(workspace, runs, settings, schedules, progress);
    let jobs = settings.analysis.jobs.unwrap_or(0);
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn campaign(
    workspace: &Workspace,
    runs: &OwnRuns,
    settings: &Resolved,
    schedules: usize,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Result<Scheduled, Failure> {
    let tests = tests(&workspace.folder, runs)?;
    let mut known: Vec<Known> = tests.iter().map(|_| Known::default()).collect();
    let campaign = fuzz::Campaign {
        strategy: fuzz::Strategy::Random,
        runs: schedules,
        seed: 0,
        depth: DEPTH,
        length: 0,
    };
    let (started, done) = (Instant::now(), AtomicUsize::new(0));
    let is_over = || {
        let is_late = settings.explore_time.is_some_and(|time| started.elapsed() >= time);
        is_late || interrupt::noted().is_some()
    };
    let mut scheduled = Scheduled { tests: tests.len() as u64, ..Scheduled::default() };
    for (round, number) in campaign.seeds().into_iter().enumerate() {
        if is_over() {
            break;
        }
        let one = |(test, known): (&Test, &mut Known)| {
            let seed = match round % 2 {
                0 => Seed::Random { number },
                _ => Seed::Pct { depth: DEPTH, length: known.length.max(1), number },
            };
            let recording =
                (!known.is_given_up && !is_over()).then(|| record(test, &seed, settings, false));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, tests.len() * schedules);
            match recording? {
                Ok(recording) => keep(&workspace.folder, test, known, seed, &recording),
                // That it was interrupted says nothing of the program.
                Err(_) if interrupt::noted().is_some() => return None,
                Err(problem) => {
                    say("warning", problem);
                    known.is_given_up = true;
                }
            }
            Some(())
        };
        let ran = tests.par_iter().zip(&mut known).map(one);
        scheduled.runs += ran.flatten().count() as u64;
    }
    let findings = tests.par_iter().zip(&known).flat_map_iter(|(test, known)| {
        findings(test, known, &workspace.folder, settings).collect::<Vec<_>>()
    });
    scheduled.findings = findings.collect();
    for test in &tests {
        // A test of its own attribute is run by its name, the others as the program was.
        if let Err(error) = runs.keep(&test.program, &test.recorded) {
            say("warning", format_args!("`{}` cannot be replayed: {error}", test.program));
        }
    }
    scheduled.seconds = started.elapsed().as_secs_f64();
    Ok(scheduled)
}

/// All tests of the programs that were recorded.
fn tests(traces: &Path, runs: &OwnRuns) -> Result<Vec<Test>, Failure> {
    let problem = |error| Failure::of(traces.display(), error);
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = fs::read_dir(traces)
        .map_err(problem)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join(FILE).is_file())
        .collect();
    folders.sort();
    for folder in folders {
        let Some(program) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        // As it was run last: before, its arguments may have chosen other tests.
        let Some(last) = Recorded::read(&folder) else { continue };
        let Ok(recorded) = runs.find(program, Some(&last.arguments)) else { continue };
        match list(&recorded) {
            Ok(names) => found.extend(names.iter().map(|name| test(program, &recorded, name))),
            Err(why) => say("warning", format_args!("`{program}` lists no tests: {why}")),
        }
    }
    Ok(found)
}

fn test(program: &str, recorded: &Recorded, name: &str) -> Test {
    let wants_ignored = |word: &String| ["--ignored", "--include-ignored"].contains(&word.as_str());
    let mut arguments: Vec<String> =
        [name, "--exact", "--nocapture", "--test-threads=1"].map(str::to_owned).into();
    if recorded.arguments.iter().any(wants_ignored) {
        arguments.push("--include-ignored".to_owned());
    }
    let words = recorded.words.iter().chain(&arguments).map(OsString::from).collect();
    let surroundings =
        Surroundings { folder: recorded.folder.clone(), variables: recorded.variables.clone() };
    let recorded = Recorded { arguments, ended: None, ..recorded.clone() };
    Test { program: program.to_owned(), recorded, words, surroundings }
}

/// The names of the tests that a program would run with its arguments.
fn list(recorded: &Recorded) -> Result<Vec<String>, String> {
    let mut command = Command::new(&recorded.words[0]);
    command.args(&recorded.words[1..]).args(&recorded.arguments);
    command.args(["--list", "--format", "terse"]).current_dir(&recorded.folder);
    command.envs(recorded.variables.iter().map(|(name, value)| (name, value)));
    for variable in Variable::ALL {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null());
    let limits = Limits { time: Some(LISTING), own_group: true, ..Limits::default() };
    let finished = run_captured(&mut command, &limits, Bounds::default());
    let finished = finished.map_err(|error| error.to_string())?;
    if finished.end != End::Exit(0) {
        return Err(format!("`--list` ended with {}", finished.end));
    }
    let text = String::from_utf8_lossy(&finished.stdout.into_bytes()).into_owned();
    Ok(text.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect())
}

/// Runs a test once, recorded; or `again`, also after an interrupt.
fn record(test: &Test, seed: &Seed, settings: &Resolved, again: bool) -> Result<Recording, String> {
    let folder = TempDir::with_prefix("racelog-").map_err(|error| error.to_string())?;
    let program = ControlledProgram::new(&test.words, settings.run_time.min(RUN_TIME));
    let program = program.within(&test.surroundings).unread().recorded_in(folder.path());
    let program = if again { program.uninterrupted() } else { program };
    let control = Control::Seed { seed, race: None, places: None };
    // The names are those of the schedule: no trace is known yet.
    let ended = program.run(control, &Default::default()).map_err(|error| error.to_string())?;
    Ok(Recording { ran: Ran { code: ended.end.code(), outcome: ended.outcome }, folder })
}

/// Notes how a run ended, and keeps its recording if it shows something new.
fn keep(traces: &Path, test: &Test, known: &mut Known, seed: Seed, recording: &Recording) {
    known.length = known.length.max(recording.ran.outcome.steps);
    let has_failed = known.failures.note(&seed, &recording.ran);
    let files = fs::read_dir(recording.folder.path()).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.retain(|path| Format::of_path(path).is_some());
    // Of a test with a session of its own, the process has at most what came before it.
    files.sort_by_key(|path| std::cmp::Reverse(path.metadata().map_or(0, |file| file.len())));
    let Some(file) = files.first() else { return };
    let Some(trace) = load(file) else { return };
    let is_new = known.shapes.len() < MOST_KEPT && known.shapes.insert(shape(&trace));
    if !is_new && !has_failed {
        return;
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    // A test without a session of its own has the name of the program.
    let name = match trace.metadata().test {
        Some(_) => stem.into_owned(),
        None => format!("{stem}.{}", test.recorded.arguments[0].replace("::", ".")),
    };
    let name = format!("{name}.{}.rlog", seed.to_string().replace(':', "-"));
    let target = traces.join(&test.program).join(name);
    // A temporary folder may be on another disk.
    if fs::copy(file, &target).is_ok() {
        known.traces.push((seed, target));
    }
}

fn load(file: &Path) -> Option<Trace> {
    let mut source = Source::open(file, None).ok()?;
    Trace::load(&mut source, |_| {}).ok()
}

/// What the threads do, each by itself: the same for two runs that differ in their order only.
fn shape(trace: &Trace) -> u64 {
    let mut threads: Vec<u64> = trace
        .threads()
        .map(|thread| {
            let mut hasher = DefaultHasher::new();
            for event in trace.events_of_thread(thread) {
                std::mem::discriminant(&trace.op(*event)).hash(&mut hasher);
                trace.source_place(*event).hash(&mut hasher);
            }
            hasher.finish()
        })
        .collect();
    threads.sort_unstable();
    let mut hasher = DefaultHasher::new();
    threads.hash(&mut hasher);
    hasher.finish()
}

/// What went wrong under some schedules, if it does so again.
fn findings<'a>(
    test: &'a Test,
    known: &'a Known,
    traces: &'a Path,
    settings: &'a Resolved,
) -> impl Iterator<Item = Finding> + 'a {
    let strip = &settings.analysis.strip;
    known.failures.news().into_iter().filter_map(move |shown| {
        let seed = &shown.task.seed;
        let (_, file) = known.traces.iter().find(|(of, _)| of == seed)?;
        let again = (0..AGAIN).all(|_| {
            let again = record(test, seed, settings, true);
            again.is_ok_and(|again| shown.is_again(&again.ran))
        });
        if !again {
            return None;
        }
        let trace = load(file)?;
        let name = file.strip_prefix(traces).ok()?.to_str()?.replace('\\', "/");
        let origin = Origin::new(&trace, &name, Suspects::default(), strip);
        // With the names of the trace.
        let again = run_named(test, seed, settings, &trace, strip)?;
        let shown = shown.with(again);
        shown.finding(&trace, &origin, |_| false, strip)
    })
}

/// As [`record`], with the names that a trace has for threads, and unrecorded.
fn run_named(
    test: &Test,
    seed: &Seed,
    settings: &Resolved,
    trace: &Trace,
    strip: &[String],
) -> Option<Ran> {
    let program = ControlledProgram::new(&test.words, settings.run_time.min(RUN_TIME));
    let program = program.within(&test.surroundings).unread().unrecorded().uninterrupted();
    let control = Control::Seed { seed, race: None, places: None };
    let ended = program.run(control, &thread_names(trace, strip)).ok()?;
    Some(Ran { code: ended.end.code(), outcome: ended.outcome })
}
