//! The head of a finding, as rustc shows errors: what it is, the lines of the source with the two
//! accesses and where their threads come from, and notes.

use std::sync::Arc;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};

use super::layout::{cut_middle, harmless, width, wrap};
use super::{Detail, TextOptions};
use crate::finding::{Place, Role};
use crate::project::{Sources, expression};
use crate::render::story::{Story, place_or_event};

/// How many tests are named.
const TESTS: usize = 3;

/// Something to be shown in the source.
struct Mark {
    place: Place,
    label: String,
    /// Whether it is one of the racing accesses.
    races: bool,
}

/// Marks in one file, whose text is there.
struct Part {
    file: String,
    text: Arc<str>,
    /// Where the marks stand in the text.
    marks: Vec<(std::ops::Range<usize>, Mark)>,
}

/// How much the source is laden with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Load {
    /// Whole calls, and labels that say all.
    All,
    /// Only what is called.
    Callees,
    /// Labels without locks; these are among the notes.
    NoLocks,
    /// Nothing but the accesses.
    NoSpawns,
    /// No labels.
    NoLabels,
}

/// The head of a finding.
///
/// annotate-snippets cuts lines of the source to the width, but not labels. So if something is too
/// wide, it is tried with less.
pub(super) fn head(story: &Story<'_>, sources: &impl Sources, options: &TextOptions) -> String {
    let loads = [Load::All, Load::Callees, Load::NoLocks, Load::NoSpawns];
    let fits = |text: &String| text.lines().all(|line| width(line) <= options.width);
    // Colours have no width; what fits without them fits.
    let plain = TextOptions { colour: false, ..options.clone() };
    let load = loads.into_iter().find(|load| fits(&render(story, sources, &plain, *load)));
    render(story, sources, options, load.unwrap_or(Load::NoLabels))
}

fn render(story: &Story<'_>, sources: &impl Sources, options: &TextOptions, load: Load) -> String {
    let (parts, lost) = parts(marks(story, load), sources, load);
    let level = if story.is_error() { Level::ERROR } else { Level::WARNING };
    let columns = options.width.saturating_sub("warning[RL000]: ".len());
    let title = wrap(&harmless(&story.headline()), columns).join("\n");
    let mut group = Group::with_title(level.primary_title(title).id(story.finding.kind.code()));
    for part in &parts {
        group = group.element(snippet(part, options.width, load));
    }
    let gutter = gutter(&parts);
    // Without its source, a place is all there is to show.
    for mark in lost.iter().filter(|mark| mark.races) {
        group = group.element(origin(&mark.place, options.width));
        group = group.element(note("note", &mark.label, options.width, gutter));
    }
    for (name, text) in notes(story, &lost, options, load) {
        group = group.element(note(name, &text, options.width, gutter));
    }
    let renderer = if options.colour { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(options.width).render(&[group])
}

/// Columns before the bar: the widest line number, and a blank.
fn gutter(parts: &[Part]) -> usize {
    let lines = parts.iter().flat_map(|part| part.marks.iter().map(|(_, mark)| mark.place.line));
    lines.max().unwrap_or(0).to_string().len() + 1
}

/// What is to be shown: the accesses first, then what started their threads.
fn marks(story: &Story<'_>, load: Load) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for part in story.primary_parts() {
        let label = if load < Load::NoLocks { story.part(part) } else { story.does(part) };
        let label = harmless(&label);
        // Several threads may stand at the same place.
        let same = |mark: &&mut Mark| Some(&mark.place) == part.source.place.as_ref();
        if let Some(mark) = marks.iter_mut().find(same) {
            mark.label = format!("{}; {label}", mark.label);
            continue;
        }
        match &part.source.place {
            Some(place) => marks.push(Mark { place: place.clone(), label, races: true }),
            None => {
                let file = format!("event {} of {}", part.event, story.occurrence.trace);
                let place = Place { file, line: 0, column: 0 };
                marks.push(Mark { place, label, races: true });
            }
        }
    }
    if load >= Load::NoSpawns {
        return marks;
    }
    for weak in story.occurrence.reason.too_weak() {
        if let Some(place) = &weak.place {
            let label = format!("`{}` is too weak to order the two", weak.ordering);
            marks.push(Mark { place: place.clone(), label, races: false });
        }
    }
    marks.extend(circumstances(story));
    marks.extend(spawns(story));
    marks
}

/// Where locks were taken that others wait for, and what else led there.
fn circumstances(story: &Story<'_>) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for part in story.parts() {
        let taken = story.wanted_locks(part).into_iter().filter_map(|lock| {
            let label = format!("thread `{}` takes {}", part.thread, story.lock(lock));
            Some((lock.taken.clone()?, label))
        });
        // Where a lock was taken is known of the thread that holds it.
        let is_told = part.role.is_primary() || part.role == Role::Taken;
        let own = part.source.place.clone().filter(|_| !is_told);
        let own = own.map(|place| (place, story.does(part)));
        for (place, label) in taken.chain(own) {
            let label = harmless(&label);
            match marks.iter_mut().find(|mark| mark.place == place) {
                Some(mark) => mark.label = format!("{}; {label}", mark.label),
                None => marks.push(Mark { place, label, races: false }),
            }
        }
    }
    marks
}

/// Where the threads were spawned.
fn spawns(story: &Story<'_>) -> Vec<Mark> {
    let mut spawned: Vec<(Place, Vec<String>)> = Vec::new();
    for part in story.primary_parts() {
        let Some(place) = &part.spawned else { continue };
        let thread = format!("`{}`", harmless(&part.thread));
        match spawned.iter_mut().find(|(known, _)| known == place) {
            Some((_, threads)) => threads.push(thread),
            None => spawned.push((place.clone(), vec![thread])),
        }
    }
    let marks = spawned.into_iter().map(|(place, threads)| {
        let label = match threads.as_slice() {
            [one] => format!("thread {one} is spawned here"),
            _ => format!("threads {} are spawned here", threads.join(" and ")),
        };
        Mark { place, label, races: false }
    });
    marks.collect()
}

/// The marks by file, and those whose source is not there.
fn parts(marks: Vec<Mark>, sources: &impl Sources, load: Load) -> (Vec<Part>, Vec<Mark>) {
    let (mut parts, mut lost): (Vec<Part>, Vec<Mark>) = (Vec::new(), Vec::new());
    for mark in marks {
        let text = sources.read(&mark.place.file);
        let Some((text, found)) = text.and_then(|text| {
            let found = expression::at(&text, &mark.place)?;
            Some((text, found))
        }) else {
            lost.push(mark);
            continue;
        };
        let whole = mark.races && load == Load::All;
        let span = if whole { found.span } else { found.callee };
        match parts.iter_mut().find(|part| part.file == mark.place.file) {
            Some(part) => part.marks.push((span, mark)),
            None => {
                let file = mark.place.file.clone();
                parts.push(Part { file, text, marks: vec![(span, mark)] });
            }
        }
    }
    (parts, lost)
}

/// The lines of a file from the first mark to the last.
fn snippet(part: &Part, columns: usize, load: Load) -> Snippet<'_, Annotation<'_>> {
    let first = part.marks.iter().map(|(span, _)| span.start).min().unwrap_or(0);
    let last = part.marks.iter().map(|(span, _)| span.end).max().unwrap_or(0);
    let start = part.text[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = part.text[last..].find('\n').map_or(part.text.len(), |at| last + at);
    let line = part.text[..start].matches('\n').count() + 1;
    let annotations = part.marks.iter().map(|(span, mark)| {
        let kind = if mark.races { AnnotationKind::Primary } else { AnnotationKind::Context };
        let span = span.start - start..span.end - start;
        let annotation = kind.span(span);
        if load == Load::NoLabels { annotation } else { annotation.label(mark.label.as_str()) }
    });
    Snippet::source(&part.text[start..end])
        .line_start(line)
        .path(cut_middle(&harmless(&part.file), columns.saturating_sub(20)))
        .annotations(annotations)
}

fn origin(place: &Place, columns: usize) -> Origin<'static> {
    let mut origin = Origin::path(cut_middle(&harmless(&place.file), columns.saturating_sub(16)));
    if place.line > 0 {
        origin = origin.line(place.line as usize);
        if place.column > 0 {
            origin = origin.char_column(place.column as usize);
        }
    }
    origin
}

/// A note that fits: annotate-snippets keeps lines together that belong together, but breaks none.
fn note(name: &'static str, text: &str, columns: usize, gutter: usize) -> Element<'static> {
    let indent = gutter + 2 + width(name) + 2;
    let lines: Vec<String> =
        text.lines().flat_map(|line| wrap(line, columns.saturating_sub(indent))).collect();
    let level = if name == "help" { Level::HELP } else { Level::NOTE };
    Element::from(level.with_name(name).message(lines.join("\n")))
}

fn notes(
    story: &Story<'_>,
    lost: &[Mark],
    options: &TextOptions,
    load: Load,
) -> Vec<(&'static str, String)> {
    let mut notes: Vec<(&str, String)> = Vec::new();
    notes.extend(story.subject().map(|subject| ("what", subject)));
    // What threads wait for may have a place of its own, at which others stand.
    let waits = story.parts().iter().any(|part| part.waits.is_some());
    let line = |label: &str, place: &str| match waits {
        true => ("note", format!("at {place} {label}")),
        false => ("note", format!("{label} at {place}")),
    };
    if load == Load::NoLabels {
        let parts = story.primary_parts();
        notes.extend(parts.map(|part| line(&story.does(part), &place_or_event(part))));
    }
    let mut unseen = Vec::new();
    if load >= Load::NoSpawns {
        unseen.extend(circumstances(story));
        unseen.extend(spawns(story));
    }
    for mark in lost.iter().filter(|mark| !mark.races).chain(&unseen) {
        notes.push(line(mark.label.trim_end_matches(" here"), &mark.place.to_string()));
    }
    notes.extend(story.who_waits());
    notes.extend(story.locks().into_iter().map(|text| ("lock", text)));
    notes.push(("why", story.why()));
    notes.extend(story.also().into_iter().map(|also| ("also", also)));
    let tests = match options.detail {
        Detail::Verbose => story.tests_in_words(usize::MAX),
        _ => story.tests_in_words(TESTS),
    };
    notes.push(("seen in", tests));
    notes.push(("status", story.status().join("\n")));
    notes.extend(story.doubts().into_iter().map(|doubt| ("doubt", doubt)));
    notes.extend(story.replay().map(|command| ("replay", command)));
    notes.push(("help", story.advice()));
    let harmless_lines = |text: &str| text.lines().map(harmless).collect::<Vec<_>>().join("\n");
    notes.into_iter().map(|(name, text)| (name, harmless_lines(&text))).collect()
}
