//! Confirms what was predicted: runs the program so that it happens.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::super::Failure;
use super::super::program::{Control, Program};
use super::settings::Resolved;
use super::traces::locate;
use super::trust::{Again, Trust};
use crate::project::{Occurrence, Project, Replay, ReplayStatus};
use crate::replay::{Order, Plan, Replayed, Verdict, write_text};
use crate::trace::format::Source;
use crate::trace::{EventId, Trace};

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
    match replay(occurrence, traces, trust, settings, |_| {}) {
        Ok(replayed) => {
            let status = match replayed.verdict {
                Verdict::Confirmed { harmful: true } => ReplayStatus::ConfirmedHarmful,
                Verdict::Confirmed { harmful: false } => ReplayStatus::Confirmed,
                _ => ReplayStatus::Diverged,
            };
            Replay { status, lines: lines(&replayed, occurrence) }
        }
        Err(problem) => {
            let lines = problem.lines().map(str::to_owned).collect();
            Replay { status: ReplayStatus::Failed, lines }
        }
    }
}

/// What to say besides the status.
fn lines(replayed: &Replayed, occurrence: &Occurrence) -> Vec<String> {
    let mut text = Vec::new();
    // A vector takes everything.
    let _ = write_text(&mut text, replayed);
    let text = String::from_utf8_lossy(&text);
    let said = usize::from(replayed.is_confirmed());
    text.lines().skip(said).map(|line| renamed(line.trim(), replayed, occurrence)).collect()
}

/// A line with the threads called as the report calls them, and not by their place in the tree of threads.
fn renamed(line: &str, replayed: &Replayed, occurrence: &Occurrence) -> String {
    let threads = occurrence.racing_threads();
    let names = replayed.orders.each_ref().map(|order| order.first.as_str());
    let word = |word: &str| {
        let bare = word.trim_end_matches([':', ',']);
        let name = names.iter().zip(&threads).find(|(name, _)| **name == bare);
        name.map_or_else(
            || word.to_owned(),
            |(_, thread)| format!("`{thread}`{}", &word[bare.len()..]),
        )
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Runs the program under the witness of an occurrence, in both orders. `announce` hears what is
/// about to be run.
pub(super) fn replay(
    occurrence: &Occurrence,
    traces: &Path,
    trust: &Trust,
    settings: &Resolved,
    announce: impl Fn(&Again),
) -> Result<Replayed, String> {
    let path = locate(traces, &occurrence.trace)?;
    let witness =
        occurrence.witness.as_ref().ok_or("it was not predicted, so there is no schedule")?;
    let mut source = Source::open(&path, None).map_err(|error| error.to_string())?;
    let trace = Trace::load(&mut source, |_| {}).map_err(|error| error.to_string())?;
    let events: Option<Vec<EventId>> = witness
        .numbers()
        .map(|number| EventId::from_number(number).filter(|event| trace.contains(*event)))
        .collect();
    let events = events.ok_or("the trace is not the one that was analysed: analyse it again")?;
    let plan = Plan::new(&trace, &events).ok_or("the witness has no two accesses")?;
    let again = trust.again(traces, &occurrence.trace, &trace)?;
    announce(&again);
    let program = Program::new(&again.words, settings.run_time).within(&again.surroundings);
    let run = |first: &String| {
        let ended = program.run(&Control::Schedule(&plan.text(first)));
        let ended = ended.map_err(|failure| match failure {
            Failure::Message(message) => message,
            Failure::BrokenPipe => "the program has gone away".to_owned(),
        })?;
        let (outcome, code, mut printed) = (ended.outcome, ended.code, ended.printed);
        if trace.metadata().test.is_some() {
            printed = without_times(&printed);
        }
        Ok::<_, String>(Order { first: first.clone(), outcome, code, printed })
    };
    let [one, other] = plan.threads();
    Ok(Replayed::new([run(one)?, run(other)?]))
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
