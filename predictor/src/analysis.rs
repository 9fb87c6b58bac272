//! Runs detectors on a trace and puts what they find into one report.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use racelog::trace::{LockId, Object};
use rustc_hash::FxHashSet;

use crate::detect::paper::Paper;
use crate::detect::said::Said;
use crate::detect::{self, Claim, Scope};
use crate::finding::{
    Describer, Finding, Kind, Occurrence, PackedWitness, Reason, Role, WeakAccess,
};
use crate::goal::{Goal, GoalKind, GoalLists, Pair, Signature};
use crate::index::Index;
use crate::order::{WeakLink, weak_links};
use crate::predict::{self, Candidates, MustOrder, Proof, Proven, predict};
use crate::report::{DetectorRun, Report, SCHEMA, Unseen, VERSION};
use crate::solve::Disagreement;
use crate::trace::{EventId, Trace};

/// A way to find races.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detector {
    /// The maximal causal model with control flow: ours.
    Mcm,
    /// Happens-before, by the memory model of C++ and Rust.
    Hb,
    /// Causally-precedes.
    Cp,
    /// Weak causal precedence.
    Wcp,
    /// Whole-trace read-write consistency.
    Said,
    /// The formula of the PLDI 2014 paper as printed.
    Paper,
    /// Locksets and a weak happens-before.
    Quick,
}

impl Detector {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Quick, Self::Hb, Self::Cp, Self::Wcp, Self::Said, Self::Paper, Self::Mcm];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcm => "mcm",
            Self::Hb => "hb",
            Self::Cp => "cp",
            Self::Wcp => "wcp",
            Self::Said => "said",
            Self::Paper => "paper",
            Self::Quick => "quick",
        }
    }

    /// Whether what it finds may be no race.
    pub const fn is_unsound(self) -> bool {
        matches!(self, Self::Quick | Self::Paper | Self::Cp | Self::Wcp)
    }
}

impl fmt::Display for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Detector {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|detector| detector.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|detector| detector.name()).collect();
            format!("no detector is called `{name}`; there are {}", names.join(", "))
        })
    }
}

/// What one detector found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The goals; with witnesses where the detector gives them.
    pub found: BTreeMap<Goal, Option<Proven>>,
    /// How many pairs could not be decided.
    pub unknown: u64,
    /// What became of the pairs, where the detector counts that.
    pub counts: Option<predict::Counts>,
    /// What two solvers that were both asked differ on: a bug, after which nothing here counts.
    pub disagreement: Option<Disagreement>,
    /// How long it took.
    pub time: Duration,
}

impl Found {
    /// The races among what was found.
    pub fn races(&self) -> impl Iterator<Item = Pair> {
        self.found.keys().filter_map(Goal::as_race)
    }
}

/// Runs one detector.
pub fn detect(
    trace: &Trace,
    detector: Detector,
    options: &predict::Options,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Found {
    // The others look for races only.
    if detector != Detector::Mcm && !options.goals.contains(GoalKind::Race) {
        return Found::default();
    }
    let started = Instant::now();
    let scope = if options.all_goals { Scope::AllPairs } else { Scope::Signatures };
    let classic = |found: detect::Findings| Found {
        found: found.pairs.into_iter().map(|pair| (Goal::Race(pair), None)).collect(),
        unknown: found.limits.forgotten,
        ..Found::default()
    };
    let mut found = match detector {
        Detector::Mcm => {
            let found = predict(trace, options, progress);
            Found {
                found: found.found.into_iter().map(|it| (it.goal().clone(), Some(it))).collect(),
                unknown: found.counts.unknown.total(),
                counts: Some(found.counts),
                disagreement: found.disagreement,
                ..Found::default()
            }
        }
        Detector::Hb => classic(detect::hb::races(trace, scope)),
        Detector::Cp => classic(detect::cp::races(trace, scope)),
        Detector::Wcp => classic(detect::wcp::races(trace, scope)),
        Detector::Quick => classic(detect::quick::races(trace, scope)),
        Detector::Said => {
            let index = Index::new(trace);
            // Made for the first pair: there may be none.
            let mut said = None;
            whole_trace(trace, options, &index, |pair, deadline| {
                let new = || Said::new(trace, &index, options.solver.build());
                let said = said.get_or_insert_with(new);
                (said.is_race(pair, deadline), said.disagreement().cloned())
            })
        }
        Detector::Paper => {
            let index = Index::new(trace);
            let mut paper = None;
            whole_trace(trace, options, &index, |pair, deadline| {
                let new = || Paper::new(trace, &index, options.solver.build());
                let paper = paper.get_or_insert_with(new);
                (paper.is_race(pair, deadline), paper.disagreement().cloned())
            })
        }
    };
    found.time = started.elapsed();
    found
}

/// The longest trace that the whole-trace detectors look at. Their formula has all of it.
pub const LONGEST: usize = 20_000;

/// Runs a detector that decides pair by pair.
fn whole_trace(
    trace: &Trace,
    options: &predict::Options,
    index: &Index,
    mut decide: impl FnMut(Pair, Option<Instant>) -> (Claim, Option<Disagreement>),
) -> Found {
    let mut found = Found::default();
    // What these two proofs rule out, the whole-trace formulas rule out as well.
    let candidates = Candidates::new(trace, &index.regions, true);
    let must = MustOrder::plain(trace, index);
    let end = options.total_time.map(|time| Instant::now() + time);
    for entry in 0..candidates.len() {
        let mut proven = FxHashSet::default();
        let limit = options.goals_per_signature.filter(|_| !options.all_goals);
        let pairs = candidates.pairs(entry, trace, [Some(&must), None]);
        let mut left = pairs.unordered[2];
        if trace.len() > LONGEST {
            found.unknown += left;
            continue;
        }
        for pair in pairs.take(limit.unwrap_or(usize::MAX)) {
            let signature = pair.signature(trace);
            left -= 1;
            if !options.all_goals && proven.contains(&signature) {
                continue;
            }
            let deadline = options.goal_time.map(|time| Instant::now() + time);
            let deadline = deadline.into_iter().chain(end).min();
            let claim = match trace.len() > LONGEST || end.is_some_and(|end| Instant::now() > end) {
                true => Claim::Unknown,
                false => {
                    let (claim, disagreement) = decide(pair, deadline);
                    found.disagreement = found.disagreement.or(disagreement);
                    claim
                }
            };
            match claim {
                Claim::Race(_) => {
                    proven.insert(signature);
                    found.found.insert(Goal::Race(pair), None);
                }
                Claim::NoRace => {}
                Claim::Unknown => found.unknown += 1,
            }
        }
        // What the limit cut off is not known, unless one race is enough.
        if proven.is_empty() {
            found.unknown += left;
        }
    }
    found
}

/// Runs detectors and reports the union of what they find: one finding for each pair, or for each
/// pair of source locations unless all pairs are asked for. Where several found it, the first of
/// them that has a witness gives the pair. If solvers that were both asked differ, there is nothing
/// to report.
pub fn analyze(
    trace: &Trace,
    name: &str,
    detectors: &[Detector],
    options: &predict::Options,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Result<Report, Disagreement> {
    let mut found: Vec<(Detector, Found)> = Vec::new();
    for detector in detectors {
        let mut run = detect(trace, *detector, options, &progress);
        if let Some(disagreement) = run.disagreement.take() {
            return Err(disagreement);
        }
        found.push((*detector, run));
    }
    let runs = found.iter().map(|(detector, found)| DetectorRun {
        name: detector.name().to_owned(),
        findings: Some(found.found.len() as u64),
        // Only `mcm` does parts; what the others do in each part is counted in one.
        unknown: if *detector == Detector::Mcm || options.part.is_first() {
            found.unknown
        } else {
            0
        },
        seconds: found.time.as_secs_f64(),
        unsound: detector.is_unsound(),
    });
    let runs = runs.collect();
    let counts = found.iter().find_map(|(_, found)| found.counts);
    let mut merged: Vec<Merged> = Vec::new();
    let mut known: BTreeMap<Same, usize> = BTreeMap::new();
    for (detector, found) in found {
        for (goal, proven) in found.found {
            let same = match options.all_goals {
                true => Same::Goal(goal.clone()),
                false => Same::Signature(goal.signature(trace)),
            };
            let at = *known.entry(same).or_insert_with(|| {
                let goal = goal.clone();
                merged.push(Merged { goal, proven: None, detectors: Vec::new(), unordered: None });
                merged.len() - 1
            });
            let entry = &mut merged[at];
            entry.detectors.push(detector);
            if detector == Detector::Hb {
                entry.unordered = Some(goal.clone());
            }
            if proven.is_some() && entry.proven.is_none() {
                (entry.goal, entry.proven) = (goal, proven);
            }
        }
    }
    merged.sort_by(|a, b| a.goal.cmp(&b.goal));
    let mcm = detectors.contains(&Detector::Mcm);
    let proven = merged.iter().filter(|entry| entry.proven.is_some() || !mcm);
    let goals = GoalLists::new(options.goals, proven.map(|entry| &entry.goal));
    let mut describer = Describer::new(trace);
    let solver = options.solver.name();
    let findings = merged.into_iter().zip(1..).map(|(entry, number)| {
        let kind = entry.kind();
        let occurrence = entry.occurrence(trace, name, &mut describer, solver);
        Finding { number, ..Finding::new(kind, vec![occurrence]) }
    });
    Ok(Report {
        schema: SCHEMA,
        version: VERSION,
        trace: name.to_owned(),
        events: trace.len(),
        threads: trace.thread_count(),
        detectors: runs,
        goals,
        findings: findings.collect(),
        counts,
        unseen: Unseen::of(trace),
    })
}

/// What makes two goals one finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Same {
    Goal(Goal),
    Signature(Signature),
}

/// What all detectors say of one finding.
struct Merged {
    goal: Goal,
    proven: Option<Proven>,
    detectors: Vec<Detector>,
    /// The goal that happens-before leaves unordered.
    unordered: Option<Goal>,
}

impl Merged {
    /// Which kind it is: a schedule counts most. Happens-before says what this very run has; the
    /// others may be wrong.
    fn kind(&self) -> Kind {
        match (&self.proven, &self.unordered) {
            (Some(proven), _) => Kind::of_goal(proven.goal().kind()),
            (None, Some(_)) => Kind::UnorderedRace,
            (None, None) => Kind::SuspectedRace,
        }
    }

    fn occurrence(
        mut self,
        trace: &Trace,
        name: &str,
        describer: &mut Describer<'_>,
        solver: &str,
    ) -> Occurrence {
        let reason = self.reason(trace, describer);
        if self.proven.is_some() {
            self.detectors.sort_by_key(|detector| *detector != Detector::Mcm);
        }
        let proven = self.proven.as_ref();
        let solver = proven.filter(|it| it.proof == Proof::Solver).map(|_| solver.to_owned());
        let happened = self.goal.happened().iter().map(|event| (*event, Role::Happened));
        let next = self.goal.next().iter().map(|event| (*event, Role::Next));
        let parts = happened.chain(next).map(|(event, role)| describer.part(event, role));
        let parts = parts.collect();
        // All events of a goal that is about a variable access it.
        let subject = self.goal.events().next().and_then(|event| describer.variable(event));
        Occurrence {
            trace: name.to_owned(),
            parts,
            subject,
            reason,
            detectors: self.detectors.iter().map(|detector| detector.name().to_owned()).collect(),
            solver,
            seconds: proven.map(|proven| proven.time.as_secs_f64()),
            witness: proven.map(|proven| PackedWitness::pack(trace, proven.witness.schedule())),
            steps: Vec::new(),
            left_out: 0,
            also: Vec::new(),
            replay: None,
        }
    }

    fn reason(&self, trace: &Trace, describer: &mut Describer<'_>) -> Reason {
        let pair = self.goal.as_race();
        if let (None, Some(_), Some(pair)) = (&self.proven, &self.unordered, pair) {
            let links = weak_links(trace, pair);
            if !links.is_empty() {
                return too_weak(trace, &links, describer);
            }
        }
        if self.unordered.as_ref() == Some(&self.goal) {
            return Reason::Unordered;
        }
        if self.proven.is_none() {
            return Reason::NoOrderFound { detector: self.detectors[0].name().to_owned() };
        }
        let locks = pair.map_or_else(Vec::new, |pair| ordering_locks(trace, pair));
        let locks = locks.into_iter().map(|lock| describer.name(Object::Lock(lock)));
        Reason::Reordered { locks: locks.collect() }
    }
}

fn too_weak(trace: &Trace, links: &[WeakLink], describer: &mut Describer<'_>) -> Reason {
    let accesses = links.iter().map(|link| WeakAccess {
        event: link.event.number(),
        ordering: format!("{:?}", link.ordering),
        place: describer.place(link.event),
        operation: Some(trace.op(link.event).keyword().to_owned()),
        needs: link.needs.map(|needs| format!("{needs:?}")),
    });
    Reason::OrderingTooWeak { accesses: accesses.collect() }
}

/// The locks that the first access's thread gives back after it and that the second's takes before
/// it: they order the two in the observed run.
fn ordering_locks(trace: &Trace, pair: Pair) -> Vec<LockId> {
    let (first, second) = (pair.first(), pair.second());
    let events = |thread_of: EventId| trace.events_of_thread(trace.thread(thread_of));
    let released = events(first)[trace.position(first)..]
        .iter()
        .take_while(|event| **event < second)
        .filter_map(|event| Some((trace.op(*event).released_lock()?, *event)));
    let taken: Vec<(LockId, EventId)> = events(second)[..trace.position(second)]
        .iter()
        .rev()
        .take_while(|event| **event > first)
        .filter_map(|event| Some((trace.op(*event).taken_lock()?, *event)))
        .collect();
    let mut locks: Vec<LockId> = released
        .filter(|(lock, _)| trace.is_of_program(*lock))
        .filter(|(lock, at)| taken.iter().any(|(other, later)| other == lock && later > at))
        .map(|(lock, _)| lock)
        .collect();
    locks.sort_unstable();
    locks.dedup();
    locks
}
