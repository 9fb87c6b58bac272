//! What runs have shown, as findings.

use racelog::contract::waiting::WaitsFor;
use racelog::trace::Object;

use super::{Hit, Origin, Ran, Task};
use crate::finding::{
    Describer, DirectedRun, Finding, Kind, Occurrence, Part, Place, Reason, Replay, ReplayStatus,
    Role, SourceOp, WaitKind, Waits,
};
use crate::replay::{
    Aftermath, ControlledRun, Ending, Order, Replayed, Standing, Target, ThreadPlace, ThreadState,
};
use crate::suspects::{self, Why};
use crate::trace::Trace;

/// What stands where the names of detectors stand.
const DIRECTED: &str = "directed";

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The run, which is to be made again before it is reported.
    pub task: Task,
    /// How that run went.
    pub ran: Ran,
    /// How many runs it took.
    pub runs: usize,
    /// Which suspect of the origin happened; none if something else went wrong.
    suspect: Option<usize>,
}

impl Shown {
    pub(super) fn suspect(hit: &Hit, rank: usize) -> Self {
        let Hit { task, ran, runs } = hit.clone();
        Self { task, ran, runs, suspect: Some(rank) }
    }

    pub(super) fn failure(task: &Task, ran: &Ran, runs: usize) -> Self {
        Self { task: task.clone(), ran: ran.clone(), runs, suspect: None }
    }

    /// Whether a run by the same seed shows the same.
    pub fn is_again(&self, ran: &Ran) -> bool {
        match self.suspect {
            Some(_) => !ran.outcome.races.is_empty(),
            None => self.ran.ending().is_like(&ran.ending()),
        }
    }

    /// The finding. `ends_so_anyway` says of an ending that runs have it which are directed to
    /// nothing. The prefixes are taken off the names of files.
    pub fn finding(
        &self,
        trace: &Trace,
        origin: &Origin,
        ends_so_anyway: impl Fn(&Ending) -> bool,
        prefixes: &[String],
    ) -> Option<Finding> {
        let mut describer = Describer::new(trace);
        let (kind, parts, subject, reason) = match self.suspect {
            Some(rank) => {
                let suspect = &origin.suspects.all[rank];
                let mut parts: Vec<Part> =
                    suspect.events.iter().map(|it| describer.part(*it, Role::Next)).collect();
                parts.sort_by_cached_key(|part| (part.source.clone(), part.event));
                let subject = suspect.events.first().and_then(|it| describer.variable(*it));
                let locks = match &suspect.why {
                    Why::OrderOfLocks(locks) => {
                        locks.iter().map(|lock| describer.name(Object::Lock(*lock))).collect()
                    }
                    Why::OrderOfValues => Vec::new(),
                };
                let suspects::Target::Race(_) = suspect.target;
                (Kind::DataRace, parts, subject, Reason::Met { locks })
            }
            None => {
                let (kind, parts) = failure(&self.ran.outcome)?;
                (kind, parts, None, Reason::UnderControl)
            }
        };
        let ending = self.ran.ending();
        let anyway = if ends_so_anyway(&ending) { Some(ending) } else { origin.recorded.clone() };
        let replay = match target_of(&kind) {
            Some(target) => {
                let order = Order {
                    first: None,
                    outcome: self.ran.outcome.clone(),
                    code: self.ran.code,
                    printed: Vec::new(),
                };
                Replay::new(Replayed::of_seed(target, order, anyway))
            }
            None => Replay {
                status: ReplayStatus::ConfirmedHarmful,
                lines: Vec::new(),
                cause: None,
                replayed: None,
            },
        };
        let directed = DirectedRun {
            control: self.task.seed.to_string(),
            race: self.task.race.as_ref().map(ToString::to_string),
            runs: self.runs as u64,
        };
        let mut occurrence = Occurrence {
            trace: origin.trace.clone(),
            parts,
            subject,
            reason,
            detectors: vec![DIRECTED.to_owned()],
            solver: None,
            seconds: None,
            witness: None,
            steps: Vec::new(),
            left_out: 0,
            also: Vec::new(),
            directed: Some(directed),
            replay: Some(replay),
        };
        occurrence.places_mut(|place| place.strip(prefixes));
        Some(Finding::new(kind, vec![occurrence]))
    }
}

/// Whether a run by the seed of a finding of this kind has brought it about again, at these places.
pub fn happens_again(kind: &Kind, places: &[&Place], ran: &Ran) -> bool {
    let ControlledRun { races, then, panicked, waits, .. } = &ran.outcome;
    match kind {
        Kind::DataRace => !races.is_empty(),
        Kind::Deadlock | Kind::Stall => {
            let stands = |place: &&Place| waits.iter().any(|it| it.place.as_ref() == Some(*place));
            *then == Aftermath::Deadlock && places.iter().all(stands)
        }
        _ => {
            let place = panicked.as_ref().and_then(|at| at.place.as_ref());
            then.is_harm() && places.iter().all(|there| Some(*there) == place)
        }
    }
}

/// What a replay of a finding looks for, if it is not a mere end of the program.
fn target_of(kind: &Kind) -> Option<Target> {
    match kind {
        Kind::DataRace => Some(Target::Race),
        Kind::Deadlock => Some(Target::Deadlock),
        Kind::Stall => Some(Target::Stall),
        _ => None,
    }
}

/// What went wrong, and the parts that say it.
fn failure(outcome: &ControlledRun) -> Option<(Kind, Vec<Part>)> {
    match &outcome.then {
        Aftermath::Panic(_) => Some((Kind::Panic, vec![panicked(outcome)])),
        Aftermath::Check(_) => Some((Kind::FailedCheck, vec![panicked(outcome)])),
        Aftermath::Deadlock => {
            let waiting = outcome.waits.iter().filter(|it| it.state == ThreadState::Ready);
            let parts: Vec<Part> = waiting.filter_map(waits).collect();
            let circle = circle(&parts);
            let (kind, parts) = match circle.is_empty() {
                true => (Kind::Stall, parts),
                false => (Kind::Deadlock, circle.iter().map(|at| parts[*at].clone()).collect()),
            };
            (!parts.is_empty()).then_some((kind, parts))
        }
        Aftermath::Nothing
        | Aftermath::Livelock
        | Aftermath::Stuck
        | Aftermath::Killed(_)
        | Aftermath::Unended => None,
    }
}

/// The thread that panicked, where it did.
fn panicked(outcome: &ControlledRun) -> Part {
    let at = outcome.panicked.clone().unwrap_or(ThreadPlace { thread: None, place: None });
    let place = at.place;
    part(at.thread.unwrap_or_else(|| "?".to_owned()), place, "panic")
}

/// A part that is no event of the recorded run.
fn part(thread: String, place: Option<Place>, operation: &str) -> Part {
    Part {
        role: Role::Next,
        source: SourceOp { place, operation: operation.to_owned(), atomic: false },
        event: 0,
        thread,
        spawned: None,
        object: None,
        value: "_".to_owned(),
        new_value: None,
        waits: None,
        locks: Vec::new(),
    }
}

/// A thread that waits, if it does.
fn waits(standing: &Standing) -> Option<Part> {
    let (what, operation) = match WaitsFor::of_operation(&standing.action)? {
        WaitsFor::Lock => (WaitKind::Lock, "acquire"),
        WaitsFor::SharedLock => (WaitKind::Lock, "read_acquire"),
        // Notified or not, it cannot go on without its lock.
        WaitsFor::Notification if !standing.holders.is_empty() => (WaitKind::Lock, "wake"),
        WaitsFor::Notification => (WaitKind::Notification, "wake"),
        WaitsFor::End => (WaitKind::ThreadEnd, "join"),
        WaitsFor::EndOfScope => (WaitKind::EndOfScope, "leave"),
        WaitsFor::Unpark => (WaitKind::Unpark, "park"),
        WaitsFor::Place => (WaitKind::Room, "send"),
        WaitsFor::Message => (WaitKind::Message, "recv"),
        WaitsFor::Barrier => (WaitKind::Arrivals, "leave"),
        WaitsFor::Initialiser => (WaitKind::Initialiser, "once_wait"),
    };
    let holders = standing.holders.iter().filter_map(|at| at.thread.clone());
    let writers = standing.writers.iter().filter_map(|at| at.thread.clone());
    let mut by: Vec<String> =
        standing.joins.iter().cloned().chain(holders).chain(writers).collect();
    by.dedup();
    let part = part(standing.thread.clone(), standing.place.clone(), operation);
    Some(Part { object: standing.object.clone(), waits: Some(Waits { what, by }), ..part })
}

/// The threads that wait for each other in a circle, as places in the list; nothing if none do.
fn circle(parts: &[Part]) -> Vec<usize> {
    let by = |at: usize| parts[at].waits.iter().flat_map(|waits| &waits.by);
    let place = |thread: &String| parts.iter().position(|part| part.thread == *thread);
    for start in 0..parts.len() {
        let mut way = vec![start];
        while let Some(at) = by(way[way.len() - 1]).find_map(place) {
            if at == start {
                return way;
            }
            if way.contains(&at) {
                break;
            }
            way.push(at);
        }
    }
    Vec::new()
}
