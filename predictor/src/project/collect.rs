//! Puts the reports about single traces together.

use std::collections::BTreeMap;

use super::{Capture, Project, SCHEMA, Shard, Skipped, Sources, TraceInfo, VERSION};
use crate::finding::{Finding, Kind, Occurrence, Part, Place, SourceOp, Spots, most_steps, steps};
use crate::goal::GoalKinds;
use crate::report::unseen::Missed;
use crate::report::{DetectorRun, Report};
use crate::trace::{Printer, Trace};
use crate::unrecorded::Unrecorded;

/// What is known about one trace after its analysis, without the trace itself.
#[derive(Clone, Debug)]
pub struct Analysed {
    info: TraceInfo,
    goals: GoalKinds,
    findings: Vec<Finding>,
}

impl Analysed {
    /// What a report says about its trace. `prefixes` are taken off the names of files.
    pub fn new(trace: &Trace, report: &Report, note: Option<String>, prefixes: &[String]) -> Self {
        let metadata = trace.metadata();
        let info = TraceInfo {
            name: report.trace.clone(),
            test: metadata.test.clone(),
            program: metadata.program.as_deref().map(file_name),
            events: report.events as u64,
            threads: report.threads as u64,
            note,
            lost_events: report.unseen.lost_events,
            // How many each has found is not the sum of what it has found in parts of the work.
            detectors: report
                .detectors
                .iter()
                .map(|run| DetectorRun { findings: None, ..run.clone() })
                .collect(),
            counts: report.counts,
            unseen_pointers: report.unseen.pointers.number,
            unseen_places: spots(&report.unseen.pointers, prefixes).places,
            unseen_references: spots(&report.unseen.references, prefixes),
            hidden_macros: spots(&report.unseen.macros, prefixes),
            foreign_threads: spots(&report.unseen.foreign_threads, prefixes),
            unattributed_threads: spots(&report.unseen.unattributed_threads, prefixes),
        };
        let mut findings = report.findings.clone();
        let occurrences = || report.findings.iter().flat_map(|finding| &finding.occurrences);
        let most = most_steps(trace, occurrences().filter(|it| it.witness.is_some()).count());
        let mut printer = trace.printer();
        for finding in &mut findings {
            for occurrence in &mut finding.occurrences {
                add_steps(occurrence, trace, most, &mut printer);
                occurrence.places_mut(|place| place.strip(prefixes));
                if finding.kind.is_symmetric() {
                    // Which of them came first differs from run to run.
                    let key = |part: &Part| (part.role.clone(), part.source.clone(), part.event);
                    occurrence.parts.sort_by_cached_key(key);
                }
            }
        }
        Self { info, goals: report.goals.kinds(), findings }
    }
}

/// Adds the steps of a witness that people read.
fn add_steps(occurrence: &mut Occurrence, trace: &Trace, most: usize, printer: &mut Printer<'_>) {
    let witness = occurrence.witness.as_ref().and_then(|witness| witness.unpack(trace));
    if let (Some(witness), Some(parts)) = (witness, occurrence.events_in(trace)) {
        occurrence.steps = steps(trace, &witness, &parts, most, printer);
        occurrence.left_out = (witness.len() - occurrence.steps.len()) as u64;
    }
}

/// Gathers what was found in many traces. The order in which they come does not matter.
#[derive(Debug, Default)]
pub struct Collector {
    shard: Option<Shard>,
    traces: Vec<TraceInfo>,
    skipped: Vec<Skipped>,
    goals: GoalKinds,
    found: BTreeMap<SameFinding, Vec<Occurrence>>,
}

/// What makes occurrences one finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SameFinding {
    pub(super) kind: Kind,
    pub(super) sources: Vec<SourceOp>,
    /// The trace and the events, if a place is not known: nothing else tells then whether findings
    /// of two traces are the same.
    events: Option<String>,
}

impl SameFinding {
    pub(super) fn new(kind: &Kind, occurrence: &Occurrence) -> Self {
        let sources: Vec<SourceOp> = occurrence.sources().cloned().collect();
        let events = sources.iter().any(|source| source.place.is_none()).then(|| {
            let events = occurrence.telling_parts().map(|part| format!(" {}", part.event));
            format!("{}{}", occurrence.trace, events.collect::<String>())
        });
        Self { kind: kind.clone(), sources, events }
    }
}

impl Collector {
    /// Nothing yet; for a part of the work, if it is not all of it.
    pub fn new(shard: Option<Shard>) -> Self {
        Self { shard, ..Self::default() }
    }

    /// Adds what is known about a trace.
    pub fn add(&mut self, analysed: Analysed) {
        self.traces.push(analysed.info);
        self.goals = self.goals.and(analysed.goals);
        for finding in analysed.findings {
            for occurrence in finding.occurrences {
                let same = SameFinding::new(&finding.kind, &occurrence);
                self.found.entry(same).or_default().push(occurrence);
            }
        }
    }

    /// A file could not be analysed.
    pub fn skip(&mut self, name: String, problem: String) {
        self.skipped.push(Skipped { name, problem });
    }

    /// All of it, in an order that depends on nothing but what it says.
    pub fn finish(mut self, sources: &impl Sources) -> Project {
        self.traces.sort_by(|a, b| a.name.cmp(&b.name));
        self.skipped.sort();
        let findings = self.found.into_iter().map(|(same, mut occurrences)| {
            occurrences.sort_by_cached_key(|it| (it.trace.clone(), it.events()));
            let fingerprint = fingerprint(&same, sources);
            Finding { fingerprint, ..Finding::new(same.kind, occurrences) }
        });
        let mut project = Project {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            racelog: env!("CARGO_PKG_VERSION").to_owned(),
            shard: self.shard,
            traces: self.traces,
            skipped: self.skipped,
            goals: self.goals,
            findings: findings.collect(),
            unused_suppressions: Vec::new(),
            unrecorded: Unrecorded::default(),
            capture: Capture::default(),
            explored: None,
            strict: false,
        };
        // Of a part, it is not known yet what others have found.
        if project.shard.is_none() {
            project.fold();
        }
        project.number();
        project.judge();
        project
    }
}

impl Project {
    /// Sorts the findings, what is proven first, then by place, and numbers them.
    pub(super) fn number(&mut self) {
        self.findings.sort_by_cached_key(|finding| {
            let first = &finding.occurrences[0];
            let sources: Vec<SourceOp> = first.sources().cloned().collect();
            let places: Vec<_> = sources.iter().map(|source| source.place.clone()).collect();
            (finding.kind.clone(), places, sources, first.trace.clone(), first.events())
        });
        for (finding, number) in self.findings.iter_mut().zip(1..) {
            finding.number = number;
        }
    }
}

/// What a trace did not see, with the names of files as they are elsewhere.
fn spots(missed: &Missed, prefixes: &[String]) -> Spots {
    let places = missed.locations.iter().map(|text| Place::of_trace(text).stripped(prefixes));
    Spots { number: missed.number, places: places.collect() }
}

fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// The same for the same finding in every run. Lines count by what they say where that is known, so
/// that it survives changes elsewhere in the file.
pub(super) fn fingerprint(same: &SameFinding, sources: &impl Sources) -> String {
    let mut words = vec![same.kind.code().to_owned(), same.events.clone().unwrap_or_default()];
    for source in &same.sources {
        let place = source.place.as_ref();
        let line = place.and_then(|place| line_of(&sources.read(&place.file)?, place));
        words.push(place.map_or_else(String::new, |place| place.file.clone()));
        words.push(line.or_else(|| place.map(Place::to_string)).unwrap_or_default());
        words.push(source.operation.clone());
    }
    format!("{:016x}", fnv(words.join("\n").as_bytes()))
}

/// What a line says, and where in it the place is: several accesses may stand on one line.
fn line_of(text: &str, place: &Place) -> Option<String> {
    let line = text.lines().nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
    let indent = line.len() - line.trim_start().len();
    let column = usize::try_from(place.column).ok()?.saturating_sub(indent);
    Some(format!("{column} {}", line.trim()))
}

/// The hash of Fowler, Noll and Vo: known to be the same everywhere and for ever.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
