//! What runs have shown, as findings.

use racelog::contract::place::{PlacePair, SourcePlace};
use racelog::contract::seed::Manoeuvre;
use racelog::contract::waiting::WaitsFor;
use racelog::trace::Object;

use super::{Hit, Origin, Ran, Task};
use crate::analysis::{circle_among, parts_of_circle};
use crate::finding::{
    Describer, DirectedRun, Finding, Kind, Occurrence, Part, Place, Reason, Replay, ReplayStatus,
    Role, SourceOp, Subject, WaitKind, Waits,
};
use crate::goal::Circle;
use crate::replay::{
    Aftermath, ControlledRun, Ending, Order, Replayed, Standing, Target, ThreadPlace, ThreadState,
};
use crate::suspects::{self, Suspect, Why};
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
    /// Which suspect of the origin happened; none if something went wrong.
    suspect: Option<usize>,
    /// The two places of that race.
    met: Option<PlacePair>,
}

impl Shown {
    pub(super) fn suspect(hit: &Hit, rank: usize) -> Self {
        let Hit { task, ran, runs, met } = hit.clone();
        Self { task, ran, runs, suspect: Some(rank), met: Some(met) }
    }

    pub(super) fn failure(task: &Task, ran: &Ran, runs: usize) -> Self {
        Self { task: task.clone(), ran: ran.clone(), runs, suspect: None, met: None }
    }

    /// The same, of another run by the same seed.
    #[must_use]
    pub fn with(self, ran: Ran) -> Self {
        Self { ran, ..self }
    }

    /// Whether a run by the same seed shows the same.
    pub fn is_again(&self, ran: &Ran) -> bool {
        match &self.met {
            Some(met) => has_met(&ran.outcome, met),
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
        let Told { kind, parts, subject, reason } = match self.suspect {
            Some(rank) => race(trace, &origin.suspects.all[rank], &mut describer),
            None => match known_circle(origin, &self.ran.outcome, prefixes) {
                Some(circle) => {
                    let circle = Circle::new(circle.events.clone());
                    let parts = parts_of_circle(trace, &circle, &mut describer);
                    Told { kind: Kind::Deadlock, parts, subject: None, reason: Reason::Circle }
                }
                None => failure(&self.ran.outcome)?,
            },
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
                lines: vec![format!("then {}", self.ran.outcome.then)],
                cause: None,
                replayed: None,
            },
        };
        let directed = DirectedRun {
            control: self.task.seed.to_string(),
            race: self.task.race().map(ToString::to_string),
            places: self.task.places().map(ToString::to_string),
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

/// Whether two threads have stood before these two places at once. A run that is directed to them
/// may also bring two threads to one of them, which is another race.
pub(super) fn has_met(outcome: &ControlledRun, pair: &PlacePair) -> bool {
    let sorted = |mut places: [String; 2]| {
        places.sort();
        places
    };
    let wanted = sorted(pair.0.each_ref().map(ToString::to_string));
    outcome.races.iter().any(|race| sorted(race.clone()) == wanted)
}

/// Whether a run by the seed of a finding of this kind has brought it about again, at these places.
pub fn happens_again(kind: &Kind, places: &[&Place], ran: &Ran) -> bool {
    let ControlledRun { races, then, panicked, waits, .. } = &ran.outcome;
    match kind {
        Kind::DataRace => {
            // The report's places may lack their beginning.
            let is_at = |at: &String, place: &&Place| at.ends_with(&place.to_string());
            let met = |race: &[String; 2], one: &&Place, other: &&Place| {
                is_at(&race[0], one) && is_at(&race[1], other)
            };
            let (Some(one), Some(other)) = (places.first(), places.last()) else {
                return !races.is_empty();
            };
            races.iter().any(|race| met(race, one, other) || met(race, other, one))
        }
        Kind::Crash => matches!(then, Aftermath::Killed(_)),
        Kind::Deadlock | Kind::Stall => {
            // Of a circle the report also has where each thread took what the next one waits for.
            let is_here = |standing: &Standing, place: &Place| {
                let held = standing.holders.iter().filter_map(|it| it.place.as_ref());
                standing.place.as_ref().into_iter().chain(held).any(|at| at == place)
            };
            let stands = |place: &&Place| waits.iter().any(|standing| is_here(standing, place));
            *then == Aftermath::Deadlock && places.iter().all(stands)
        }
        _ => {
            let place = panicked.as_ref().and_then(|at| at.place.as_ref());
            then.is_harm() && places.iter().all(|there| Some(*there) == place)
        }
    }
}

/// What is said of a finding.
struct Told {
    kind: Kind,
    parts: Vec<Part>,
    subject: Option<Subject>,
    reason: Reason,
}

/// A race that happened.
fn race(trace: &Trace, suspect: &Suspect, describer: &mut Describer<'_>) -> Told {
    let parts = suspect.events.iter().map(|event| describer.part(*event, Role::Next));
    let mut parts: Vec<Part> = parts.collect();
    parts.sort_by_cached_key(|part| (part.source.clone(), part.event));
    let accesses = suspect.events.iter().copied().find(|event| trace.accessed(*event).is_some());
    let subject = accesses.and_then(|event| describer.variable(event));
    let locks = match &suspect.why {
        Why::OrderOfLocks(locks) => {
            locks.iter().map(|lock| describer.name(Object::Lock(*lock))).collect()
        }
        Why::OrdersOfLocksDiffer
        | Why::EarlyNotification
        | Why::ChangedAtomic
        | Why::ChangedUnderLock
        | Why::OrderOfValues
        | Why::FreedMeanwhile
        | Why::OtherOrder => Vec::new(),
    };
    Told { kind: Kind::DataRace, parts, subject, reason: Reason::Met { locks } }
}

/// The circle of the recorded run that threads stand in that cannot go on, if it is known.
fn known_circle<'a>(
    origin: &'a Origin,
    outcome: &ControlledRun,
    prefixes: &[String],
) -> Option<&'a Suspect> {
    let stands = |place: &SourcePlace| {
        let place = Place::from(place.clone()).stripped(prefixes);
        outcome.waits.iter().any(|wait| wait.place.as_ref() == Some(&place))
    };
    let is_it = |suspect: &&Suspect| match &suspect.target {
        suspects::Target::Held(Manoeuvre::Circle, places) => places.0.iter().all(stands),
        suspects::Target::Held(Manoeuvre::Between | Manoeuvre::Wait | Manoeuvre::Late, _)
        | suspects::Target::Race(_) => false,
    };
    let is_deadlock = outcome.then == Aftermath::Deadlock;
    origin.suspects.all.iter().find(is_it).filter(|_| is_deadlock)
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
fn failure(outcome: &ControlledRun) -> Option<Told> {
    let told = |kind, parts| Told { kind, parts, subject: None, reason: Reason::UnderControl };
    match &outcome.then {
        Aftermath::Panic(_) => Some(told(Kind::Panic, vec![panicked(outcome)])),
        Aftermath::Check(_) => Some(told(Kind::FailedCheck, vec![panicked(outcome)])),
        Aftermath::Deadlock => {
            let waiting = outcome.waits.iter().filter(|it| it.state == ThreadState::Ready);
            let parts: Vec<Part> = waiting.filter_map(waits).collect();
            let by = |at: usize| parts[at].waits.iter().flat_map(|waits| &waits.by);
            let place = |thread: &String| parts.iter().position(|it| it.thread == *thread);
            let circle = circle_among(parts.len(), |at| by(at).find_map(place));
            let (kind, parts) = match circle.is_empty() {
                true => (Kind::Stall, parts),
                false => (Kind::Deadlock, circle.iter().map(|at| parts[*at].clone()).collect()),
            };
            (!parts.is_empty()).then(|| told(kind, parts))
        }
        Aftermath::Killed(signal) => {
            let operation = format!("signal {signal}");
            Some(told(Kind::Crash, vec![part("?".to_owned(), None, &operation)]))
        }
        Aftermath::Nothing | Aftermath::Livelock | Aftermath::Stuck | Aftermath::Unended => None,
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
