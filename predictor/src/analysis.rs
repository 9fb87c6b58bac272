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
use crate::goal::{Pair, Signature};
use crate::index::Index;
use crate::order::weak_links;
use crate::predict::{self, Candidates, MustOrder, Proof, Proven, predict};
use crate::report::{
    Counts, DetectorRun, Finding, Reason, ReasonKind, Report, TooWeak, Unseen, VERSION, describe,
};
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
    /// Whole-trace read-write consistency.
    Said,
    /// The formula of the PLDI 2014 paper as printed.
    Paper,
    /// Locksets and a weak happens-before.
    Quick,
}

impl Detector {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Quick, Self::Hb, Self::Cp, Self::Said, Self::Paper, Self::Mcm];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcm => "mcm",
            Self::Hb => "hb",
            Self::Cp => "cp",
            Self::Said => "said",
            Self::Paper => "paper",
            Self::Quick => "quick",
        }
    }

    /// Whether what it finds may be no race.
    pub const fn is_unsound(self) -> bool {
        matches!(self, Self::Quick | Self::Paper | Self::Cp)
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
    /// The pairs; with witnesses where the detector gives them.
    pub races: BTreeMap<Pair, Option<Proven>>,
    /// How many pairs could not be decided.
    pub unknown: u64,
    /// What became of the pairs, where the detector counts that.
    pub counts: Option<predict::Counts>,
    /// What two solvers that were both asked differ on: a bug, after which nothing here counts.
    pub disagreement: Option<Disagreement>,
    /// How long it took.
    pub time: Duration,
}

/// Runs one detector.
pub fn detect(
    trace: &Trace,
    detector: Detector,
    options: &predict::Options,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Found {
    let started = Instant::now();
    let scope = if options.all_pairs { Scope::AllPairs } else { Scope::Signatures };
    let classic = |found: detect::Findings| Found {
        races: found.pairs.into_iter().map(|pair| (pair, None)).collect(),
        unknown: found.limits.forgotten,
        ..Found::default()
    };
    let mut found = match detector {
        Detector::Mcm => {
            let found = predict(trace, options, progress);
            Found {
                races: found.found.into_iter().filter_map(with_pair).collect(),
                unknown: found.counts.unknown(),
                counts: Some(found.counts),
                disagreement: found.disagreement,
                ..Found::default()
            }
        }
        Detector::Hb => classic(detect::hb::races(trace, scope)),
        Detector::Cp => classic(detect::cp::races(trace, scope)),
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

/// A proven race by its pair.
fn with_pair(proven: Proven) -> Option<(Pair, Option<Proven>)> {
    Some((proven.goal().as_race()?, Some(proven)))
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
        let limit = options.pairs_per_signature.filter(|_| !options.all_pairs);
        let pairs = candidates.pairs(entry, trace, [Some(&must), None]);
        let mut left = pairs.unordered[2];
        if trace.len() > LONGEST {
            found.unknown += left;
            continue;
        }
        for pair in pairs.take(limit.unwrap_or(usize::MAX)) {
            let signature = pair.signature(trace);
            left -= 1;
            if !options.all_pairs && proven.contains(&signature) {
                continue;
            }
            let deadline = options.pair_time.map(|time| Instant::now() + time);
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
                    found.races.insert(pair, None);
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
        name: detector.name(),
        findings: found.races.len(),
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
    let counts = found.iter().find_map(|(_, found)| found.counts).map(Counts::from);
    let mut union: Vec<Union> = Vec::new();
    let mut known: BTreeMap<Same, usize> = BTreeMap::new();
    for (detector, found) in found {
        for (pair, race) in found.races {
            let same = match options.all_pairs {
                true => Same::Pair(pair),
                false => Same::Signature(pair.signature(trace)),
            };
            let at = *known.entry(same).or_insert_with(|| {
                union.push(Union { pair, race: None, detectors: Vec::new(), unordered: None });
                union.len() - 1
            });
            let entry = &mut union[at];
            entry.detectors.push(detector);
            if detector == Detector::Hb {
                entry.unordered = Some(pair);
            }
            if race.is_some() && entry.race.is_none() {
                (entry.pair, entry.race) = (pair, race);
            }
        }
    }
    union.sort_by_key(|entry| entry.pair);
    let solver = options.solver.name();
    Ok(Report {
        version: VERSION,
        trace: name.to_owned(),
        events: trace.len(),
        threads: trace.thread_count(),
        detectors: runs,
        findings: union.into_iter().map(|entry| finding(trace, entry, solver)).collect(),
        counts,
        unseen: Unseen::of(trace),
    })
}

/// What makes two pairs one finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Same {
    Pair(Pair),
    Signature(Signature),
}

struct Union {
    pair: Pair,
    race: Option<Proven>,
    detectors: Vec<Detector>,
    /// The pair that happens-before leaves unordered.
    unordered: Option<Pair>,
}

fn finding(trace: &Trace, entry: Union, solver: &'static str) -> Finding {
    let (first, second) = (entry.pair.first(), entry.pair.second());
    let variable = trace.accessed(first).map(Object::Var);
    let mut detectors: Vec<&'static str> =
        entry.detectors.iter().map(|detector| detector.name()).collect();
    if entry.race.is_some() {
        detectors.sort_by_key(|name| *name != Detector::Mcm.name());
    }
    Finding {
        events: [first.number(), second.number()],
        variable: variable.map_or_else(String::new, |var| trace.printer().name(var).to_owned()),
        accesses: [describe(trace, first), describe(trace, second)],
        reason: reason(trace, &entry),
        detector: detectors[0],
        detectors,
        solver: entry.race.as_ref().filter(|race| race.proof == Proof::Solver).map(|_| solver),
        seconds: entry.race.as_ref().map(|race| race.time.as_secs_f64()),
        witness: entry.race.map(|race| race.witness.schedule().map(EventId::number).collect()),
    }
}

fn reason(trace: &Trace, entry: &Union) -> Reason {
    let said = |kind, text: String| Reason { kind, text, too_weak: Vec::new() };
    if entry.race.is_none() && entry.unordered.is_some() {
        let links = weak_links(trace, entry.pair);
        if !links.is_empty() {
            return too_weak(trace, &links);
        }
    }
    if entry.unordered == Some(entry.pair) {
        let text = "nothing orders these two in the observed run".to_owned();
        return said(ReasonKind::Unordered, text);
    }
    if entry.race.is_none() {
        let text = format!("`{}` finds no order between these two", entry.detectors[0]);
        return said(ReasonKind::Unordered, text);
    }
    let locks = ordering_locks(trace, entry.pair);
    let mut printer = trace.printer();
    let names: Vec<String> =
        locks.iter().map(|lock| format!("`{}`", printer.name(Object::Lock(*lock)))).collect();
    let text = if names.is_empty() {
        "can be reordered: nothing that orders these two in the observed run has to".to_owned()
    } else {
        format!("can be reordered: {} can be taken in another order", names.join(", "))
    };
    said(ReasonKind::Reordered, text)
}

fn too_weak(trace: &Trace, links: &[crate::order::WeakLink]) -> Reason {
    let mut printer = trace.printer();
    let too_weak: Vec<TooWeak> = links
        .iter()
        .map(|link| TooWeak {
            event: link.event.number(),
            ordering: format!("{:?}", link.ordering),
            location: printer.location(link.event),
            kind: Some(trace.op(link.event).keyword().to_owned()),
            needs: link.needs.map(|needs| format!("{needs:?}")),
        })
        .collect();
    let words = too_weak.iter().map(|link| match &link.location {
        Some(location) => format!("{} at {location} (event {})", link.ordering, link.event),
        None => format!("{} at event {}", link.ordering, link.event),
    });
    let text = format!("ordering too weak: {}", words.collect::<Vec<_>>().join(", "));
    Reason { kind: ReasonKind::OrderingTooWeak, text, too_weak }
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
