//! A finding in words, which all formats share.

use super::names::Names;
use super::{advice, count, list, replay, unseen};
use crate::project::{
    Access, Code, Finding, Lock, Occurrence, Place, Project, ReplayStatus, Side, Sources,
};

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
        let names = Names::of(finding, occurrence, sources);
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
        let is_ordering = !self.occurrence.reason.too_weak.is_empty();
        let title = match self.finding.code {
            // The code is also that of races of this very run whose order only values keep.
            Code::Unordered if !is_ordering => Code::DataRace.title(),
            code => code.title(),
        };
        format!("{title} on `{}`", self.variable_name())
    }

    /// What the variable is called.
    pub(super) fn variable_name(&self) -> &str {
        self.names.best(&self.occurrence.variable.name)
    }

    /// What the variable is.
    pub(super) fn variable(&self) -> String {
        let variable = &self.occurrence.variable;
        let mut text = format!("`{}`", self.variable_name());
        if self.names.in_source(&variable.name).is_some() {
            text += &format!(" (`{}` in the trace)", variable.name);
        }
        text += ", ";
        text += match variable.what.as_str() {
            "atomic" => "an atomic",
            "memory" => "plain memory",
            other => other,
        };
        if let Some(place) = &variable.first_use {
            text += &format!(", first used at {place}");
        }
        text
    }

    /// The two accesses: as the source has them, and as the trace has them.
    pub(super) fn sides(&self) -> [(&'a Side, &'a Access); 2] {
        let ([a, b], [c, d]) = (&self.finding.sides, &self.occurrence.accesses);
        [(a, c), (b, d)]
    }

    /// What an access does: `thread main writes 1`.
    pub(super) fn does(&self, side: usize) -> String {
        let (side, access) = self.sides()[side];
        format!("thread `{}` {}", access.thread, verb(side, access))
    }

    /// The locks that an access holds: `holding self.lock`.
    pub(super) fn holding(&self, side: usize) -> Option<String> {
        let locks = &self.occurrence.accesses[side].locks;
        let words: Vec<String> = locks.iter().map(|lock| self.lock(lock)).collect();
        (!words.is_empty()).then(|| format!("holding {}", list(&words)))
    }

    /// What an access does, and the locks that it holds.
    pub(super) fn access(&self, side: usize) -> String {
        match self.holding(side) {
            Some(holding) => format!("{}, {holding}", self.does(side)),
            None => self.does(side),
        }
    }

    /// A lock, in backticks.
    pub(super) fn lock(&self, lock: &Lock) -> String {
        let shared = if lock.shared { " (shared)" } else { "" };
        format!("`{}`{shared}", self.names.best(&lock.name))
    }

    /// Where locks were taken that are held, one sentence a thread.
    pub(super) fn locks(&self) -> Vec<String> {
        let sentences = self.occurrence.accesses.iter().filter_map(|access| {
            let taken: Vec<String> = access
                .locks
                .iter()
                .filter_map(|lock| {
                    Some(format!("{}, taken at {}", self.lock(lock), lock.taken.as_ref()?))
                })
                .collect();
            (!taken.is_empty()).then(|| format!("`{}` holds {}", access.thread, list(&taken)))
        });
        sentences.collect()
    }

    /// Why it is a race.
    pub(super) fn why(&self) -> String {
        self.names.text(&self.occurrence.reason.text)
    }

    /// Other accesses of the variable that the observed run does not order.
    pub(super) fn also(&self) -> Vec<String> {
        self.occurrence.also.iter().map(unordered).collect()
    }

    /// What is known for sure, one sentence first.
    pub(super) fn status(&self) -> Vec<String> {
        let said = |text: &str| vec![text.to_owned()];
        let Some(replay) = &self.occurrence.replay else {
            return match (self.finding.code, &self.occurrence.witness) {
                (_, Some(_)) => said("predicted, with a checked schedule; not replayed yet"),
                (Code::Suspected, None) => {
                    let who: Vec<String> =
                        self.occurrence.detectors.iter().map(|name| format!("`{name}`")).collect();
                    vec![format!("suspected by {} only, which may be wrong", list(&who))]
                }
                (_, None) => said(
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
        lines.extend(replay::lines(replay, &self.names));
        lines
    }

    /// How to run the program under the schedule.
    pub(super) fn replay(&self) -> Option<String> {
        let witness = self.occurrence.witness.as_ref();
        witness.map(|_| format!("cargo racelog replay {}", self.finding.number))
    }

    /// What to do.
    pub(super) fn advice(&self) -> String {
        advice::advice(self)
    }

    /// The tests in which it occurred, each once; traces of programs that are no tests by their names.
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

    /// The places of both accesses, in words.
    pub(super) fn places(&self) -> [String; 2] {
        self.sides().map(|(side, access)| place_or_event(side.place.as_ref(), access.event))
    }

    /// The headline, and where.
    pub(super) fn headline_with_places(&self) -> String {
        let [first, second] = self.places();
        let headline = self.headline();
        if first == second {
            format!("{headline} at {first}, by two threads")
        } else {
            format!("{headline} at {first} and {second}")
        }
    }
}

/// Two accesses that nothing orders, in words.
fn unordered([one, other]: &[Side; 2]) -> String {
    let access = |side: &Side| match &side.place {
        Some(place) => format!("the {} at {place}", side.kind),
        None => format!("a {}", side.kind),
    };
    format!("{} and {} are not ordered either", access(one), access(other))
}

/// A place, or what there is instead.
fn place_or_event(place: Option<&Place>, event: u64) -> String {
    place.map_or_else(|| format!("event {event}"), ToString::to_string)
}

fn verb(side: &Side, access: &Access) -> String {
    let value = match (access.value.as_str(), &access.new_value) {
        ("_", None) => String::new(),
        (old, Some(new)) if side.kind != "cas_fail" => format!(" from {old} to {new}"),
        (value, _) => format!(" {value}"),
    };
    let verb = match side.kind.as_str() {
        "read" => "reads",
        "write" => "writes",
        "load" => "loads",
        "free" => "frees",
        "store" => "stores",
        "rmw" => "updates",
        "cas" => "exchanges",
        "cas_fail" => "fails to exchange, finding",
        other => other,
    };
    let it = if value.is_empty() { " it" } else { "" };
    format!("{verb}{it}{value}")
}
