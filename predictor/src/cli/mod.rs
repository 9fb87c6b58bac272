//! The command line: the only place that prints, exits and looks at its surroundings.
//!
//! Exit codes are a contract:
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done, and nothing was found |
//! | 1 | something was found: races, or a witness that proves nothing; or a race was not replayed |
//! | 2 | an error: the command line, a file, or a trace that is damaged or not valid |
//! | 130, 143 | an interrupt, or a request to terminate, ended a run of programs |

mod analyze;
mod args;
pub mod cargo;
mod check;
mod compare;
mod convert;
mod explore;
mod fuzz;
mod generate;
mod input;
mod output;
mod program;
mod progress;
mod regular;
mod replay;
mod show;
mod stats;
mod terminal;
mod validate;
mod witness;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

use crate::render::harmless;

/// How a command ends when it does not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    NothingFound,
    Found,
    /// The work was done as far as possible, and what went wrong has been said.
    Incomplete,
    /// A signal of this number has ended it before it was done.
    Interrupted(i32),
}

impl Outcome {
    fn code(self) -> u8 {
        match self {
            // As shells have it.
            Self::Interrupted(signal) => u8::try_from(signal).unwrap_or(0).saturating_add(128),
            Self::NothingFound => 0,
            Self::Found => 1,
            Self::Incomplete => ERROR,
        }
    }
}

const ERROR: u8 = 2;

/// Why a command fails: what to say.
#[derive(Debug)]
enum Failure {
    Message(String),
    /// The reader of our output has stopped reading; that needs no words.
    BrokenPipe,
}

impl Failure {
    /// A failure with a file, or whatever else is called so.
    fn of(name: impl fmt::Display, problem: impl fmt::Display) -> Self {
        Self::Message(format!("{}: {problem}", harmless(&name.to_string())))
    }
}

/// For writing to standard output; other files say their names.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::of("standard output", error),
        }
    }
}

/// Runs the command that `args`, the program's name first, ask for.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            terminal::show_usage(&error);
            return ExitCode::from(if error.use_stderr() { ERROR } else { 0 });
        }
    };
    let outcome = match args.command {
        Command::Convert(args) => convert::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Witness(args) => witness::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Generate(args) => generate::run(&args),
    };
    match outcome {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => {
            say("error", message);
            ExitCode::from(ERROR)
        }
    }
}

/// Says something to the person at the terminal.
fn say(level: &str, message: impl fmt::Display) {
    terminal::complain(format_args!("{level}: {message}"));
}
