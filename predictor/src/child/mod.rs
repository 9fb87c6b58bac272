//! Runs programs in processes of their own. All programs that the commands run go through here.
//!
//! [`run`] starts a command and waits until the program ends by itself, its time is up, or it is to
//! stop. A program that leads a [group](Limits::own_group) ends with all that it has started, and
//! none is left behind if the thread that waits for it panics. [`controlled`] runs programs under
//! the schedules and seeds of racelog.
//!
//! Nothing here prints, or reads the environment.
//!
//! The end of a program and an interrupt wake the thread that waits: it does not look for them
//! again and again. It does so only for a condition of the caller's own, of which no event tells.

mod capture;
pub mod controlled;
mod wake;

#[cfg(all(test, unix))]
mod tests;

use std::fmt;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use racelog::interrupt;
use thiserror::Error;

use self::capture::Pipes;
use self::wake::{Event, Listening};

pub use self::capture::{Bounds, Captured};

/// How long a program that is asked to end may take to do so.
const GRACE: Duration = Duration::from_secs(2);

/// The time between two looks at a condition of the caller's own.
const PAUSE: Duration = Duration::from_millis(20);

/// What a run is bound by.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// How long it may take.
    pub time: Option<Duration>,
    /// Whether the program leads a process group of its own, so that all processes that it has
    /// started end with it. It cannot read from the terminal then.
    pub own_group: bool,
    /// What an interrupt does, once [`interrupt::note_first`] is called.
    pub interrupt: Interrupt<'a>,
    /// Another condition on which the program is to stop.
    pub stop_when: Option<&'a dyn Fn() -> bool>,
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").field("time", &self.time).finish_non_exhaustive()
    }
}

/// What an interrupt does to a run.
#[derive(Clone, Copy, Default)]
pub enum Interrupt<'a> {
    /// Nothing.
    #[default]
    Ignored,
    /// The program is asked to end.
    Ends,
    /// `tell` is called, and the program is asked to end if it has not done so some time later.
    EndsAfter {
        /// What is done first.
        tell: &'a dyn Fn(),
        /// How long the program may go on.
        patience: Duration,
    },
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By itself, with this exit code.
    Exit(i32),
    /// A signal of this number killed it, which was not ours.
    Signal(i32),
    /// Its time was up, and it was killed.
    TimeUp,
    /// It was to stop, and did or was killed.
    Stopped,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit status: {code}"),
            Self::Signal(signal) => write!(f, "signal: {signal}"),
            Self::TimeUp => f.write_str("its time was up"),
            Self::Stopped => f.write_str("it was stopped"),
        }
    }
}

impl End {
    /// Whether it ended by itself, and says that all is well.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Exit(0))
    }

    /// The exit code, if it ended by itself.
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Exit(code) => Some(code),
            Self::Signal(_) | Self::TimeUp | Self::Stopped => None,
        }
    }

    fn of(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        // A process that has ended has the one or the other.
        Self::Exit(status.code().unwrap_or(-1))
    }
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// How long it took, with the start of the process.
    pub time: Duration,
    /// What it wrote to its standard output, if that was captured.
    pub stdout: Captured,
    /// What it wrote to its standard error, if that was captured.
    pub stderr: Captured,
}

/// Why a program did not run.
#[derive(Debug, Error)]
#[error("it cannot be started: {source}")]
pub struct CannotStart {
    /// The program.
    pub program: String,
    /// Why not.
    pub source: io::Error,
}

/// Runs a command. Where its output goes is the command's.
pub fn run(command: &mut Command, limits: &Limits<'_>) -> Result<Finished, CannotStart> {
    start(command, limits, None)
}

/// Runs a command without input, and captures its output.
///
/// Whatever else is left of the program's group when it has ended is killed: it would keep the
/// output open.
pub fn run_captured(
    command: &mut Command,
    limits: &Limits<'_>,
    bounds: Bounds,
) -> Result<Finished, CannotStart> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command, limits, Some(bounds))
}

/// Asks a program something that it answers soon: without input, and all of its answer is kept.
pub fn ask(command: &mut Command) -> Result<Finished, CannotStart> {
    let bounds = Bounds { first_of_stdout: usize::MAX, ..Bounds::default() };
    run_captured(command, &Limits::default(), bounds)
}

fn start(
    command: &mut Command,
    limits: &Limits<'_>,
    bounds: Option<Bounds>,
) -> Result<Finished, CannotStart> {
    let problem = |command: &Command, source| {
        let program = command.get_program().to_string_lossy().into_owned();
        CannotStart { program, source }
    };
    #[cfg(unix)]
    if limits.own_group {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    let started = Instant::now();
    let child = command.spawn().map_err(|error| problem(command, error))?;
    let process = Process { child, own_group: limits.own_group, is_over: false };
    supervise(process, limits, bounds, started).map_err(|error| problem(command, error))
}

fn supervise(
    mut process: Process,
    limits: &Limits<'_>,
    bounds: Option<Bounds>,
    started: Instant,
) -> io::Result<Finished> {
    let (sender, events) = channel();
    let pipes = bounds.map(|bounds| Pipes::new(&mut process.child, bounds)).transpose()?;
    let _listening = match limits.interrupt {
        Interrupt::Ignored => None,
        Interrupt::Ends | Interrupt::EndsAfter { .. } => Some(Listening::new(sender.clone())?),
    };
    wake::at_end(process.child.id(), sender)?;
    let stopped = process.wait(&events, limits, started);
    let time = started.elapsed();
    if bounds.is_some() {
        process.kill_group();
    }
    let status = process.end()?;
    let (stdout, stderr) = pipes.map_or_else(Default::default, |pipes| pipes.finish(GRACE));
    Ok(Finished { end: stopped.unwrap_or_else(|| End::of(status)), time, stdout, stderr })
}

/// A program that runs. It does not outlive this.
struct Process {
    child: Child,
    own_group: bool,
    is_over: bool,
}

impl Process {
    /// Waits until it has ended, and says why it did if not by itself. It is not waited for yet in
    /// the sense of the system: until then no other process has its number.
    fn wait(
        &mut self,
        events: &Receiver<Event>,
        limits: &Limits<'_>,
        started: Instant,
    ) -> Option<End> {
        let deadline = limits.time.map(|time| started + time);
        let mut told: Option<Instant> = None;
        let mut asked: Option<Instant> = None;
        loop {
            let now = Instant::now();
            if let Some(asked) = asked {
                if now >= asked + GRACE {
                    self.kill(events);
                    return Some(End::Stopped);
                }
            } else if deadline.is_some_and(|deadline| now >= deadline) {
                self.kill(events);
                return Some(End::TimeUp);
            } else if self.is_to_stop(limits, &mut told) {
                interrupt::ask_to_end(self.child.id(), self.own_group);
                asked = Some(now);
            }
            let patience = match limits.interrupt {
                Interrupt::EndsAfter { patience, .. } => told.map(|told| told + patience),
                Interrupt::Ignored | Interrupt::Ends => None,
            };
            let look = limits.stop_when.map(|_| now + PAUSE);
            let next = match asked {
                Some(asked) => Some(asked + GRACE),
                None => [deadline, patience, look].into_iter().flatten().min(),
            };
            if self.next(events, next) == Some(Event::Ended) {
                return asked.map(|_| End::Stopped);
            }
        }
    }

    /// Waits for an event until then.
    fn next(&mut self, events: &Receiver<Event>, until: Option<Instant>) -> Option<Event> {
        // Elsewhere no thread can wait for the end of a process without taking its number away.
        #[cfg(not(unix))]
        let until = {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return Some(Event::Ended);
            }
            let look = Instant::now() + PAUSE;
            Some(until.map_or(look, |until| until.min(look)))
        };
        let received = match until {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => events.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        match received {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::Ended),
        }
    }

    fn is_to_stop(&self, limits: &Limits<'_>, told: &mut Option<Instant>) -> bool {
        let is_interrupted = interrupt::noted().is_some();
        let by_interrupt = match limits.interrupt {
            Interrupt::Ignored => false,
            Interrupt::Ends => is_interrupted,
            Interrupt::EndsAfter { .. } if !is_interrupted => false,
            Interrupt::EndsAfter { tell, patience } => {
                let told = told.get_or_insert_with(|| {
                    tell();
                    Instant::now()
                });
                told.elapsed() >= patience
            }
        };
        by_interrupt || limits.stop_when.is_some_and(|stop| stop())
    }

    fn kill_group(&self) {
        if self.own_group {
            interrupt::kill_group(self.child.id());
        }
    }

    /// Kills it with its group, and waits for its end.
    fn kill(&mut self, events: &Receiver<Event>) {
        self.kill_group();
        // It may have ended by now; that is as good.
        let _ = self.child.kill();
        while self.next(events, None) != Some(Event::Ended) {}
    }

    /// Gives its number back to the system.
    fn end(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        self.is_over = true;
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill_group();
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
