//! Findings: one type for every kind, from the analysis to all formats.
//!
//! A [`Finding`] is one bug, which people fix as one. It has a [`Kind`] and occurs in traces; an
//! [`Occurrence`] has the events that make it up, its [`Part`]s, and the [`PackedWitness`] that
//! shows it. A race has two parts; a deadlock has one for each thread of its circle, a failed check
//! one. Reports about one trace and about a project consist of these types, and all formats are
//! made from them. Nothing here is text that a program would have to read again: words are made by
//! `render`.

mod describe;
mod directed;
mod kind;
mod level;
mod operation;
mod part;
mod place;
mod ranges;
mod reason;
mod replay;
pub mod shared;
mod steps;
mod waits;
mod witness;
mod words;

use serde::{Deserialize, Serialize};

pub use self::describe::{Describer, HeldLock, held, held_at_end, operation_of};
pub use self::directed::DirectedRun;
pub use self::kind::{Basis, Kind, OtherKind};
pub use self::level::{Doubt, Level, Named};
pub use self::operation::Operation;
pub use self::part::{Lock, Part, Role, SourceOp, Subject};
pub use self::place::{NoPlace, Place, Spots};
pub use self::ranges::Ranges;
pub(crate) use self::ranges::write_range;
pub use self::reason::{Reason, WeakAccess};
pub use self::replay::{Replay, ReplayStatus};
pub use self::steps::{Action, Step, most_steps, steps};
pub use self::waits::{WaitKind, Waits};
pub use self::witness::{NoWitness, PackedWitness};
pub use self::words::Naming;
use crate::trace::{EventId, Trace};

/// Something that was found, with all that is known of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Its number in its report, from 1.
    pub number: u32,
    /// Which kind it is.
    pub kind: Kind,
    /// How sure it is.
    #[serde(default)]
    pub level: Level,
    /// Why it is doubtful, if it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// The same for the same finding in every run, as long as the lines of its parts say the same.
    /// Reports about one trace have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
    /// Where it occurred, sorted by trace. There is at least one; all have the same operations at
    /// the same places.
    pub occurrences: Vec<Occurrence>,
    /// Why it does not count, if the project says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// Whether the baseline has it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub known: bool,
}

/// A finding in one trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Occurrence {
    /// The name of the trace.
    pub trace: String,
    /// The events that make it up. There is at least one.
    pub parts: Vec<Part>,
    /// What all of them are about, if that is one thing: the variable of a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// Why it is one.
    pub reason: Reason,
    /// The detectors that found it; the one whose events these are first.
    pub detectors: Vec<String>,
    /// The solver that decided it, if one had to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// How long that took, if it was predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// A schedule that ends in the parts, if it was predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<PackedWitness>,
    /// The steps of the witness that matter, with the last ones for sure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// How many events of the witness are not among the steps.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Other operations on the same thing that nothing orders in the observed run, though no
    /// schedule shows them side by side: the operations of each such finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Vec<SourceOp>>,
    /// The run under control in which it happened, if it was tried and not predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directed: Option<DirectedRun>,
    /// What came of running the program under the witness, or by the seed of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

/// Why a finding does not count.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suppressed {
    /// The reason that was given.
    pub reason: String,
    /// Where it stands.
    pub by: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Finding {
    /// A finding that occurs so, before anything else is known of it.
    pub fn new(kind: Kind, occurrences: Vec<Occurrence>) -> Self {
        Self {
            number: 0,
            level: Level::of_kind(&kind),
            kind,
            doubts: Vec::new(),
            fingerprint: String::new(),
            occurrences,
            suppressed: None,
            known: false,
        }
    }

    /// Whether it counts.
    pub fn is_open(&self) -> bool {
        self.suppressed.is_none() && !self.known
    }

    /// What the parts do that tell it from others, as the source has it: the same in all
    /// occurrences.
    pub fn sources(&self) -> impl Iterator<Item = &SourceOp> {
        self.occurrences.iter().take(1).flat_map(Occurrence::sources)
    }

    /// The places of these, as far as they are known.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.sources().filter_map(|source| source.place.as_ref())
    }

    /// The occurrence that says most: one that was replayed, or else one that was predicted.
    pub fn best(&self) -> &Occurrence {
        let rank = |occurrence: &Occurrence| match &occurrence.replay {
            Some(replay) => match replay.status {
                ReplayStatus::ConfirmedHarmful => 0,
                ReplayStatus::Confirmed => 1,
                ReplayStatus::Diverged | ReplayStatus::Failed => 2,
            },
            None if occurrence.witness.is_some() => 3,
            None => 4,
        };
        let best = self.occurrences.iter().min_by_key(|occurrence| rank(occurrence));
        best.expect("there is at least one")
    }
}

impl Occurrence {
    /// What the parts do that tell the finding from others, as the source has it.
    pub fn sources(&self) -> impl Iterator<Item = &SourceOp> {
        self.telling_parts().map(|part| &part.source)
    }

    /// The places of these, as far as they are known.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.sources().filter_map(|source| source.place.as_ref())
    }

    /// The parts that tell the finding from others.
    pub fn telling_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.role.tells_apart())
    }

    /// The parts that a report points to first.
    pub fn primary_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.role.is_primary())
    }

    /// The numbers of its events, as its parts stand.
    pub fn events(&self) -> Vec<u64> {
        self.parts.iter().map(|part| part.event).collect()
    }

    /// Its events in a trace; `None` if that trace does not have them.
    pub fn events_in(&self, trace: &Trace) -> Option<Vec<EventId>> {
        let known = |number: u64| EventId::from_number(number).filter(|it| trace.contains(*it));
        self.parts.iter().map(|part| known(part.event)).collect()
    }

    /// Whether an event is one of those that a report points to first.
    pub fn has(&self, event: u64) -> bool {
        self.primary_parts().any(|part| part.event == event)
    }

    /// What its subject is called in the trace; nothing, if it has none.
    pub fn subject_name(&self) -> &str {
        self.subject.as_ref().map_or("", |subject| subject.name.as_str())
    }

    /// The threads of its primary parts, each once, in the order in which its steps have them.
    pub fn threads(&self) -> Vec<&str> {
        let mut threads: Vec<&str> = Vec::new();
        for part in self.primary_parts() {
            if !threads.contains(&part.thread.as_str()) {
                threads.push(&part.thread);
            }
        }
        let first = |thread: &str| {
            let at = self.steps.iter().position(|step| step.action.thread == thread);
            at.unwrap_or(usize::MAX)
        };
        threads.sort_by_key(|thread| first(thread));
        threads
    }

    /// All places that it names.
    pub fn places_mut(&mut self, mut each: impl FnMut(&mut Place)) {
        for part in &mut self.parts {
            let held = part.locks.iter_mut().filter_map(|lock| lock.taken.as_mut());
            let own = [&mut part.source.place, &mut part.spawned];
            own.into_iter().filter_map(Option::as_mut).chain(held).for_each(&mut each);
        }
        let used = self.subject.as_mut().and_then(|subject| subject.first_use.as_mut());
        used.into_iter().for_each(&mut each);
        if let Reason::OrderingTooWeak { accesses } = &mut self.reason {
            accesses.iter_mut().filter_map(|weak| weak.place.as_mut()).for_each(&mut each);
        }
        let steps = self.steps.iter_mut().filter_map(|step| step.action.place.as_mut());
        steps.for_each(&mut each);
    }
}
