//! What the commands know of a program that they have run under control.

use std::fs;
use std::time::{Duration, SystemTime};

use racelog::trace::Metadata;

use super::Failure;
use crate::child::controlled::NoOutcome;
use crate::replay::{Cause, Replayed};

impl From<NoOutcome> for Failure {
    fn from(problem: NoOutcome) -> Self {
        Self::Message(problem.to_string())
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
