//! What directed runs have tried and found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::collect::{SameFinding, fingerprint};
use super::{Project, Sources};
use crate::directed::Done;
use crate::finding::{Basis, Finding, Kind, Level, Occurrence, Place, Reason};

/// What was tried by directed runs, in numbers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Explored {
    /// How many suspects were tried.
    pub suspects: u64,
    /// How many were not, or not as often as others: there were too many, or too little time.
    pub left: u64,
    /// How many runs there were.
    pub runs: u64,
    /// How many findings there are of what happened; none of what another finding explains.
    pub happened: u64,
    /// How long all of that took.
    pub seconds: f64,
    /// How far it was when something happened for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstHit>,
    /// What came of schedules that were directed to nothing, if each test had many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Schedules>,
    /// How many runs did not end, within their steps or their time.
    pub unended: u64,
    /// In how many runs control was lost: a thread blocked outside of racelog.
    pub lost: u64,
    /// The first run that did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unended_example: Option<RunOfTrace>,
}

/// Many schedules of each test.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Schedules {
    /// How many tests there were.
    pub tests: u64,
    /// How many schedules they had together.
    pub runs: u64,
    /// How long that took.
    pub seconds: f64,
}

/// How far directed runs were when something happened for the first time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct FirstHit {
    /// How many runs there had been, with that one.
    pub runs: u64,
    /// How long they took.
    pub seconds: f64,
}

/// A run of what left a trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunOfTrace {
    /// The name of the trace.
    pub trace: String,
    /// The seed of the run, as `RACELOG_CONTROL` takes it.
    pub control: String,
}

impl Explored {
    /// What was done, and how long it took.
    pub fn new(done: Done, first: Option<FirstHit>, seconds: f64) -> Self {
        let Done { suspects, left, runs, happened, unended, lost, unended_example } = done;
        Self {
            suspects,
            left,
            runs,
            happened,
            seconds,
            first,
            schedules: None,
            unended,
            lost,
            unended_example,
        }
    }
}

impl Project {
    /// Adds what directed runs have found. A failure that a finding of the same trace explains is
    /// none of its own. Says how many findings there are of what happened.
    pub fn add_directed(&mut self, found: Vec<Finding>, sources: &impl Sources) -> u64 {
        let mut new: BTreeMap<SameFinding, Vec<Occurrence>> = BTreeMap::new();
        // Races come first: what follows them is no finding beside them.
        for finding in found {
            for occurrence in finding.occurrences {
                let same = SameFinding::new(&finding.kind, &occurrence);
                let raced = new.iter().any(|(same, occurrences)| {
                    same.kind == Kind::DataRace
                        && occurrences.iter().any(|one| one.trace == occurrence.trace)
                });
                let is_race = finding.kind == Kind::DataRace;
                if is_race || !raced && !self.explains(&finding.kind, &occurrence) {
                    new.entry(same).or_default().push(occurrence);
                }
            }
        }
        // What was listed as possible has happened now.
        let happened = |finding: &Finding| {
            let is_listed = finding.kind == Kind::SuspectedDeadlock;
            let sources = || finding.sources().cloned().collect::<Vec<_>>();
            is_listed && new.keys().any(|it| it.kind == Kind::Deadlock && it.sources == sources())
        };
        self.findings.retain(|finding| !happened(finding));
        let count = new.len() as u64;
        for (same, occurrences) in new {
            let is_same =
                |there: &&mut Finding| SameFinding::new(&there.kind, &there.occurrences[0]) == same;
            match self.findings.iter_mut().find(is_same) {
                Some(there) => there.occurrences.extend(occurrences),
                None => {
                    let fingerprint = fingerprint(&same, sources);
                    let finding = Finding::new(same.kind, occurrences);
                    self.findings.push(Finding { fingerprint, ..finding });
                }
            }
        }
        self.leave_out_known_circles();
        self.number();
        count
    }

    /// A deadlock of a run under control is none of its own if a circle of the same test is found
    /// which has all its places: runs that are directed to nothing know of no circles.
    fn leave_out_known_circles(&mut self) {
        let happened = |finding: &Finding| finding.best().reason == Reason::UnderControl;
        let deadlocks = || self.findings.iter().filter(|finding| finding.kind == Kind::Deadlock);
        let is_part = |one: &Occurrence, circle: &Occurrence| {
            let has = |place: &Place| circle.places().any(|at| at == place);
            self.is_same_test(&one.trace, &circle.trace) && one.places().all(has)
        };
        let is_known = |one: &Occurrence| {
            let circles = deadlocks().filter(|finding| !happened(finding));
            circles.flat_map(|finding| &finding.occurrences).any(|circle| is_part(one, circle))
        };
        let stays = |finding: &Finding| {
            let is_own = finding.kind != Kind::Deadlock || !happened(finding);
            is_own || !finding.occurrences.iter().all(is_known)
        };
        let stay: Vec<bool> = self.findings.iter().map(stays).collect();
        let mut stay = stay.into_iter();
        self.findings.retain(|_| stay.next().unwrap_or(true));
    }

    /// Whether two traces are of one test.
    fn is_same_test(&self, one: &str, other: &str) -> bool {
        let test = |name| self.trace(name).and_then(|trace| trace.test.as_ref());
        one == other || test(one).is_some() && test(one) == test(other)
    }

    /// Takes over what directed runs have found from an earlier report, of traces that are the
    /// same.
    pub fn keep_directed(
        &mut self,
        before: &Self,
        is_same_trace: impl Fn(&str) -> bool,
        sources: &impl Sources,
    ) {
        let stays = |one: &&Occurrence| one.directed.is_some() && is_same_trace(&one.trace);
        let kept = before.findings.iter().filter_map(|finding| {
            let stays = finding.occurrences.iter().filter(stays).cloned();
            let occurrences: Vec<Occurrence> = stays.collect();
            let is_there = !occurrences.is_empty();
            is_there.then(|| Finding::new(finding.kind.clone(), occurrences))
        });
        self.add_directed(kept.collect(), sources);
        self.explored.clone_from(&before.explored);
    }

    /// Whether a finding of the same trace is that failure, or what it is due to.
    fn explains(&self, kind: &Kind, failure: &Occurrence) -> bool {
        let places: Vec<&Place> = failure.places().collect();
        let proven = self.findings.iter().filter(|it| it.kind.basis() != Basis::Suspicion);
        proven.into_iter().any(|finding| {
            let mut same = finding.occurrences.iter().filter(|one| one.trace == failure.trace);
            same.any(|one| match kind {
                Kind::Deadlock | Kind::Stall => {
                    let mut at = one.primary_parts().filter_map(|it| it.source.place.as_ref());
                    at.any(|place| places.contains(&place))
                }
                _ => finding.level == Level::Proven,
            })
        })
    }
}
