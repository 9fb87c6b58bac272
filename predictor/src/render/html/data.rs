//! What the page is told besides the timelines.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::super::names::Names;
use super::super::replay;
use super::super::story::Story;
use super::super::timeline::ArrowKind;
use super::super::unseen;
use crate::finding::{Finding, Occurrence, Part, Place};
use crate::project::{Project, Sources};

/// How many lines around a racing access are shown.
const AROUND: u32 = 4;

/// The longest line that is shown whole; longer ones are not written by people.
const LONGEST: usize = 400;

/// The block that is read at once.
#[derive(Serialize)]
pub(super) struct Report {
    /// As its JSON has it, with its tables.
    pub(super) project: Value,
    /// In the order of the project's.
    pub(super) findings: Vec<ShownFinding>,
    /// What to do about findings; many have the same.
    pub(super) advice: Vec<String>,
    /// What was not seen, in words.
    pub(super) gaps: Vec<String>,
    /// The kinds of arrows of all timelines.
    pub(super) arrows: [&'static str; ArrowKind::ALL.len()],
    /// Lines of source files, by their numbers.
    pub(super) files: BTreeMap<String, BTreeMap<u32, String>>,
}

/// What is shown of a finding besides what the project says.
#[derive(Serialize)]
pub(super) struct ShownFinding {
    title: String,
    /// What the variable is called in the source, or else in the trace.
    name: String,
    /// Which of its occurrences is shown first.
    best: usize,
    /// Which of all advice is about it.
    advice: usize,
    /// Which timeline it is drawn on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeline: Option<usize>,
    /// The rows of its events there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rows: Option<Vec<u32>>,
    /// Whether there is a block with its witness.
    pub(super) witness: bool,
    /// Whether there is none, though there is a witness: there are too many.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) undrawn: bool,
    /// What came of its replay, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replay: Vec<String>,
    /// Why it is doubtful, and what to do to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    doubts: Vec<String>,
    /// What its threads hold and wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Waiting>,
}

/// Threads that wait.
#[derive(Serialize)]
struct Waiting {
    /// In a sentence.
    text: String,
    /// Which of the parts they are, each before the one that it waits for.
    parts: Vec<usize>,
    /// Whether the last one waits for the first.
    circle: bool,
    /// What the objects of the parts are called in the source.
    names: BTreeMap<String, String>,
}

impl Waiting {
    fn of(occurrence: &Occurrence, names: &Names) -> Option<Self> {
        let best = |object: &str| names.best(object).to_owned();
        let text = occurrence.who_waits(&best)?;
        let (ordered, circle) = occurrence.waiting();
        let place = |part: &&Part| occurrence.parts.iter().position(|it| std::ptr::eq(it, *part));
        let parts: Vec<usize> = ordered.iter().filter_map(place).collect();
        let all = &occurrence.parts;
        let held = all.iter().flat_map(|part| &part.locks).map(|lock| lock.name.as_str());
        let objects = all.iter().filter_map(|part| part.object.as_deref()).chain(held);
        let names = objects.map(|object| (object.to_owned(), best(object))).collect();
        Some(Self { text, parts, circle, names })
    }
}

impl ShownFinding {
    pub(super) fn new(
        project: &Project,
        finding: &Finding,
        sources: &impl Sources,
        advice: &mut Advice,
    ) -> Self {
        let story = Story::new(project, finding, sources);
        let advice = advice.number(story.advice());
        let (best, names) = (story.occurrence, story.names);
        let name = names.best(best.subject_name()).to_owned();
        let replay = best.replay.as_ref().map_or_else(Vec::new, |it| replay::lines(it, &names));
        let waiting = Waiting::of(best, &names);
        let best = finding.occurrences.iter().position(|occurrence| std::ptr::eq(occurrence, best));
        let title = finding.kind.title().to_owned();
        let tried = finding.best().replay.as_ref();
        let cause = tried.and_then(|replay| replay.cause.as_ref());
        let doubts = finding.doubts.iter().map(|doubt| unseen::doubt(doubt, cause)).collect();
        let best = best.unwrap_or(0);
        let (timeline, rows, witness, undrawn) = (None, None, false, false);
        Self {
            title,
            name,
            best,
            advice,
            timeline,
            rows,
            witness,
            undrawn,
            replay,
            doubts,
            waiting,
        }
    }
}

/// All that is advised, each once.
#[derive(Default)]
pub(super) struct Advice {
    numbers: HashMap<String, usize>,
}

impl Advice {
    fn number(&mut self, text: String) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(text).or_insert(next)
    }

    /// In the order of their numbers.
    pub(super) fn into_list(self) -> Vec<String> {
        let mut numbered: Vec<(String, usize)> = self.numbers.into_iter().collect();
        numbered.sort_by_key(|(_, number)| *number);
        numbered.into_iter().map(|(text, _)| text).collect()
    }
}

/// The lines of source that are to be shown.
#[derive(Default)]
pub(super) struct Lines {
    wanted: BTreeMap<String, BTreeSet<u32>>,
}

impl Lines {
    /// A line, and so many around it.
    pub(super) fn want(&mut self, place: &Place, around: u32) {
        if place.line > 0 {
            let lines =
                place.line.saturating_sub(around).max(1)..=place.line.saturating_add(around);
            self.wanted.entry(place.file.clone()).or_default().extend(lines);
        }
    }

    /// All lines that belong to a finding.
    pub(super) fn want_finding(&mut self, finding: &Finding) {
        finding.places().for_each(|place| self.want(place, AROUND));
        let steps = finding.best().steps.iter().filter_map(|step| step.action.place.as_ref());
        steps.for_each(|place| self.want(place, 0));
    }

    /// What stands there.
    pub(super) fn read(self, sources: &impl Sources) -> BTreeMap<String, BTreeMap<u32, String>> {
        let files = self.wanted.into_iter().filter_map(|(file, wanted)| {
            let text = sources.read(&file)?;
            let lines = (1..).zip(text.lines()).filter(|(number, _)| wanted.contains(number));
            let short = |line: &str| match line.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{}…", &line[..end]),
                None => line.to_owned(),
            };
            Some((file, lines.map(|(number, line)| (number, short(line))).collect()))
        });
        files.collect()
    }
}

/// Passes JSON on so that a browser finds no tag in it: it has `<` only in strings, where it may as
/// well be written as its number.
pub(super) struct Block<W>(pub(super) W);

impl<W: Write> Write for Block<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (at, part) in bytes.split(|byte| *byte == b'<').enumerate() {
            if at > 0 {
                self.0.write_all(b"\\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
