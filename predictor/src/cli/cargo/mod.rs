//! `cargo racelog`: one command from test to proof.
//!
//! Cargo builds and runs with recording on (`build`, `runner`), the traces are found (`traces`) and
//! analysed, with those of many schedules if that is asked for (`schedules`), what was predicted is
//! confirmed (`confirm`), what is suspected is tried (`explore`), and
//! all is reported (`output`).

mod args;
mod build;
mod confirm;
mod explore;
mod graph;
mod hang;
mod init;
mod output;
mod own_runs;
mod recorded;
mod run_folder;
mod runner;
mod schedules;
mod settings;
mod sources;
mod traces;
mod trust;
mod unrecorded;
mod workspace;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Parser;
use racelog::interrupt;

use self::args::{
    Again, Analyze, Cargo, Clean, Command, Format, Merge, Output, Racelog, Replay, Run,
};
use self::build::{Named, Peeked, Way};
use self::output::Reporter;
use self::own_runs::OwnRuns;
use self::run_folder::RunFolder;
use self::schedules::Scheduled;
use self::settings::Resolved;
use self::sources::Files;
use self::traces::Before;
use self::trust::Trust;
use self::workspace::Workspace;
use super::progress::SharedProgress;
use super::{ERROR, Failure, Outcome, regular, say, terminal};
use crate::child::End;
use crate::finding::Kind;
use crate::project::{Explored, Progress, Project, Schedules, TraceFile, analyze, merge};
use crate::render;
use crate::unrecorded::{Unread, Unrecorded};

/// Runs the command that `args`, the program's name first, ask for.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Racelog::Racelog { command } = match Cargo::try_parse_from(args::sort(args)) {
        Ok(cargo) => cargo.racelog,
        Err(error) => {
            terminal::show_usage(&error);
            return ExitCode::from(if error.use_stderr() { ERROR } else { 0 });
        }
    };
    let code = |outcome: Outcome| ExitCode::from(outcome.code());
    let result = match &command {
        Command::Test(args) => record(&["test"], args, 0),
        Command::Nextest(args) => record(&["nextest", "run"], args, 0),
        Command::Run(args) => record(&["run"], args, 0),
        Command::Explore(args) => record(&["test"], args, SCHEDULES),
        Command::Report(args) => report(args).map(code),
        Command::Analyze(args) => analyze_traces(args).map(code),
        Command::Merge(args) => merge_shards(args).map(code),
        Command::Replay(args) => replay(args).map(code),
        Command::Explain { code: asked } => explain(asked).map(code),
        Command::Init(args) => init::run(args).map(code),
        Command::Clean(args) => clean(args).map(code),
        Command::Runner { words } => runner::run(words),
    };
    match result {
        Ok(code) => code,
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => {
            say("error", message);
            ExitCode::from(ERROR)
        }
    }
}

/// Under how many schedules `explore` runs each test.
const SCHEDULES: usize = 200;

/// Runs cargo, and does everything that comes after. Each test has so many schedules besides, if
/// nothing else is asked for.
fn record(subcommand: &[&str], args: &Run, schedules: usize) -> Result<ExitCode, Failure> {
    let peeked = Peeked::new(subcommand, &args.cargo);
    let workspace = Workspace::find(peeked.manifest.as_deref(), peeked.target_dir.as_deref())?;
    // What is wrong with the settings is better known before the build.
    let mut job = Job::new(&workspace, args.flags.resolve(&workspace.root, None)?)?;
    job.settings.confirm &= !args.no_confirm;
    if !workspace.uses_racelog() {
        say("warning", "no package here uses racelog: see `cargo racelog init`");
    }
    for package in workspace.without_record() {
        say(
            "warning",
            format_args!(
                "`{package}` uses racelog without its feature `record`: see `cargo racelog init`"
            ),
        );
    }
    let (runs, _temporary) = own_runs(&workspace)?;
    let unrecorded = sources_of(&workspace, subcommand, args, &peeked)?;
    let run_folder = RunFolder::new().map_err(|error| Failure::of("temporary folder", error))?;
    let before = Before::new(&workspace.traces()?);
    let quiet_output = args.output.output.is_none() && args.output.format != Format::Text;
    let time = job.settings.test_time;
    let own_allocator = !unrecorded.allocators.is_empty();
    let way = Way { runs: &runs, run_folder: &run_folder, time, quiet_output, own_allocator };
    interrupt::note_first();
    let end = build::run(&workspace, subcommand, &peeked, &way)?;
    interrupt::as_usual();
    let interrupted = interrupt::noted().map(Outcome::Interrupted);
    let succeeded = end == End::Exit(0);
    let cargos = end.code().and_then(|code| u8::try_from(code).ok());
    let cargos = ExitCode::from(cargos.unwrap_or(1));
    // Only what is new may take the place of what was there.
    if workspace.traces()?.iter().all(|file| before.has(file)) {
        return match interrupted {
            Some(outcome) => Ok(ExitCode::from(outcome.code())),
            None if succeeded && peeked.runs_nothing => Ok(ExitCode::SUCCESS),
            None if succeeded => Err(Failure::Message(NOTHING_RECORDED.to_owned())),
            None => {
                say("note", "nothing was recorded");
                let has_started = run_folder.has_started();
                let by_cargo = !has_started && is_refused(&workspace, &peeked, end.code());
                let refused = by_cargo || run_folder.was_refused();
                Ok(if refused { ExitCode::from(ERROR) } else { cargos })
            }
        };
    }
    if !args.keep_traces {
        before.remove(&workspace.folder, &runs)?;
    }
    let schedules = args.schedules.unwrap_or(schedules);
    let scheduled = match interrupted {
        None if schedules > 0 => Some(job.explore(&runs, schedules)?),
        _ => None,
    };
    let interrupted = interrupt::noted().map(Outcome::Interrupted);
    let files = workspace.traces()?;
    hang::say_where_threads_stood(&files, &run_folder, interrupted.is_some());
    unrecorded::keep(&workspace.folder, &unrecorded)?;
    let mut project = job.analyze(&files, unrecorded);
    if let Some(scheduled) = scheduled {
        project.add_directed(scheduled.findings, &job.sources);
        let schedules =
            Schedules { tests: scheduled.tests, runs: scheduled.runs, seconds: scheduled.seconds };
        project.explored.get_or_insert_default().schedules = Some(schedules);
    }
    // A user who interrupts does not want more to be run.
    let again = interrupted
        .is_none()
        .then(|| RunAgain { trust: Trust::OwnRuns(Some(runs)), recording: run_folder.run_time() });
    let outcome = job.finish(project, &args.output, again)?;
    Ok(match interrupted.unwrap_or(outcome) {
        Outcome::NothingFound if !succeeded => {
            say("note", format_args!("nothing was found, but `cargo {}` failed", subcommand[0]));
            if run_folder.was_refused() { ExitCode::from(ERROR) } else { cargos }
        }
        outcome => ExitCode::from(outcome.code()),
    })
}

const NOTHING_RECORDED: &str = "nothing was recorded: mark tests `#[racelog::test]` and import from \
                                racelog what is imported from std; `cargo racelog init` shows how";

/// Whether cargo has refused its arguments. Its parser ends with 1; for packages and targets that
/// there are none of it ends with 101, as for code that does not compile.
fn is_refused(workspace: &Workspace, args: &Peeked, code: Option<i32>) -> bool {
    let is_there = |(named, name): &(Named, String)| match named {
        Named::Package => workspace.knows_package(name),
        Named::Target(kind) => workspace.has_target(kind, name),
    };
    code == Some(1) || !args.named.iter().all(is_there)
}

/// Where the commands of this run are kept. Without a home they are known until it is over.
fn own_runs(workspace: &Workspace) -> Result<(OwnRuns, Option<tempfile::TempDir>), Failure> {
    match OwnRuns::of(&workspace.folder) {
        Some(runs) => Ok((runs, None)),
        None => {
            say("warning", "there is no HOME to keep commands in: `replay` will not know them");
            let made = own_runs::temporary().map_err(|error| Failure::of("temporary", error))?;
            Ok((made.0, Some(made.1)))
        }
    }
}

/// What the sources use that is not recorded. A program that is looked at is not yet run.
fn sources_of(
    workspace: &Workspace,
    subcommand: &[&str],
    args: &Run,
    peeked: &Peeked,
) -> Result<Unrecorded, Failure> {
    let flags = build::rustflags(peeked)?;
    let mut found = match unrecorded::list(workspace, subcommand, peeked, &flags) {
        Ok(found) => found,
        Err(problem) if args.deny_unrecorded => return Err(Failure::of("cargo tree", problem)),
        Err(problem) => {
            // What nobody has looked through may use anything.
            let file = workspace.name_of(&workspace.root.join("Cargo.toml"));
            let unread = vec![Unread { file, problem, programs: Vec::new() }];
            Unrecorded { unread, ..Unrecorded::default() }
        }
    };
    if args.deny_unrecorded && !found.is_empty() {
        let mut lines = Vec::new();
        unrecorded::show(&mut lines, &found)?;
        terminal::complain(String::from_utf8_lossy(&lines).trim_end());
        let problem = format!("{} uses of what is not recorded, see above", found.uses.len());
        return Err(Failure::of("--deny-unrecorded", problem));
    }
    unrecorded::summarise(&found);
    if args.keep_traces {
        found.add(unrecorded::kept(&workspace.folder)?);
    }
    Ok(found)
}

/// Reports again, and starts no program: what is there may be anybody's. What was found out before
/// is used if it is about the traces that are there.
fn report(args: &Again) -> Result<Outcome, Failure> {
    let workspace = Workspace::find(args.manifest_path.as_deref(), None)?;
    let job = Job::new(&workspace, args.flags.resolve(&workspace.root, None)?)?;
    let files = workspace.traces()?;
    if files.is_empty() {
        let problem = "there are no traces: `cargo racelog test` makes some";
        return Err(Failure::of(workspace.folder.display(), problem));
    }
    let path = workspace.report();
    let written = path.metadata().and_then(|file| file.modified()).ok();
    let before = written.and_then(|_| read(&path).ok());
    let is_new = !args.analyze && written >= traces::newest(&files);
    let project = match before {
        Some(project) if is_new && is_about(&project, &files) => project,
        before => {
            let mut project = job.analyze(&files, unrecorded::kept(&workspace.folder)?);
            if let Some(before) = before {
                let older =
                    |file: &TraceFile| traces::newest(std::slice::from_ref(file)) <= written;
                let is_same =
                    |name: &str| files.iter().any(|file| file.name == name && older(file));
                project.keep_replays(&before, is_same);
                project.keep_directed(&before, is_same, &job.sources);
            }
            project
        }
    };
    let outcome = job.finish(project, &args.output, None)?;
    if args.open {
        output::open(&workspace.html())?;
    }
    Ok(outcome)
}

/// Whether a report is about just these files.
fn is_about(project: &Project, files: &[TraceFile]) -> bool {
    let traces = project.traces.iter().map(|trace| &trace.name);
    let mut names: Vec<&String> = traces.chain(project.skipped.iter().map(|s| &s.name)).collect();
    names.sort_unstable();
    names.into_iter().eq(files.iter().map(|file| &file.name))
}

fn read(path: &Path) -> Result<Project, Failure> {
    let text = regular::read(path, regular::ANY_SIZE);
    let text = text.map_err(|error| Failure::of(path.display(), error))?;
    Project::from_json(&text).map_err(|error| Failure::of(path.display(), error))
}

fn analyze_traces(args: &Analyze) -> Result<Outcome, Failure> {
    let workspace = Workspace::find(args.manifest_path.as_deref(), None)?;
    let job = Job::new(&workspace, args.flags.resolve(&workspace.root, args.shard)?)?;
    let paths =
        if args.paths.is_empty() { vec![workspace.folder.clone()] } else { args.paths.clone() };
    let files = traces::find_all(&paths)?;
    if files.is_empty() {
        return Err(Failure::of(paths[0].display(), "there are no traces"));
    }
    let folder = paths.first().filter(|path| path.is_dir()).map(PathBuf::as_path);
    let unrecorded = folder.map(unrecorded::kept).transpose()?.unwrap_or_default();
    let mut project = job.analyze(&files, unrecorded);
    job.weigh(&mut project);
    job.write(&project, &args.output, folder)?;
    Ok(outcome(&project))
}

fn merge_shards(args: &Merge) -> Result<Outcome, Failure> {
    let workspace = Workspace::find(args.manifest_path.as_deref(), None)?;
    let job = Job::new(&workspace, args.flags.resolve(&workspace.root, None)?)?;
    let shards: Vec<Project> =
        args.reports.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let mut project = merge(shards).map_err(|error| Failure::Message(error.to_string()))?;
    job.weigh(&mut project);
    job.write(&project, &args.output, Some(&workspace.folder))?;
    Ok(outcome(&project))
}

fn replay(args: &Replay) -> Result<Outcome, Failure> {
    let workspace = Workspace::find(args.manifest_path.as_deref(), None)?;
    let settings = args.flags.resolve(&workspace.root, None)?;
    let path = workspace.report();
    if !path.exists() {
        let problem = "there is no report: `cargo racelog test` makes one";
        return Err(Failure::of(path.display(), problem));
    }
    let project = read(&path)?;
    let finding = project.findings.iter().find(|finding| finding.number == args.number);
    let finding = finding.ok_or_else(|| {
        let last = project.findings.len();
        Failure::of(
            path.display(),
            format!("there is no finding {}, they end at {last}", args.number),
        )
    })?;
    let folder = &workspace.folder;
    let trust = match args.trust_command {
        true => Trust::File,
        false => Trust::OwnRuns(OwnRuns::of(folder)),
    };
    interrupt::note_first();
    let announce = |again: &trust::Again| match trust {
        Trust::OwnRuns(_) => {
            let command = again.shown();
            say("note", format_args!("runs what this machine ran before: {command}"));
        }
        Trust::File => {
            let (file, command) = (recorded::FILE, again.shown_in_full());
            say("note", format_args!("runs what {file} says, which is trusted:\n  {command}"));
        }
    };
    if finding.best().directed.is_some() {
        let programs = explore::Programs { traces: folder, trust: &trust };
        return explore::replay(finding, &programs, &settings, announce);
    }
    let replayed = confirm::replay(finding.best(), folder, &trust, &settings, announce);
    if let Some(signal) = interrupt::noted() {
        say("error", "interrupted");
        return Ok(Outcome::Interrupted(signal));
    }
    interrupt::as_usual();
    let replayed = replayed.map_err(|cause| {
        let problem = render::replay_lines(&crate::finding::Replay::failed(cause)).join("\n");
        Failure::of(format_args!("finding {}", args.number), problem)
    })?;
    let mut out = terminal::stdout(terminal::Kind::Text);
    render::write_replay(&mut out, &replayed)?;
    output::show_printed(&mut out, &replayed)?;
    out.flush()?;
    Ok(if replayed.is_confirmed() { Outcome::NothingFound } else { Outcome::Found })
}

fn explain(asked: &str) -> Result<Outcome, Failure> {
    let page = render::explain(asked).ok_or_else(|| {
        let codes: Vec<&str> = Kind::KNOWN.iter().map(Kind::code).collect();
        Failure::Message(format!("there is no code `{asked}`, only {}", codes.join(", ")))
    })?;
    let mut out = terminal::stdout(terminal::Kind::Text);
    writeln!(out, "{}", page.trim_end())?;
    out.flush()?;
    Ok(Outcome::NothingFound)
}

fn clean(args: &Clean) -> Result<Outcome, Failure> {
    let workspace = Workspace::find(args.manifest_path.as_deref(), None)?;
    let folder = &workspace.folder;
    let problem = |path: &Path, error| Failure::of(path.display(), error);
    if let Some(runs) = OwnRuns::of(folder) {
        runs.forget().map_err(|error| problem(runs.folder(), error))?;
    }
    if !folder.exists() {
        return Ok(Outcome::NothingFound);
    }
    if args.traces {
        let entries = fs::read_dir(folder).map_err(|error| problem(folder, error))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let removed = match path.is_dir() {
                true if path == workspace.build_folder() => Ok(()),
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(|error| problem(&path, error))?;
        }
    } else {
        fs::remove_dir_all(folder).map_err(|error| problem(folder, error))?;
    }
    Ok(Outcome::NothingFound)
}

/// How programs are run again.
struct RunAgain {
    trust: Trust,
    /// How long they ran when they were recorded.
    recording: Duration,
}

/// What there is to do in a workspace, and how.
struct Job<'a> {
    workspace: &'a Workspace,
    settings: Resolved,
    sources: Files,
    baseline: Option<Project>,
}

impl<'a> Job<'a> {
    fn new(workspace: &'a Workspace, settings: Resolved) -> Result<Self, Failure> {
        let baseline = settings.baseline.as_deref().map(read).transpose()?;
        Ok(Self { workspace, settings, sources: Files::new(workspace), baseline })
    }

    /// Runs each test under many schedules.
    fn explore(&self, runs: &OwnRuns, schedules: usize) -> Result<Scheduled, Failure> {
        interrupt::note_first();
        let bar = SharedProgress::new("schedules");
        let scheduled =
            schedules::run(self.workspace, runs, &self.settings, schedules, |done, all| {
                bar.update(done, all);
            });
        drop(bar);
        interrupt::as_usual();
        scheduled
    }

    /// Analyses traces of programs whose sources use what is listed.
    fn analyze(&self, files: &[TraceFile], unrecorded: Unrecorded) -> Project {
        // Every trace is worth the same; within one, every signature.
        const WORTH: usize = 1000;
        let done: Vec<AtomicUsize> = files.iter().map(|_| AtomicUsize::new(0)).collect();
        let bar = SharedProgress::new("analysing");
        let mut project = analyze(files, &self.settings.analysis, &self.sources, |progress| {
            match progress {
                Progress::Signatures(trace, some, all) => {
                    done[trace].store(some * WORTH / all.max(1), Ordering::Relaxed);
                }
                Progress::Trace(trace) => done[trace].store(WORTH, Ordering::Relaxed),
            }
            let sum = done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
            bar.update(sum, files.len() * WORTH);
        });
        drop(bar);
        project.unrecorded = unrecorded;
        project.judge();
        project
    }

    /// Finds out which findings count.
    fn weigh(&self, project: &mut Project) {
        let mut suppressions = self.settings.suppressions.clone();
        suppressions.extend(sources::suppressions(self.workspace, &self.sources));
        project.suppress(&suppressions, &self.sources);
        for finding in &mut project.findings {
            finding.known = false;
        }
        if let Some(baseline) = &self.baseline {
            project.compare(baseline);
        }
        project.strict = self.settings.strict;
        project.judge();
    }

    /// Does what comes after the analysis, and keeps the report. Programs are run again only if the
    /// file that says how may be trusted.
    fn finish(
        &self,
        mut project: Project,
        how: &Output,
        again: Option<RunAgain>,
    ) -> Result<Outcome, Failure> {
        self.weigh(&mut project);
        if let Some(RunAgain { trust, recording }) = again.filter(|_| self.settings.confirm) {
            let folder = &self.workspace.folder;
            interrupt::note_first();
            let bar = SharedProgress::new("confirming");
            confirm::confirm(&mut project, folder, &trust, &self.settings, |done, all| {
                bar.update(done, all);
            });
            drop(bar);
            project.judge();
            let budget = explore::Budget::new(self.settings.explore_time, recording);
            let bar = SharedProgress::new("exploring");
            let programs = explore::Programs { traces: folder, trust: &trust };
            let explored =
                explore::explore(&project, &programs, &self.settings, budget, |done, all| {
                    bar.update(done, all);
                });
            drop(bar);
            interrupt::as_usual();
            if let Some((found, explored)) = explored {
                let happened = project.add_directed(found, &self.sources);
                let schedules = project.explored.take().and_then(|before| before.schedules);
                project.explored = Some(Explored { happened, schedules, ..explored });
            }
            self.weigh(&mut project);
        }
        output::replace(&self.workspace.report(), project.to_json().as_bytes())?;
        let html = self.reporter(&project, Some(&self.workspace.folder)).html()?;
        output::replace(&self.workspace.html(), &html)?;
        self.write(&project, how, Some(&self.workspace.folder))?;
        if how.format == Format::Text && how.output.is_none() && !how.quiet {
            say("note", format_args!("the same for browsers: {}", self.workspace.html().display()));
        }
        Ok(interrupt::noted().map_or_else(|| outcome(&project), Outcome::Interrupted))
    }

    fn write(&self, project: &Project, how: &Output, traces: Option<&Path>) -> Result<(), Failure> {
        self.reporter(project, traces).write(how)
    }

    fn reporter<'b>(&'b self, project: &'b Project, traces: Option<&'b Path>) -> Reporter<'b> {
        Reporter { project, sources: &self.sources, traces, strip: &self.settings.analysis.strip }
    }
}

/// What the exit code says. A clean result must be about everything; what is doubtful is no error.
fn outcome(project: &Project) -> Outcome {
    let unconfirmed = |counts: &crate::predict::Counts| counts.unknown.unconfirmed > 0;
    let bug = project.traces.iter().filter_map(|trace| trace.counts.as_ref()).any(unconfirmed);
    match project.errors().next() {
        _ if bug => Outcome::Incomplete,
        Some(_) => Outcome::Found,
        None if !project.skipped.is_empty() => Outcome::Incomplete,
        None => Outcome::NothingFound,
    }
}
