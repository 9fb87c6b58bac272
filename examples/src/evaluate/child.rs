//! Runs a program in a process of its own: as it comes, recorded, or under control.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use predictor::replay::{ControlledRun, ReportNames};
use predictor::trace::Trace;
use predictor::trace::format::Source;
use racelog::contract::environment::{RECORD_ON, Variable};
use racelog::contract::place::PlacePair;
use racelog::contract::seed::Seed;
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

/// What a run is told.
#[derive(Clone, Copy, Debug)]
pub enum Control<'a> {
    /// Nothing.
    Free,
    /// To follow a schedule, which is given as text.
    Schedule(&'a str),
    /// To go by a seed, and to look out for a race at two places.
    Seed {
        /// The seed.
        seed: &'a Seed,
        /// The places.
        race: &'a PlacePair,
    },
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
    /// What it says of itself, if it was under control.
    pub outcome: Option<ControlledRun>,
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
    /// Runs it once.
    pub fn run(&self, control: Control<'_>) -> Result<Ended, Problem> {
        let folder = self.folder()?;
        let mut command = self.command();
        let outcome = folder.path().join("outcome");
        match control {
            Control::Free => {}
            Control::Schedule(text) => {
                let schedule = folder.path().join("schedule");
                fs::write(&schedule, text).map_err(|error| self.problem(error))?;
                command.env(Variable::Schedule, &schedule).env(Variable::Outcome, &outcome);
                // The run is recorded as it goes; nobody needs that trace.
                command.env(Variable::Folder, folder.path());
            }
            Control::Seed { seed, race } => {
                command.env(Variable::Control, seed.to_string()).env(Variable::Outcome, &outcome);
                command.env(Variable::Race, race.to_string());
            }
        }
        let (status, time) = self.wait(&mut command, folder.path())?;
        let printed = fs::read(folder.path().join("out")).unwrap_or_default();
        let outcome = match control {
            Control::Free => None,
            Control::Schedule(_) | Control::Seed { .. } => {
                let text = fs::read_to_string(&outcome).map_err(|_| {
                    self.problem(format!("it has left no outcome, and ended with {status}"))
                })?;
                Some(
                    ControlledRun::parse(&text, &ReportNames::default())
                        .map_err(|error| self.problem(error))?,
                )
            }
        };
        Ok(Ended { code: status.code(), time, printed, outcome })
    }

    /// Records a run: by a seed of the scheduler, or as it comes.
    pub fn record(&self, seed: Option<&str>) -> Result<Recorded, Problem> {
        let folder = self.folder()?;
        let mut command = self.command();
        command.env(Variable::Record, RECORD_ON).env(Variable::Folder, folder.path());
        command.env(Variable::MaxBytes, MAX_BYTES);
        command.envs(seed.map(|seed| (Variable::Control, seed)));
        let (_, time) = self.wait(&mut command, folder.path())?;
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

    fn command(&self) -> Command {
        let Size { threads, work } = self.size;
        let mut command = Command::new(&self.executable);
        command.args([RUN, self.program.name, &format!("{threads}x{work}")]);
        // The surroundings must not decide what is measured.
        for variable in Variable::ALL {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a command until it ends, or its time is up.
    fn wait(
        &self,
        command: &mut Command,
        folder: &Path,
    ) -> Result<(ExitStatus, Duration), Problem> {
        let file = |name| File::create(folder.join(name)).map_err(|error| self.problem(error));
        command.stdin(Stdio::null()).stdout(file("out")?).stderr(file("err")?);
        let started = Instant::now();
        let mut child = command.spawn().map_err(|error| self.problem(error))?;
        let mut pause = Duration::from_micros(200);
        loop {
            let status = child.try_wait().map_err(|error| self.problem(error))?;
            if let Some(status) = status {
                return Ok((status, started.elapsed()));
            }
            if started.elapsed() > self.time {
                // It may have ended by now; that is as good.
                let _ = child.kill();
                let _ = child.wait();
                let seconds = self.time.as_secs_f64();
                return Err(self.problem(format!(
                    "a run has not ended within {seconds} seconds: raise --run-time, or take a \
                     smaller --size"
                )));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}
