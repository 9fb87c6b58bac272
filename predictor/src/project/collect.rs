//! Puts the reports about single traces together.

use std::collections::BTreeMap;

use racelog::trace::Object;

use super::schedule::steps;
use super::{
    Access, Capture, Code, DetectorRun, Finding, Level, Lock, Occurrence, Place, Project, SCHEMA,
    Shard, Side, Skipped, Sources, Spots, TraceInfo, VERSION, Variable,
};
use crate::report::unseen::Missed;
use crate::report::{self, Report, held};
use crate::trace::{EventId, Trace};
use crate::unrecorded::Unrecorded;

/// What is known about one trace after its analysis, without the trace itself.
#[derive(Clone, Debug)]
pub struct Analysed {
    info: TraceInfo,
    found: Vec<(Code, [Side; 2], Occurrence)>,
}

impl Analysed {
    /// What a report says about its trace. `prefixes` are taken off the names of files.
    pub fn new(trace: &Trace, report: &Report, note: Option<String>, prefixes: &[String]) -> Self {
        let metadata = trace.metadata();
        let detectors = report.detectors.iter().map(|run| DetectorRun {
            name: run.name.to_owned(),
            unknown: run.unknown,
            seconds: run.seconds,
            unsound: run.unsound,
        });
        let info = TraceInfo {
            name: report.trace.clone(),
            test: metadata.test.clone(),
            program: metadata.program.as_deref().map(file_name),
            events: report.events as u64,
            threads: report.threads as u64,
            note,
            lost_events: report.unseen.lost_events,
            detectors: detectors.collect(),
            counts: report.counts,
            unseen_pointers: report.unseen.pointers.number,
            unseen_places: spots(&report.unseen.pointers, prefixes).places,
            unseen_references: spots(&report.unseen.references, prefixes),
            hidden_macros: spots(&report.unseen.macros, prefixes),
            foreign_threads: spots(&report.unseen.foreign_threads, prefixes),
            unattributed_threads: spots(&report.unseen.unattributed_threads, prefixes),
        };
        let found =
            report.findings.iter().map(|found| occurrence(trace, &report.trace, found, prefixes));
        Self { info, found: found.collect() }
    }
}

/// Gathers what was found in many traces. The order in which they come does not matter.
#[derive(Debug, Default)]
pub struct Collector {
    shard: Option<Shard>,
    traces: Vec<TraceInfo>,
    skipped: Vec<Skipped>,
    found: BTreeMap<(Code, [Side; 2], Option<String>), Vec<Occurrence>>,
}

impl Collector {
    /// Nothing yet; for a part of the work, if it is not all of it.
    pub fn new(shard: Option<Shard>) -> Self {
        Self { shard, ..Self::default() }
    }

    /// Adds what is known about a trace.
    pub fn add(&mut self, analysed: Analysed) {
        self.traces.push(analysed.info);
        for (code, sides, occurrence) in analysed.found {
            // Without a place nothing tells whether races of two traces are the same.
            let alone = sides.iter().any(|side| side.place.is_none());
            let alone = alone.then(|| {
                let [first, second] = &occurrence.accesses;
                format!("{} {} {}", occurrence.trace, first.event, second.event)
            });
            self.found.entry((code, sides, alone)).or_default().push(occurrence);
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
        let findings = self.found.into_iter().map(|((code, sides, alone), mut occurrences)| {
            occurrences.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
            let fingerprint = fingerprint(code, &sides, alone.as_deref(), sources);
            Finding {
                number: 0,
                code,
                level: Level::default(),
                doubts: Vec::new(),
                fingerprint,
                sides,
                occurrences,
                suppressed: None,
                known: false,
            }
        });
        let mut project = Project {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            racelog: env!("CARGO_PKG_VERSION").to_owned(),
            shard: self.shard,
            traces: self.traces,
            skipped: self.skipped,
            findings: findings.collect(),
            unused_suppressions: Vec::new(),
            unrecorded: Unrecorded::default(),
            capture: Capture::default(),
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
        self.findings.sort_by(|a, b| {
            let key = |finding: &Finding| {
                let first = &finding.occurrences[0];
                (first.trace.clone(), first.accesses[0].event, first.accesses[1].event)
            };
            let places = |finding: &Finding| finding.sides.clone().map(|side| side.place);
            (a.code, places(a), &a.sides, key(a)).cmp(&(b.code, places(b), &b.sides, key(b)))
        });
        for (finding, number) in self.findings.iter_mut().zip(1..) {
            finding.number = number;
        }
    }
}

/// What sorts the occurrences of one finding.
fn sort_key(occurrence: &Occurrence) -> (&str, u64, u64) {
    let [first, second] = &occurrence.accesses;
    (&occurrence.trace, first.event, second.event)
}

fn occurrence(
    trace: &Trace,
    name: &str,
    found: &report::Finding,
    prefixes: &[String],
) -> (Code, [Side; 2], Occurrence) {
    let context = Context { trace, prefixes };
    let code = match (&found.witness, found.reason.kind) {
        (Some(_), _) => Code::DataRace,
        // Happens-before says what this very run has; the others may be wrong.
        (None, _) if found.detectors.contains(&"hb") => Code::Unordered,
        (None, _) => Code::Suspected,
    };
    let mut sides = found.accesses.clone().map(|access| {
        let place = context.place_of(EventId::from_number(access.event));
        let side = Side { place, kind: access.kind.to_owned(), atomic: access.atomic };
        (side, context.access(access))
    });
    // Which of the two came first differs from run to run.
    sides.sort_by(|(a, left), (b, right)| (a, left.event).cmp(&(b, right.event)));
    let [(first, first_access), (second, second_access)] = sides;
    let event = EventId::from_number(found.events[0]);
    let witness: Option<Vec<EventId>> = found
        .witness
        .as_ref()
        .map(|numbers| numbers.iter().filter_map(|number| EventId::from_number(*number)).collect());
    let steps = witness.as_ref().map_or_else(Vec::new, |w| steps(trace, w, prefixes));
    let all = witness.as_ref().map_or(0, Vec::len);
    let occurrence = Occurrence {
        trace: name.to_owned(),
        variable: context.variable(event, &found.variable),
        accesses: [first_access, second_access],
        reason: context.reason(&found.reason),
        detectors: found.detectors.iter().map(|name| (*name).to_owned()).collect(),
        solver: found.solver.map(str::to_owned),
        seconds: found.seconds,
        witness: witness.map(|events| events.iter().map(|event| event.number()).collect()),
        left_out: (all - steps.len()) as u64,
        steps,
        also: Vec::new(),
        replay: None,
    };
    (code, [first, second], occurrence)
}

/// Says things about the events of a trace.
struct Context<'a> {
    trace: &'a Trace,
    prefixes: &'a [String],
}

impl Context<'_> {
    fn place_of(&self, event: Option<EventId>) -> Option<Place> {
        let text = self.trace.printer().location(event?)?;
        Some(Place::of_trace(&text).stripped(self.prefixes))
    }

    /// A reason with the names of files as they are elsewhere.
    fn reason(&self, reason: &report::Reason) -> report::Reason {
        let mut reason = reason.clone();
        for location in reason.too_weak.iter_mut().filter_map(|weak| weak.location.as_mut()) {
            let stripped = Place::of_trace(location).stripped(self.prefixes).to_string();
            reason.text = reason.text.replace(&*location, &stripped);
            *location = stripped;
        }
        reason
    }

    fn access(&self, access: report::Access) -> Access {
        let event = EventId::from_number(access.event);
        let fork = event.and_then(|event| self.trace.fork_of(self.trace.thread(event)));
        let held = event.map_or_else(Vec::new, |event| held(self.trace, event));
        let locks = held.into_iter().map(|held| Lock {
            name: self.trace.printer().name(Object::Lock(held.lock)).to_owned(),
            shared: held.shared,
            taken: self.place_of(Some(held.taken)),
        });
        Access {
            event: access.event,
            thread: access.thread,
            spawned: self.place_of(fork),
            value: access.value,
            new_value: access.new_value,
            locks: locks.collect(),
        }
    }

    fn variable(&self, event: Option<EventId>, name: &str) -> Variable {
        let var = event.and_then(|event| self.trace.op(event).var());
        let accesses = var.map_or(&[][..], |var| self.trace.events_of_var(var));
        let first = accesses.iter().find(|event| self.trace.location(**event).is_some());
        let what = match accesses.iter().any(|event| self.trace.op(*event).is_atomic()) {
            true => "atomic",
            false => "memory",
        };
        let (name, what) = (name.to_owned(), what.to_owned());
        Variable { name, what, first_use: self.place_of(first.copied()) }
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

/// The same for the same race in every run. Lines count by what they say where that is known, so that
/// it survives changes elsewhere in the file.
fn fingerprint(
    code: Code,
    sides: &[Side; 2],
    alone: Option<&str>,
    sources: &impl Sources,
) -> String {
    let mut words = vec![code.name().to_owned(), alone.unwrap_or_default().to_owned()];
    for side in sides {
        let place = side.place.as_ref();
        let line = place.and_then(|place| line_of(&sources.read(&place.file)?, place));
        words.push(place.map_or_else(String::new, |place| place.file.clone()));
        words.push(line.or_else(|| place.map(Place::to_string)).unwrap_or_default());
        words.push(side.kind.clone());
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
