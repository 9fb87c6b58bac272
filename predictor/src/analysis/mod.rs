//! Runs detectors on a trace and puts their findings into one report.

mod blame;
mod detector;
mod hang;
mod merged;
mod standstill;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

pub use self::detector::Detector;
pub(crate) use self::merged::ordering_locks;
use self::merged::{Merged, Teller};
pub(crate) use self::standstill::{circle as parts_of_circle, circle_among};

use crate::detect::deadlock::{self, FoundCircles};
use crate::detect::paper::Paper;
use crate::detect::said::Said;
use crate::detect::{self, Claim, Scope};
use crate::finding::{Doubt, Finding, Level};
use crate::goal::{Goal, GoalKinds, GoalLists, Pair, Signature};
use crate::index::Index;
use crate::predict::{self, Candidates, MustOrder, Proven, predict};
use crate::report::{DetectorRun, Report, SCHEMA, Unseen, VERSION};
use crate::solve::Disagreement;
use crate::trace::Trace;

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
    if !detector.looks_for().meets(options.goals) {
        return Found::default();
    }
    let started = Instant::now();
    let scope = if options.all_goals { Scope::AllPairs } else { Scope::Signatures };
    let classic = |found: detect::Findings| Found {
        found: found.pairs.into_iter().map(|pair| (Goal::Race(pair), None)).collect(),
        unknown: found.limits.forgotten,
        ..Found::default()
    };
    let circles = |found: FoundCircles| Found {
        found: found.circles.into_iter().map(|circle| (Goal::Deadlock(circle), None)).collect(),
        // How many there are beyond is not known.
        unknown: u64::from(found.is_cut),
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
        Detector::Spd => circles(deadlock::sync_preserving(trace, scope)),
        Detector::LockOrder => circles(deadlock::lock_order(trace, scope)),
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
    let is_unsound = |detector: Detector| {
        detector.is_unsound() || (detector == Detector::Mcm && !options.model.is_sound())
    };
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
        unsound: is_unsound(*detector),
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
                merged.push(Merged::new(goal.clone()));
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
    let mut teller = Teller::new(trace, name, options.solver.name());
    let is_sound = options.model.is_sound();
    let told = merged.into_iter().map(|mut entry| {
        // What a model that is not sound takes for a schedule shows nothing.
        entry.proven = entry.proven.filter(|_| is_sound);
        let (kind, occurrence) = teller.tell(entry);
        let mut finding = Finding::new(kind, vec![occurrence]);
        if !is_sound {
            finding.level = Level::Doubtful;
            finding.doubts.push(Doubt::Unsound);
        }
        finding
    });
    let mut findings: Vec<Finding> = told.collect();
    if options.goals.meets(GoalKinds::OF_WAITING) {
        findings.extend(teller.hang());
    }
    for (finding, number) in findings.iter_mut().zip(1..) {
        finding.number = number;
    }
    Ok(Report {
        schema: SCHEMA,
        version: VERSION,
        trace: name.to_owned(),
        events: trace.len(),
        threads: trace.thread_count(),
        detectors: runs,
        model: options.model,
        goals,
        findings,
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
