//! Reports of version 1: what was written can be read for ever.
//!
//! Version 1 knew races alone. A finding had two `sides`, as the source has them, and its
//! occurrences two `accesses` each; a kind was its `code`; operations and reasons were text. What
//! else a report has is the same in both versions.

use serde::Deserialize;
use serde_json::Value;

use super::{Project, VERSION};
use crate::finding::{
    Action, Doubt, Finding, Kind, Level, Lock, Occurrence, Operation, PackedWitness, Part, Place,
    Reason, Replay, Role, SourceOp, Step, Subject, Suppressed, WeakAccess,
};

/// Reads a report of version 1.
pub(super) fn read(text: &str) -> Result<Project, String> {
    let problem = |error: serde_json::Error| error.to_string();
    let mut report: Value = serde_json::from_str(text).map_err(problem)?;
    let findings: Vec<OldFinding> =
        serde_json::from_value(report["findings"].take()).map_err(problem)?;
    report["findings"] = Value::Array(Vec::new());
    let mut project: Project = serde_json::from_value(report).map_err(problem)?;
    project.version = VERSION;
    project.findings = findings.into_iter().map(OldFinding::renew).collect();
    Ok(project)
}

#[derive(Deserialize)]
struct OldFinding {
    number: u32,
    code: String,
    #[serde(default)]
    level: Level,
    #[serde(default)]
    doubts: Vec<Doubt>,
    fingerprint: String,
    sides: [OldSide; 2],
    occurrences: Vec<OldOccurrence>,
    suppressed: Option<Suppressed>,
    known: bool,
}

#[derive(Clone, Deserialize)]
struct OldSide {
    place: Option<Place>,
    kind: String,
    atomic: bool,
}

#[derive(Deserialize)]
struct OldOccurrence {
    trace: String,
    variable: Subject,
    accesses: [OldAccess; 2],
    reason: OldReason,
    detectors: Vec<String>,
    solver: Option<String>,
    seconds: Option<f64>,
    witness: Option<PackedWitness>,
    steps: Vec<OldStep>,
    left_out: u64,
    also: Vec<[OldSide; 2]>,
    replay: Option<Replay>,
}

#[derive(Deserialize)]
struct OldAccess {
    event: u64,
    thread: String,
    spawned: Option<Place>,
    value: String,
    new_value: Option<String>,
    locks: Vec<Lock>,
}

#[derive(Deserialize)]
struct OldReason {
    kind: String,
    text: String,
    too_weak: Vec<OldWeak>,
}

#[derive(Deserialize)]
struct OldWeak {
    event: u64,
    ordering: String,
    location: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    needs: Option<String>,
}

#[derive(Deserialize)]
struct OldStep {
    skipped: u64,
    event: u64,
    thread: String,
    what: String,
    place: Option<Place>,
}

impl OldFinding {
    fn renew(self) -> Finding {
        let Self { number, code, level, doubts, fingerprint, .. } = self;
        let sides = self.sides;
        let occurrences = self.occurrences.into_iter().map(|it| it.renew(sides.clone())).collect();
        Finding {
            number,
            kind: Kind::of_report(&code, None, None),
            level,
            doubts,
            fingerprint,
            occurrences,
            suppressed: self.suppressed,
            known: self.known,
        }
    }
}

impl OldSide {
    fn renew(self) -> SourceOp {
        SourceOp { place: self.place, operation: self.kind, atomic: self.atomic }
    }
}

impl OldOccurrence {
    fn renew(self, sides: [OldSide; 2]) -> Occurrence {
        let parts = sides.into_iter().zip(self.accesses).map(|(side, access)| Part {
            role: Role::Next,
            source: side.renew(),
            event: access.event,
            thread: access.thread,
            spawned: access.spawned,
            object: None,
            value: access.value,
            new_value: access.new_value,
            waits: None,
            locks: access.locks,
        });
        let parts = parts.collect();
        let steps = self.steps.into_iter().map(|step| Step {
            skipped: step.skipped,
            action: Action {
                event: step.event,
                thread: step.thread,
                does: Operation::of_words(&step.what),
                place: step.place,
            },
        });
        Occurrence {
            trace: self.trace,
            parts,
            subject: Some(self.variable),
            reason: self.reason.renew(&self.detectors),
            detectors: self.detectors,
            solver: self.solver,
            seconds: self.seconds,
            witness: self.witness,
            steps: steps.collect(),
            left_out: self.left_out,
            also: self.also.into_iter().map(|also| also.map(OldSide::renew).to_vec()).collect(),
            directed: None,
            replay: self.replay,
        }
    }
}

impl OldReason {
    /// The names of the locks stood in the text alone, in backticks.
    fn renew(self, detectors: &[String]) -> Reason {
        let Self { kind, text, too_weak } = self;
        match (kind.as_str(), detectors.first()) {
            ("unordered", _) if text == Reason::Unordered.words(|name| name) => Reason::Unordered,
            ("unordered", Some(detector)) => {
                let reason = Reason::NoOrderFound { detector: detector.clone() };
                let same = text == reason.words(|name| name);
                if same { reason } else { Reason::Other { kind, text } }
            }
            ("reordered", _) => {
                let locks = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
                Reason::Reordered { locks }
            }
            ("ordering-too-weak", _) => {
                let accesses = too_weak.into_iter().map(|weak| WeakAccess {
                    event: weak.event,
                    ordering: weak.ordering,
                    place: weak.location.as_deref().map(Place::of_trace),
                    operation: weak.kind,
                    needs: weak.needs,
                });
                Reason::OrderingTooWeak { accesses: accesses.collect() }
            }
            _ => Reason::Other { kind, text },
        }
    }
}
