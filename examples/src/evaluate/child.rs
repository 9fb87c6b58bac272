//! Runs a program in a process of its own: as it comes, recorded, or under control.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use predictor::child::controlled::{Control, ControlledProgram, NoOutcome};
use predictor::child::{self, Bounds, End, Finished, Interrupt, Limits};
use predictor::replay::{ControlledRun, ReportNames};
use predictor::trace::Trace;
use predictor::trace::format::Source;
use racelog::contract::environment::{RECORD_ON, Variable};
use tempfile::TempDir;

use crate::{Program, Size};

/// The word that makes the evaluation run a program instead.
pub(super) const RUN: &str = "run";

/// How large a trace may become: some twenty million events. The rest of the run is not recorded.
const MAX_BYTES: &str = "200m";

/// A program that is run in processes of its own.
#[derive(Clone, Debug)]
pub struct Child {
    /// The executable of the evaluation.
    pub executable: PathBuf,
    /// What it is to run.
    pub program: &'static Program,
    /// How large.
    pub size: Size,
    /// How long a run may take.
    pub time: Duration,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code, unless it was killed.
    pub code: Option<i32>,
    /// How long it took, with the start of the process.
    pub time: Duration,
    /// What it printed.
    pub printed: Vec<u8>,
}

/// A run that was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// What ran.
    pub program: &'static Program,
    /// How large it was.
    pub size: Size,
    /// What it did.
    pub trace: Trace,
    /// How long it took.
    pub time: Duration,
}

/// Why a program could not be measured.
#[derive(Debug)]
pub struct Problem {
    program: &'static str,
    text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.program, self.text)
    }
}

impl Error for Problem {}

impl Child {
    /// Runs it once as it comes, and neither records nor controls it.
    pub fn run_free(&self) -> Result<Ended, Problem> {
        let finished = self.finish(&mut self.command())?;
        let (code, time) = (finished.end.code(), finished.time);
        Ok(Ended { code, time, printed: finished.stdout.into_bytes() })
    }

    /// Runs it once under control.
    pub fn run(&self, control: Control<'_>) -> Result<(Ended, ControlledRun), Problem> {
        let words = self.words();
        let program = ControlledProgram::new(&words, self.time).without_variables();
        let ended = program.run(control, &ReportNames::default());
        let ended = ended.map_err(|error| match error {
            NoOutcome::TimeUp { .. } => self.too_long(),
            error => self.problem(error),
        })?;
        if ended.end == End::TimeUp {
            return Err(self.too_long());
        }
        let (code, time) = (ended.end.code(), ended.time);
        Ok((Ended { code, time, printed: ended.printed }, ended.outcome))
    }

    /// Records a run: by a seed of the scheduler, or as it comes.
    pub fn record(&self, seed: Option<&str>) -> Result<Recorded, Problem> {
        let folder = self.folder()?;
        let mut command = self.command();
        command.env(Variable::Record, RECORD_ON).env(Variable::Folder, folder.path());
        command.env(Variable::MaxBytes, MAX_BYTES);
        command.envs(seed.map(|seed| (Variable::Control, seed)));
        let time = self.finish(&mut command)?.time;
        let files = fs::read_dir(folder.path()).map_err(|error| self.problem(error))?;
        let is_trace = |path: &PathBuf| path.extension() == Some(OsStr::new("rlog"));
        let path = files.flatten().map(|file| file.path()).find(is_trace);
        let path = path.ok_or_else(|| self.problem("it has left no trace"))?;
        let mut source = Source::open(&path, None).map_err(|error| self.problem(error))?;
        let trace = Trace::load(&mut source, |_| {}).map_err(|error| self.problem(error))?;
        Ok(Recorded { program: self.program, size: self.size, trace, time })
    }

    /// Records the run that the program's schedule gives at the small size. At others there is no
    /// such schedule, and the run is left alone unless it may never end.
    pub fn record_as_known(&self) -> Result<Recorded, Problem> {
        let by_schedule = self.size == self.program.small || self.program.hangs.is_some();
        self.record(by_schedule.then_some(self.program.schedule))
    }

    pub(super) fn problem(&self, text: impl fmt::Display) -> Problem {
        Problem { program: self.program.name, text: text.to_string() }
    }

    fn folder(&self) -> Result<TempDir, Problem> {
        TempDir::with_prefix("racelog-").map_err(|error| self.problem(error))
    }

    /// The words that make the evaluation run the program instead.
    fn words(&self) -> [OsString; 4] {
        let Size { threads, work } = self.size;
        let size = format!("{threads}x{work}");
        let executable = self.executable.clone().into_os_string();
        [executable, RUN.into(), self.program.name.into(), size.into()]
    }

    fn command(&self) -> Command {
        let [executable, rest @ ..] = self.words();
        let mut command = Command::new(executable);
        command.args(rest);
        // The surroundings must not decide what is measured.
        for variable in Variable::ALL {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a command until it ends, or its time is up.
    fn finish(&self, command: &mut Command) -> Result<Finished, Problem> {
        let limits = Limits {
            time: Some(self.time),
            own_group: true,
            interrupt: Interrupt::Ends,
            stop_when: None,
        };
        let finished = child::run_captured(command, &limits, Bounds::default());
        let finished = finished.map_err(|error| self.problem(error))?;
        match finished.end {
            End::TimeUp => Err(self.too_long()),
            End::Stopped => Err(self.problem("it was interrupted")),
            End::Exit(_) | End::Signal(_) => Ok(finished),
        }
    }

    fn too_long(&self) -> Problem {
        let seconds = self.time.as_secs_f64();
        self.problem(format!(
            "a run has not ended within {seconds} seconds: raise --run-time, or take a smaller \
             --size"
        ))
    }
}
