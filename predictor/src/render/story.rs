//! A finding in words, which all formats share.

use super::names::Names;
use super::{advice, count, list, replay, unseen};
use crate::finding::{
    Basis, DirectedRun, Finding, Kind, Lock, Naming, Occurrence, Part, Place, ReplayStatus,
    SourceOp,
};
use crate::project::{Project, Sources};

/// A finding and what there is to say about one of its occurrences.
pub(super) struct Story<'a> {
    project: &'a Project,
    pub(super) finding: &'a Finding,
    pub(super) occurrence: &'a Occurrence,
    pub(super) names: Names,
}

impl<'a> Story<'a> {
    /// The story of the occurrence that says most.
    pub(super) fn new(project: &'a Project, finding: &'a Finding, sources: &impl Sources) -> Self {
        Self::of(project, finding, finding.best(), sources)
    }

    /// The story of one of a finding's occurrences.
    pub(super) fn of(
        project: &'a Project,
        finding: &'a Finding,
        occurrence: &'a Occurrence,
        sources: &impl Sources,
    ) -> Self {
        let names = Names::of(occurrence, sources);
        Self { project, finding, occurrence, names }
    }

    /// Whether it is an error; what is doubtful is a warning.
    pub(super) fn is_error(&self) -> bool {
        self.project.is_error(self.finding)
    }

    /// Why it is doubtful, and what to do to know, a sentence each.
    pub(super) fn doubts(&self) -> Vec<String> {
        let cause = self.occurrence.replay.as_ref().and_then(|replay| replay.cause.as_ref());
        self.finding.doubts.iter().map(|doubt| unseen::doubt(doubt, cause)).collect()
    }

    /// `data race on self.hits`, with the name in backticks.
    pub(super) fn headline(&self) -> String {
        let is_ordering = !self.occurrence.reason.too_weak().is_empty();
        let title = match &self.finding.kind {
            // The code is also that of races of this very run whose order only values keep.
            Kind::UnorderedRace if !is_ordering => Kind::DataRace.title(),
            kind => kind.title(),
        };
        match &self.occurrence.subject {
            Some(_) => format!("{title} on `{}`", self.subject_name()),
            None => title.to_owned(),
        }
    }

    /// What its subject is called; nothing, if it has none.
    pub(super) fn subject_name(&self) -> &str {
        self.names.best(self.occurrence.subject_name())
    }

    /// What its subject is.
    pub(super) fn subject(&self) -> Option<String> {
        let subject = self.occurrence.subject.as_ref()?;
        let mut text = format!("`{}`", self.subject_name());
        if self.names.in_source(&subject.name).is_some() {
            text += &format!(" (`{}` in the trace)", subject.name);
        }
        text += ", ";
        text += match subject.what.as_str() {
            "atomic" => "an atomic",
            "memory" => "plain memory",
            other => other,
        };
        if let Some(place) = &subject.first_use {
            text += &format!(", first used at {place}");
        }
        Some(text)
    }

    /// The events that make it up.
    pub(super) fn parts(&self) -> &'a [Part] {
        &self.occurrence.parts
    }

    /// The parts that come first: where the threads stand.
    pub(super) fn primary_parts(&self) -> impl Iterator<Item = &'a Part> {
        self.occurrence.primary_parts()
    }

    /// What a part does: `thread main writes 1`, `thread main waits for …`.
    pub(super) fn does(&self, part: &Part) -> String {
        let standing = part.standing(&self.naming());
        let does = standing.unwrap_or_else(|| verb(part, &self.names));
        format!("thread `{}` {does}", part.thread)
    }

    /// What objects are called.
    fn naming(&self) -> impl Naming {
        |object: &str| self.names.best(object).to_owned()
    }

    /// What the threads hold and wait for, in a sentence, and what to call that: `circle` or
    /// `waits`.
    pub(super) fn who_waits(&self) -> Option<(&'static str, String)> {
        let sentence = self.occurrence.who_waits(&self.naming())?;
        let is_circle = self.occurrence.waiting().1;
        Some((if is_circle { "circle" } else { "waits" }, sentence))
    }

    /// The locks that a part holds and others wait for.
    pub(super) fn wanted_locks<'p>(&self, part: &'p Part) -> Vec<&'p Lock> {
        let waits_for = |other: &Part, lock: &Lock| {
            other.object.as_deref() == Some(&lock.name)
                && other.waits.as_ref().is_some_and(|waits| waits.by.contains(&part.thread))
        };
        let is_wanted = |lock: &&Lock| self.parts().iter().any(|it| waits_for(it, lock));
        part.locks.iter().filter(is_wanted).collect()
    }

    /// The locks that a part holds: `holding self.lock`.
    pub(super) fn holding(&self, part: &Part) -> Option<String> {
        // Of threads that wait, another sentence says what they hold.
        let locks = if part.waits.is_none() { part.locks.as_slice() } else { &[] };
        let words: Vec<String> = locks.iter().map(|lock| self.lock(lock)).collect();
        (!words.is_empty()).then(|| format!("holding {}", list(&words)))
    }

    /// What a part does, and the locks that it holds.
    pub(super) fn part(&self, part: &Part) -> String {
        match self.holding(part) {
            Some(holding) => format!("{}, {holding}", self.does(part)),
            None => self.does(part),
        }
    }

    /// What each part does, the locks that it holds, and where.
    pub(super) fn parts_with_places(&self) -> Vec<String> {
        // What a thread waits for may have a place of its own, at which others stand.
        let line = |part: &Part| match &part.waits {
            Some(_) => format!("at {} {}", place_or_event(part), self.part(part)),
            None => format!("{} at {}", self.part(part), place_or_event(part)),
        };
        self.parts().iter().map(line).collect()
    }

    /// A lock, in backticks.
    pub(super) fn lock(&self, lock: &Lock) -> String {
        let shared = if lock.shared { " (shared)" } else { "" };
        format!("`{}`{shared}", self.names.best(&lock.name))
    }

    /// Where locks were taken that are held, one sentence a thread.
    pub(super) fn locks(&self) -> Vec<String> {
        let parts = self.primary_parts().filter(|part| part.waits.is_none());
        let sentences = parts.filter_map(|part| {
            let taken: Vec<String> = part
                .locks
                .iter()
                .filter_map(|lock| {
                    Some(format!("{}, taken at {}", self.lock(lock), lock.taken.as_ref()?))
                })
                .collect();
            (!taken.is_empty()).then(|| format!("`{}` holds {}", part.thread, list(&taken)))
        });
        sentences.collect()
    }

    /// Why it is one.
    pub(super) fn why(&self) -> String {
        self.occurrence.reason.words(|name| self.names.best(name))
    }

    /// Other accesses of the variable that the observed run does not order.
    pub(super) fn also(&self) -> Vec<String> {
        self.occurrence.also.iter().map(|also| unordered(also)).collect()
    }

    /// What is known for sure, one sentence first.
    pub(super) fn status(&self) -> Vec<String> {
        let said = |text: &str| vec![text.to_owned()];
        let Some(replay) = &self.occurrence.replay else {
            return match (self.finding.kind.basis(), &self.occurrence.witness) {
                (_, Some(_)) => said("predicted, with a checked schedule; not replayed yet"),
                (Basis::Suspicion, None) => {
                    let who: Vec<String> =
                        self.occurrence.detectors.iter().map(|name| format!("`{name}`")).collect();
                    vec![format!("suspected by {} only, which may be wrong", list(&who))]
                }
                (Basis::Happened, None) => {
                    said("it happened in the recorded run; there is nothing to replay")
                }
                (Basis::Schedule | Basis::ObservedRun, None) => said(
                    "observed in this run, by the memory model; there is no schedule to replay",
                ),
            };
        };
        let head = match replay.status {
            ReplayStatus::Confirmed => "confirmed by replay",
            ReplayStatus::ConfirmedHarmful => "confirmed by replay, and it does harm",
            ReplayStatus::Diverged => "predicted, but its replay did something else",
            ReplayStatus::Failed => "predicted, but it could not be replayed",
        };
        let mut lines = said(head);
        if let Some(DirectedRun { control, runs, .. }) = &self.occurrence.directed {
            let runs = count(*runs, "run");
            lines = said("it happened in a run under control");
            lines.push(format!("within {runs}, by the seed `{control}`"));
        }
        lines.extend(replay::lines(replay, &self.names));
        lines
    }

    /// How to run the program under the schedule, or by the seed.
    pub(super) fn replay(&self) -> Option<String> {
        let Occurrence { witness, directed, .. } = self.occurrence;
        let can_be_run = witness.is_some() || directed.is_some();
        can_be_run.then(|| format!("cargo racelog replay {}", self.finding.number))
    }

    /// What to do.
    pub(super) fn advice(&self) -> String {
        advice::advice(self)
    }

    /// The tests in which it occurred, each once; traces of programs that are no tests by their
    /// names.
    pub(super) fn tests(&self) -> Vec<&'a str> {
        let mut tests: Vec<&str> = Vec::new();
        for occurrence in &self.finding.occurrences {
            let test =
                self.project.trace(&occurrence.trace).and_then(|trace| trace.test.as_deref());
            let test = test.unwrap_or(&occurrence.trace);
            if !tests.contains(&test) {
                tests.push(test);
            }
        }
        tests
    }

    /// Where it occurred, the first `shown` of all.
    pub(super) fn tests_in_words(&self, shown: usize) -> String {
        let tests = self.tests();
        let mut words: Vec<String> =
            tests.iter().take(shown).map(|test| format!("`{test}`")).collect();
        if tests.len() > shown {
            words.push(count((tests.len() - shown) as u64, "more test"));
        }
        list(&words)
    }

    /// The places of its parts, in words.
    pub(super) fn places(&self) -> Vec<String> {
        self.primary_parts().map(place_or_event).collect()
    }

    /// The headline, and where.
    pub(super) fn headline_with_places(&self) -> String {
        let mut places = self.places();
        let parts = places.len();
        let headline = self.headline();
        places.dedup();
        match (places.as_slice(), parts) {
            ([one], 2) => format!("{headline} at {one}, by two threads"),
            _ => format!("{headline} at {}", list(&places)),
        }
    }
}

/// Operations that nothing orders, in words.
fn unordered(operations: &[SourceOp]) -> String {
    let operation = |source: &SourceOp| match &source.place {
        Some(place) => format!("the {} at {place}", source.operation),
        None => format!("a {}", source.operation),
    };
    let operations: Vec<String> = operations.iter().map(operation).collect();
    format!("{} are not ordered either", list(&operations))
}

/// Where a part stands, or what there is instead.
pub(super) fn place_or_event(part: &Part) -> String {
    let place = part.source.place.as_ref();
    place.map_or_else(|| format!("event {}", part.event), Place::to_string)
}

/// What a part does. What is done to an object of the part's own names it.
fn verb(part: &Part, names: &Names) -> String {
    let operation = part.source.operation.as_str();
    let value = match (part.value.as_str(), &part.new_value) {
        ("_", None) => String::new(),
        (old, Some(new)) if operation != "cas_fail" => format!(" from {old} to {new}"),
        (value, _) => format!(" {value}"),
    };
    let verb = match operation {
        "read" => "reads",
        "write" => "writes",
        "load" => "loads",
        "free" => "frees",
        "store" => "stores",
        "rmw" => "updates",
        "cas" => "exchanges",
        "cas_fail" => "fails to exchange, finding",
        "send" => "sends to",
        // These are done to nothing.
        "panic" => return "panics".to_owned(),
        signal if signal.starts_with("signal ") => return format!("was there: {signal}"),
        other => other,
    };
    let it = match &part.object {
        Some(object) => format!(" `{}`", names.best(object)),
        None if value.is_empty() => " it".to_owned(),
        None => String::new(),
    };
    format!("{verb}{it}{value}")
}
