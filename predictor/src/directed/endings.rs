//! How the runs of one program ended, and what of that is news.

use racelog::contract::seed::Seed;

use super::{Origin, Ran, Shown, Task};
use crate::replay::{Aftermath, Ending};

/// How the runs of a program ended in which no suspect happened.
#[derive(Debug, Default)]
pub(super) struct Endings {
    runs: usize,
    /// How many of them were directed to nothing.
    pub(super) pilots: usize,
    /// How many did not end.
    pub(super) unended: usize,
    seen: Vec<Seen>,
}

/// Runs that went wrong in the same way.
#[derive(Debug)]
struct Seen {
    ending: Ending,
    runs: usize,
    /// The first of them.
    task: Task,
    ran: Ran,
}

impl Endings {
    /// A run is over. Says whether it went wrong.
    pub(super) fn note(&mut self, task: &Task, ran: &Ran) -> bool {
        self.runs += 1;
        let ending = ran.ending();
        if !ending.went_wrong() {
            return false;
        }
        match self.seen.iter_mut().find(|seen| seen.ending.is_like(&ending)) {
            Some(seen) => seen.runs += 1,
            None => self.seen.push(Seen { ending, runs: 1, task: task.clone(), ran: ran.clone() }),
        }
        true
    }

    /// Whether a run went wrong in the same way.
    pub(super) fn has(&self, ending: &Ending) -> bool {
        self.seen.iter().any(|seen| seen.ending.is_like(ending))
    }

    /// Whether something would be news if another run did not have it.
    pub(super) fn need_another(&self, origin: &Origin) -> bool {
        self.seen.iter().any(|seen| seen.runs == self.runs && is_of_interest(&seen.ran, origin))
    }

    /// What went wrong in some runs, and neither in all of them nor in the recorded one.
    pub(super) fn news(&self, origin: &Origin) -> Vec<Shown> {
        let is_news = |seen: &&Seen| seen.runs < self.runs && is_of_interest(&seen.ran, origin);
        let news = self.seen.iter().filter(is_news);
        news.map(|seen| Shown::failure(&seen.task, &seen.ran, self.runs)).collect()
    }
}

/// Whether something that went wrong can be the program's own doing, and is new.
pub(super) fn is_of_interest(ran: &Ran, origin: &Origin) -> bool {
    let Some(recorded) = &origin.recorded else { return false };
    is_failure(ran, origin.knows_all_threads) && !recorded.is_like(&ran.ending())
}

/// Whether something that went wrong can be the program's own doing. Where control was lost,
/// time-outs and waits may be due to that.
fn is_failure(ran: &Ran, knows_all_threads: bool) -> bool {
    let outcome = &ran.outcome;
    let is_under_control = outcome.lost.is_empty() && outcome.foreign.is_empty();
    is_under_control
        && match &outcome.then {
            // Whoever expects the panic ends as if all were well.
            Aftermath::Panic(_) | Aftermath::Check(_) => ran.code != Some(0),
            Aftermath::Deadlock => knows_all_threads,
            // Who asks to be killed may do so in some orders only, but that is to be known as well.
            Aftermath::Killed(_) => true,
            Aftermath::Nothing | Aftermath::Livelock | Aftermath::Stuck | Aftermath::Unended => {
                false
            }
        }
}

/// How the schedules of a test ended that was directed to nothing.
#[derive(Debug, Default)]
pub struct Failures(Endings);

impl Failures {
    /// A schedule is over. Says whether it is the first that went wrong in this way.
    pub fn note(&mut self, seed: &Seed, ran: &Ran) -> bool {
        let task = Task::blind(0, seed.clone(), false);
        let before = self.0.seen.len();
        self.0.note(&task, ran);
        self.0.seen.len() > before
    }

    /// What went wrong in some schedules, and not in all of them.
    pub fn news(&self) -> Vec<Shown> {
        let is_news = |seen: &&Seen| seen.runs < self.0.runs && is_failure(&seen.ran, true);
        let news = self.0.seen.iter().filter(is_news);
        news.map(|seen| Shown::failure(&seen.task, &seen.ran, self.0.runs)).collect()
    }
}
