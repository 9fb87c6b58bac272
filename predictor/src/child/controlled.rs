//! Runs a program under control, and collects what it leaves.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use racelog::contract::environment::{RECORD_ON, Variable};
use racelog::contract::place::{PlaceList, PlacePair};
use racelog::contract::seed::Seed;
use tempfile::TempDir;
use thiserror::Error;

use super::{Bounds, End, Finished, Interrupt, Limits, run_captured};
use crate::replay::{Aftermath, Cause, ControlledRun, Order, Plan, PlannedRun, ReportNames};

/// How many of the last lines of a program that went wrong are shown.
const LAST_LINES: usize = 5;

/// The exit code of a program that finds that it cannot be run under control.
const NOT_CONTROLLED: i32 = 2;

/// What asks for control or for a trace.
const UNRECORDED: [Variable; 8] = [
    Variable::Seed,
    Variable::Control,
    Variable::Race,
    Variable::Places,
    Variable::Schedule,
    Variable::Record,
    Variable::Folder,
    Variable::MaxBytes,
];

/// A program that is run under control.
#[derive(Clone, Copy, Debug)]
pub struct ControlledProgram<'a> {
    words: &'a [OsString],
    time: Duration,
    surroundings: Option<&'a Surroundings>,
    unset: &'a [Variable],
    /// Whether nobody reads what it prints.
    is_unread: bool,
    /// Where its traces go, if it is recorded.
    traces: Option<&'a Path>,
    /// Whether an interrupt, which may have come before, ends it.
    is_interruptible: bool,
}

/// Where a program runs, if not in the folder and the environment of the command.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The folder.
    pub folder: PathBuf,
    /// Variables that it finds besides ours.
    pub variables: Vec<(String, String)>,
}

/// What decides a run.
#[derive(Clone, Copy, Debug)]
pub enum Control<'a> {
    /// A schedule, which is given as text.
    Schedule(&'a str),
    /// A seed. The program looks out for a race at two places.
    Seed {
        /// The seed.
        seed: &'a Seed,
        /// The places of the race.
        race: Option<&'a PlacePair>,
        /// The places that the seed goes by, if it holds threads back.
        places: Option<&'a PlaceList>,
    },
}

/// A run under control that is over.
#[derive(Clone, Debug)]
pub struct ControlledEnd {
    /// What the program says of it.
    pub outcome: ControlledRun,
    /// How it ended.
    pub end: End,
    /// How long it took.
    pub time: Duration,
    /// What it printed.
    pub printed: Vec<u8>,
}

/// Why a run has left nothing to read.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum NoOutcome {
    /// It was not run, or not under control.
    #[error("{program}: {problem}")]
    NotRun {
        /// The program.
        program: String,
        /// Why not.
        problem: String,
    },
    /// It was still running when its time was up.
    #[error("{program}: it has not ended within {seconds} seconds: raise --run-time{said}")]
    TimeUp {
        /// The program.
        program: String,
        /// Its time.
        seconds: f64,
        /// The end of what it said.
        said: String,
    },
    /// It was killed; before what was predicted, if it is a replay: after that there is what was
    /// said of it.
    #[error("{program}: it was killed by signal {signal} {}{said}", when(*.replays))]
    Killed {
        /// The program.
        program: String,
        /// The number of the signal.
        signal: i32,
        /// Whether it followed a schedule.
        replays: bool,
        /// The end of what it said.
        said: String,
    },
}

fn when(replays: bool) -> &'static str {
    if replays { "before what was predicted" } else { "and left no outcome" }
}

impl From<NoOutcome> for Cause {
    fn from(problem: NoOutcome) -> Self {
        match problem {
            NoOutcome::NotRun { .. } => Self::NotRun { problem: problem.to_string() },
            NoOutcome::TimeUp { seconds, .. } => Self::TimeUp { seconds },
            NoOutcome::Killed { signal, .. } => Self::Killed { signal },
        }
    }
}

impl<'a> ControlledProgram<'a> {
    /// A program with its arguments, and how long each run may take.
    pub fn new(words: &'a [OsString], time: Duration) -> Self {
        Self {
            words,
            time,
            surroundings: None,
            unset: &Variable::CONTROLLING,
            is_unread: false,
            traces: None,
            is_interruptible: true,
        }
    }

    /// The same program, run elsewhere.
    #[must_use]
    pub fn within(mut self, surroundings: &'a Surroundings) -> Self {
        self.surroundings = Some(surroundings);
        self
    }

    /// The same program, to which no variable of ours is handed on.
    #[must_use]
    pub fn without_variables(mut self) -> Self {
        self.unset = &Variable::ALL;
        self
    }

    /// The same program, which leaves no trace of any run.
    #[must_use]
    pub fn unrecorded(mut self) -> Self {
        self.unset = &UNRECORDED;
        self
    }

    /// The same program, whose traces go to a folder.
    #[must_use]
    pub fn recorded_in(mut self, traces: &'a Path) -> Self {
        self.unset = &UNRECORDED;
        self.traces = Some(traces);
        self
    }

    /// The same program, whose output nobody reads: a panic need not find out where it comes from,
    /// which takes longer than most runs.
    #[must_use]
    pub fn unread(mut self) -> Self {
        self.is_unread = true;
        self
    }

    /// The same program, which is run also after an interrupt: what was found before is to be kept.
    #[must_use]
    pub fn uninterrupted(mut self) -> Self {
        self.is_interruptible = false;
        self
    }

    /// Runs it once. The names are those of the report that says how it went.
    pub fn run(
        &self,
        control: Control<'_>,
        names: &ReportNames,
    ) -> Result<ControlledEnd, NoOutcome> {
        let problem = |problem: String| NoOutcome::NotRun { program: self.name(), problem };
        let folder = TempDir::with_prefix("racelog-")
            .map_err(|error| problem(format!("there is no room for its outcome: {error}")))?;
        let mut command = self.command(control, folder.path()).map_err(problem)?;
        let limits = Limits {
            time: Some(self.time),
            own_group: true,
            interrupt: if self.is_interruptible { Interrupt::Ends } else { Interrupt::Ignored },
            stop_when: None,
        };
        let finished = run_captured(&mut command, &limits, Bounds::default());
        let Finished { end, time, stdout, stderr } =
            finished.map_err(|error| problem(error.to_string()))?;
        if end == End::Stopped {
            return Err(problem("it was interrupted".to_owned()));
        }
        let printed = stdout.into_bytes();
        let Ok(text) = fs::read_to_string(outcome_file(folder.path())) else {
            if let (Control::Seed { .. }, Some(then)) = (control, cut_short(end)) {
                // Of many runs that is one, and the next may go another way.
                let outcome = ControlledRun::cut_short(then);
                return Ok(ControlledEnd { outcome, end, time, printed });
            }
            return Err(self.why_none(control, end, last_lines(&stderr.bytes)));
        };
        let mut outcome = ControlledRun::parse(&text, names).map_err(|error| {
            problem(format!("its outcome cannot be read, perhaps it uses another racelog: {error}"))
        })?;
        if outcome.then == Aftermath::Unended {
            // It had no chance to say what followed.
            outcome.then = cut_short(end).unwrap_or(Aftermath::Nothing);
        }
        Ok(ControlledEnd { outcome, end, time, printed })
    }

    /// Runs it under the schedules of a plan, one after the other.
    pub fn replay(&self, plan: &Plan, names: &ReportNames) -> Result<Vec<Order>, NoOutcome> {
        let run = |PlannedRun { first, text }: PlannedRun| {
            let ended = self.run(Control::Schedule(&text), names)?;
            let (outcome, code, printed) = (ended.outcome, ended.end.code(), ended.printed);
            Ok(Order { first, outcome, code, printed })
        };
        plan.runs().into_iter().map(run).collect()
    }

    fn command(&self, control: Control<'_>, folder: &Path) -> Result<Command, String> {
        let mut command = Command::new(&self.words[0]);
        if let Some(surroundings) = self.surroundings {
            let variables = surroundings.variables.iter().map(|(name, value)| (name, value));
            command.current_dir(&surroundings.folder).envs(variables);
        }
        command.args(&self.words[1..]);
        // What is set outside would ask for something else.
        for variable in self.unset {
            command.env_remove(variable);
        }
        command.env(Variable::Outcome, outcome_file(folder));
        if let Some(traces) = self.traces {
            command.env(Variable::Record, RECORD_ON).env(Variable::Folder, traces);
        }
        if self.is_unread {
            command.env("RUST_BACKTRACE", "0");
        }
        match control {
            Control::Schedule(text) => {
                let schedule = folder.join("schedule");
                let written = fs::write(&schedule, text);
                written.map_err(|error| format!("no schedule can be written: {error}"))?;
                command.env(Variable::Schedule, &schedule);
                // The run is recorded as it goes; nobody needs that trace.
                command.env(Variable::Folder, folder).env_remove(Variable::MaxBytes);
            }
            Control::Seed { seed, race, places } => {
                command.env(Variable::Control, seed.to_string());
                command.envs(race.map(|race| (Variable::Race, race.to_string())));
                command.envs(places.map(|places| (Variable::Places, places.to_string())));
            }
        }
        Ok(command)
    }

    /// Why there is no outcome.
    fn why_none(&self, control: Control<'_>, end: End, said: String) -> NoOutcome {
        let program = self.name();
        let what = match end {
            End::TimeUp => {
                return NoOutcome::TimeUp { program, seconds: self.time.as_secs_f64(), said };
            }
            End::Signal(signal) => {
                let replays = matches!(control, Control::Schedule(_));
                return NoOutcome::Killed { program, signal, replays, said };
            }
            End::Exit(NOT_CONTROLLED) => "it could not be run under control",
            End::Exit(_) | End::Stopped => {
                "it has left no outcome: it must use racelog with the feature `record`, and end by \
                 itself"
            }
        };
        NoOutcome::NotRun { program, problem: format!("{what} ({end}){said}") }
    }

    fn name(&self) -> String {
        self.words[0].to_string_lossy().into_owned()
    }
}

/// The file in which the program describes its run.
fn outcome_file(folder: &Path) -> PathBuf {
    folder.join("outcome")
}

/// What became of a program that could not say it itself.
fn cut_short(end: End) -> Option<Aftermath> {
    match end {
        End::TimeUp => Some(Aftermath::Unended),
        End::Signal(signal) => Some(Aftermath::Killed(signal)),
        End::Exit(_) | End::Stopped => None,
    }
}

/// The end of what a program said.
fn last_lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let mut lines: Vec<&str> = text.lines().rev().take(LAST_LINES).collect();
    lines.reverse();
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
