//! Confirms what was predicted: runs the program so that it happens.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use racelog::interrupt;
use rayon::prelude::*;

use super::super::program::explain_by_program;
use super::recorded::Ended;
use super::settings::Resolved;
use super::traces::locate;
use super::trust::{Again, Trust};
use crate::child::controlled::ControlledProgram;
use crate::finding::{Occurrence, Replay, Role};
use crate::project::Project;
use crate::render::replay_lines;
use crate::replay::{Cause, Ending, NO_PLAN, Plan, Replayed};
use crate::trace::format::Source;
use crate::trace::{EventId, Trace};
use crate::witness::Witness;

/// How many occurrences of a finding are tried until one is confirmed.
const TRIES: usize = 3;

/// Runs the programs again, for all findings that count.
pub(super) fn confirm(
    project: &mut Project,
    traces: &Path,
    trust: &Trust,
    settings: &Resolved,
    progress: impl Fn(usize, usize) + Sync + Send,
) {
    let done = AtomicUsize::new(0);
    let predicted = |o: &Occurrence| o.witness.is_some();
    let wanted: Vec<&mut _> = project
        .findings
        .iter_mut()
        .filter(|finding| finding.is_open() && finding.occurrences.iter().any(predicted))
        .collect();
    let all = wanted.len();
    let work = || {
        wanted.into_par_iter().for_each(|finding| {
            for occurrence in finding.occurrences.iter_mut().filter(|o| predicted(o)).take(TRIES) {
                let replay = attempt(occurrence, traces, trust, settings);
                if interrupt::noted().is_some() {
                    // That it was not tried to the end says nothing.
                    return;
                }
                let confirmed = replay.status.is_confirmed();
                occurrence.replay = Some(replay);
                if confirmed {
                    break;
                }
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        });
    };
    let jobs = settings.analysis.jobs.unwrap_or(0);
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn attempt(occurrence: &Occurrence, traces: &Path, trust: &Trust, settings: &Resolved) -> Replay {
    let replayed = replay(occurrence, traces, trust, settings, |_| {});
    let mut replay = replayed.map_or_else(Replay::failed, Replay::new);
    replay.lines = replay_lines(&replay);
    replay
}

/// Runs the program under the witness of an occurrence; of a race, in both orders. `announce` hears
/// what is about to be run.
pub(super) fn replay(
    occurrence: &Occurrence,
    traces: &Path,
    trust: &Trust,
    settings: &Resolved,
    announce: impl Fn(&Again),
) -> Result<Replayed, Cause> {
    let untried = |problem: String| Cause::Untried { problem };
    let path = locate(traces, &occurrence.trace).map_err(untried)?;
    let (trace, witness) = witness(occurrence, &path).map_err(untried)?;
    let plan = Plan::new(&trace, &witness).ok_or_else(|| untried(NO_PLAN.to_owned()))?;
    let again = trust.again(traces, &occurrence.trace, &trace)?;
    announce(&again);
    let program = ControlledProgram::new(&again.words, settings.run_time);
    let program = program.within(&again.surroundings);
    let strip = &settings.analysis.strip;
    let mut orders = program.replay(&plan, &plan.report_names(strip))?;
    if trace.metadata().test.is_some() {
        orders.iter_mut().for_each(|order| order.printed = without_times(&order.printed));
    }
    let recorded = match again.ended {
        Some(Ended::Code(code)) => Ending::recorded_with_code(&trace, strip, code),
        Some(Ended::Signal(signal)) => Ending::recorded_with_signal(&trace, strip, signal),
        None => Ending::recorded(&trace, strip),
    };
    let mut replayed = Replayed::new(plan.target(), orders, recorded);
    explain_by_program(&mut replayed, trace.metadata());
    Ok(replayed)
}

/// The trace of an occurrence, and its witness.
fn witness(occurrence: &Occurrence, path: &Path) -> Result<(Trace, Witness), String> {
    let packed =
        occurrence.witness.as_ref().ok_or("it was not predicted, so there is no schedule")?;
    let mut source = Source::open(path, None).map_err(|error| error.to_string())?;
    let trace = Trace::load(&mut source, |_| {}).map_err(|error| error.to_string())?;
    let events = packed.unpack(&trace);
    // The schedule ends in the events that are next.
    let is_next = |event: &&EventId| {
        let number = event.number();
        occurrence.parts.iter().any(|part| part.role == Role::Next && part.event == number)
    };
    let witness = events.and_then(|events| {
        let next = events.iter().rev().take_while(is_next).count();
        let (prefix, next) = events.split_at(events.len() - next);
        Witness::of_schedule(&trace, prefix, next)
    });
    let witness = witness.ok_or("the trace is not the one that was analysed: analyse it again")?;
    Ok((trace, witness))
}

/// What a test program printed, without the line that says how long it took: that differs anyway.
fn without_times(printed: &[u8]) -> Vec<u8> {
    let lines = printed.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"test result: ")).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_time_goes() {
        let printed =
            b"running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; finished in 0.02s\n";
        assert_eq!(without_times(printed), b"running 1 test\ntest a ... ok\n\n");
    }
}
