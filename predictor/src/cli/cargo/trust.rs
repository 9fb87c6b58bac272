//! Whose word is taken for how a program is run again.

use std::ffi::OsString;
use std::path::Path;

use super::own_runs::{OwnRuns, Unknown, shown};
use super::recorded::{Ended, FILE, Recorded};
use crate::child::controlled::Surroundings;
use crate::replay::Cause;
use crate::trace::Trace;

/// Whose word is taken.
#[derive(Debug)]
pub(super) enum Trust {
    /// That of this machine's own runs.
    OwnRuns(Option<OwnRuns>),
    /// That of the file beside the traces, because the user has said so.
    File,
}

/// What is run, and where.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) words: Vec<OsString>,
    pub(super) surroundings: Surroundings,
    /// How the recorded run ended, of which the trace does not say all: of a whole program, for
    /// that of several tests is not that of one.
    pub(super) ended: Option<Ended>,
}

impl Trust {
    /// How to run again what left a trace: the one of this name in the folder of the traces.
    pub(super) fn again(&self, traces: &Path, name: &str, trace: &Trace) -> Result<Again, Cause> {
        let (program, _) = name.rsplit_once('/').ok_or_else(not_recorded)?;
        let written = || Recorded::read(&traces.join(program));
        let recorded = match self {
            Self::File => written().ok_or_else(not_recorded)?,
            Self::OwnRuns(runs) => {
                // Tests are run by their name, all else with the arguments that it had.
                let metadata = trace.metadata();
                let arguments = metadata.test.is_none().then_some(metadata.arguments.as_slice());
                let found = runs.as_ref().map(|runs| runs.find(program, arguments));
                match found.unwrap_or(Err(Unknown::NotRun)) {
                    Ok(recorded) => recorded,
                    Err(why) => return Err(refusal(why, written(), trace)),
                }
            }
        };
        let words = recorded.command(trace).map_err(|problem| Cause::Untried { problem })?;
        let Recorded { folder, variables, ended, .. } = recorded;
        let ended = ended.filter(|_| trace.metadata().test.is_none());
        Ok(Again { words, surroundings: Surroundings { folder, variables }, ended })
    }
}

fn not_recorded() -> Cause {
    let problem = "it is not known how the program was run: record it with `cargo racelog`";
    Cause::Untried { problem: problem.to_owned() }
}

/// Why nothing is run, and what would be.
fn refusal(why: Unknown, written: Option<Recorded>, trace: &Trace) -> Cause {
    let words = match why {
        Unknown::NotRun => "this machine has not recorded that program, so nothing was run",
        Unknown::Changed => "the program was built anew since it was recorded, so nothing was run",
    };
    let command = written.and_then(|recorded| recorded.command(trace).ok());
    let or_trust = match command {
        Some(words) => {
            let words = shown(&words);
            format!(
                ", or, if you trust whoever made the traces, `cargo racelog replay` with \
                 --trust-command, which runs what {FILE} says: {words}"
            )
        }
        None => String::new(),
    };
    let problem = format!("{words}: record it here with `cargo racelog test` or `run`{or_trust}");
    match why {
        Unknown::NotRun => Cause::Untried { problem },
        Unknown::Changed => {
            let recorded = trace.metadata().program.clone().unwrap_or_default();
            Cause::ProgramChanged { recorded, program: None, problem }
        }
    }
}

impl Again {
    /// The command, for people who are to know before it runs.
    pub(super) fn shown(&self) -> String {
        shown(&self.words)
    }

    /// All of it: the folder and the variables as well.
    pub(super) fn shown_in_full(&self) -> String {
        let Surroundings { folder, variables } = &self.surroundings;
        let mut lines = vec![format!("in {}", folder.display())];
        lines.extend(variables.iter().map(|(name, value)| format!("with {name}={value}")));
        lines.push(self.shown());
        lines.join("\n  ")
    }
}
