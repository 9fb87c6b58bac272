//! Runs a program under control, and collects what it leaves.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime};

use racelog::contract::environment::Variable;
use racelog::contract::place::PlacePair;
use racelog::contract::seed::Seed;
use racelog::interrupt;
use racelog::trace::Metadata;
use tempfile::TempDir;

use super::Failure;
use super::bounded::{self, Bounds, End};
use crate::replay::{Aftermath, Cause, ControlledRun, Replayed, ReportNames};

/// How many of the last lines of a program that went wrong are shown.
const LAST_LINES: usize = 5;

/// What is said of a run that somebody has stopped.
pub(super) const INTERRUPTED: &str = "it was interrupted";

/// A program that is to be run.
pub(super) struct Program<'a> {
    words: &'a [OsString],
    time: Duration,
    surroundings: Option<&'a Surroundings>,
}

/// Where a program runs, if not here.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) folder: PathBuf,
    /// Variables that it finds besides ours.
    pub(super) variables: Vec<(String, String)>,
}

/// A run that is over.
pub(super) struct Ended {
    pub(super) outcome: ControlledRun,
    pub(super) code: Option<i32>,
    pub(super) printed: Vec<u8>,
}

/// Why a run has left nothing to read.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It was not run, or not under control.
    NotRun { program: String, problem: String },
    /// It was still running when its time was up.
    TimeUp { program: String, seconds: f64, said: String },
    /// It was killed; before the race, if it is a replay: after that there is what was said of it.
    Killed { program: String, signal: i32, replays: bool, said: String },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRun { program, problem } => write!(f, "{program}: {problem}"),
            Self::TimeUp { program, seconds, said } => write!(
                f,
                "{program}: it has not ended within {seconds} seconds: raise --run-time{said}"
            ),
            Self::Killed { program, signal, replays, said } => {
                let when = if *replays { "before the race" } else { "and left no outcome" };
                write!(f, "{program}: it was killed by signal {signal} {when}{said}")
            }
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Message(trouble.to_string())
    }
}

impl From<Trouble> for Cause {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NotRun { .. } => Self::NotRun { problem: trouble.to_string() },
            Trouble::TimeUp { seconds, .. } => Self::TimeUp { seconds },
            Trouble::Killed { signal, .. } => Self::Killed { signal },
        }
    }
}

/// What the run is told.
pub(super) enum Control<'a> {
    /// To follow a schedule, which is given as text.
    Schedule(&'a str),
    /// To go by a seed, and to look out for a race at two places.
    Seed { seed: &'a Seed, race: Option<&'a PlacePair> },
}

impl<'a> Program<'a> {
    /// A program with its arguments, and how long each run may take.
    pub(super) fn new(words: &'a [OsString], time: Duration) -> Self {
        Self { words, time, surroundings: None }
    }

    /// The same program, run elsewhere.
    pub(super) fn within(mut self, surroundings: &'a Surroundings) -> Self {
        self.surroundings = Some(surroundings);
        self
    }

    /// Runs it once. The names are those of the report that says how it went.
    pub(super) fn run(&self, control: &Control<'_>, names: &ReportNames) -> Result<Ended, Trouble> {
        let problem = |problem: String| Trouble::NotRun { program: self.name(), problem };
        let folder = TempDir::with_prefix("racelog-")
            .map_err(|error| problem(format!("there is no room for its outcome: {error}")))?;
        let files = Files::new(folder.path());
        let mut command = Command::new(&self.words[0]);
        if let Some(surroundings) = self.surroundings {
            let variables = surroundings.variables.iter().map(|(name, value)| (name, value));
            command.current_dir(&surroundings.folder).envs(variables);
        }
        command.args(&self.words[1..]).env(Variable::Outcome, &files.outcome);
        // What is set outside would ask for something else.
        for variable in Variable::CONTROLLING {
            command.env_remove(variable);
        }
        match *control {
            Control::Schedule(text) => {
                let written = fs::write(&files.schedule, text);
                written.map_err(|error| problem(format!("no schedule can be written: {error}")))?;
                command.env(Variable::Schedule, &files.schedule);
                // The run is recorded as it goes; nobody needs that trace.
                command.env(Variable::Folder, folder.path()).env_remove(Variable::MaxBytes);
            }
            Control::Seed { seed, race } => {
                command.env(Variable::Control, seed.to_string());
                command.envs(race.map(|race| (Variable::Race, race.to_string())));
            }
        }
        let status = self.wait(&mut command, &files).map_err(problem)?;
        let Ok(text) = fs::read_to_string(&files.outcome) else {
            if let (Control::Seed { .. }, Some(then)) = (control, cut_short(status)) {
                // Of many runs that is one, and the next may go another way.
                let printed = fs::read(&files.out).unwrap_or_default();
                return Ok(Ended { outcome: ControlledRun::cut_short(then), code: None, printed });
            }
            return Err(self.why_none(control, status, &last_lines(&files.err)));
        };
        let mut outcome = ControlledRun::parse(&text, names).map_err(|error| {
            problem(format!("its outcome cannot be read, perhaps it uses another racelog: {error}"))
        })?;
        if outcome.then == Aftermath::Unended {
            // It had no chance to say what followed.
            outcome.then = match status {
                None => Aftermath::Unended,
                Some(status) => signal_of(status).map_or(Aftermath::Nothing, Aftermath::Killed),
            };
        }
        let printed = fs::read(&files.out).unwrap_or_default();
        Ok(Ended { outcome, code: status.and_then(|status| status.code()), printed })
    }

    /// Why there is no outcome.
    fn why_none(&self, control: &Control<'_>, status: Option<ExitStatus>, said: &str) -> Trouble {
        let (program, said) = (self.name(), said.to_owned());
        let Some(status) = status else {
            return Trouble::TimeUp { program, seconds: self.time.as_secs_f64(), said };
        };
        if let Some(signal) = signal_of(status) {
            let replays = matches!(control, Control::Schedule(_));
            return Trouble::Killed { program, signal, replays, said };
        }
        let what = match status.code() {
            Some(2) => "it could not be run under control",
            _ => {
                "it has left no outcome: it must use racelog with the feature `record`, and end by \
                 itself"
            }
        };
        Trouble::NotRun { program, problem: format!("{what} ({status}){said}") }
    }

    fn name(&self) -> String {
        self.words[0].to_string_lossy().into_owned()
    }

    /// Runs a command until it ends, or its time is up: then there is no status.
    fn wait(&self, command: &mut Command, files: &Files) -> Result<Option<ExitStatus>, String> {
        let create = |path: &Path| {
            File::create(path).map_err(|error| format!("its output goes nowhere: {error}"))
        };
        command.stdin(Stdio::null()).stdout(create(&files.out)?).stderr(create(&files.err)?);
        let stop = || interrupt::noted().is_some();
        let bounds = Bounds { time: Some(self.time), stop: &stop, own_group: true };
        match bounded::run(command, &bounds) {
            Ok(End::Itself(status)) => Ok(Some(status)),
            Ok(End::TimeUp) => Ok(None),
            Ok(End::Stopped) => Err(INTERRUPTED.to_owned()),
            Err(error) => Err(format!("it cannot be started: {error}")),
        }
    }
}

/// If a program did not follow its schedule, and is not the one that was recorded, that is why.
pub(super) fn explain_by_program(replayed: &mut Replayed, metadata: &Metadata) {
    let programs = replayed.orders.iter().find_map(|order| order.outcome.program.clone());
    let (Some(program), Some(recorded)) = (programs, metadata.program.clone()) else { return };
    let since_epoch = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let written = fs::metadata(&program).and_then(|file| file.modified()).ok();
    let written = written.and_then(since_epoch);
    let started = metadata.started.map(Duration::from_millis);
    let why = if program != recorded {
        format!("the program is `{program}`, and `{recorded}` is what was recorded")
    } else if started.is_some() && written > started {
        format!("`{program}` was written anew after it was recorded")
    } else {
        return;
    };
    let problem = format!("{why}: record it again");
    replayed.explained_by(Cause::ProgramChanged { recorded, program: Some(program), problem });
}

/// What became of a program that could not say it itself.
fn cut_short(status: Option<ExitStatus>) -> Option<Aftermath> {
    match status {
        None => Some(Aftermath::Unended),
        Some(status) => signal_of(status).map(Aftermath::Killed),
    }
}

/// The signal that killed a program.
#[cfg(unix)]
pub(super) fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(super) fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// Where a run leaves what.
struct Files {
    schedule: PathBuf,
    outcome: PathBuf,
    out: PathBuf,
    err: PathBuf,
}

impl Files {
    fn new(folder: &Path) -> Self {
        let [schedule, outcome, out, err] =
            ["schedule", "outcome", "out", "err"].map(|name| folder.join(name));
        Self { schedule, outcome, out, err }
    }
}

/// The end of what a program said.
fn last_lines(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines: Vec<&str> = text.lines().rev().take(LAST_LINES).collect();
    lines.reverse();
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
