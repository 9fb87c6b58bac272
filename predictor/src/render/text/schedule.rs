//! A witness as columns: one for each thread of the finding, one for all others, and time goes
//! down.

use annotate_snippets::renderer::{AnsiColor, Effects, Style};

use super::TextOptions;
use super::layout::{cut_middle, harmless, padded, width};
use crate::finding::{Place, Step};
use crate::render::names::is_opaque_transfer;
use crate::render::story::Story;

/// Stands before the racing accesses.
const MARK: &str = ">";

/// Between two columns.
const BAR: &str = " | ";

/// The narrowest that a column may be.
const NARROWEST: usize = 8;

/// A line of the picture.
enum Line<'a> {
    /// So many events are left out.
    LeftOut(u64),
    /// A step, the column it stands in, and whether it is one of the racing accesses.
    Step { step: &'a Step, column: usize, races: bool },
}

/// How much of places is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Places {
    /// The file's name and the line.
    Files,
    /// The line.
    Lines,
    /// Nothing.
    None,
}

/// Draws a finding's witness; nothing if it has none.
pub(super) fn schedule(story: &Story<'_>, options: &TextOptions) -> Vec<String> {
    let steps = &story.occurrence.steps;
    let Some(number) = steps.iter().map(|step| step.action.event.to_string().len()).max() else {
        return Vec::new();
    };
    // The thread that does something first stands on the left.
    let threads = story.occurrence.threads();
    let lines = lines(story, &threads);
    let is_other = |line: &Line<'_>| match line {
        Line::Step { column, .. } => *column == threads.len(),
        Line::LeftOut(_) => false,
    };
    let all = threads.len() + usize::from(lines.iter().any(is_other));
    let (columns, places) = widths(story, &lines, all, options.width, number);
    let own = threads.len();
    let picture = Picture { story, number, own, columns, places, colour: options.colour };
    let mut text = vec![picture.heading(&threads)];
    text.extend(lines.iter().map(|line| picture.line(line)));
    text
}

fn lines<'a>(story: &Story<'a>, threads: &[&str]) -> Vec<Line<'a>> {
    let steps = &story.occurrence.steps;
    let mut lines = Vec::new();
    let mut left_out = 0;
    for step in steps {
        left_out += step.skipped;
        let races = story.occurrence.has(step.action.event);
        if !races && is_of_the_recorder(story, step) {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            lines.push(Line::LeftOut(std::mem::take(&mut left_out)));
        }
        let column = threads.iter().position(|thread| *thread == step.action.thread);
        let column = column.unwrap_or(threads.len());
        lines.push(Line::Step { step, column, races });
    }
    lines
}

/// Whether a step is what the recorder adds for a closure that goes to its thread: nothing in the
/// source is called so. Where no source is known, nothing is.
fn is_of_the_recorder(story: &Story<'_>, step: &Step) -> bool {
    let is_known = |object: &str| story.names.in_source(object).is_some();
    let does = &step.action.does;
    let is_transfer = || is_opaque_transfer(does) && !does.object.as_deref().is_some_and(is_known);
    is_known(story.occurrence.subject_name()) && (does.operation == "begin" || is_transfer())
}

/// As wide as they have to be, if that fits, or else as wide as they can; and what is left of
/// places for that.
fn widths(
    story: &Story<'_>,
    lines: &[Line<'_>],
    columns: usize,
    all: usize,
    number: usize,
) -> (Vec<usize>, Places) {
    let wanted = |places: Places| {
        let mut wanted = vec![NARROWEST; columns];
        let own = story.occurrence.threads().len();
        for line in lines {
            if let Line::Step { step, column, .. } = line {
                let (what, place) = cell(story, step, *column == own, places);
                let gap = if place.is_empty() { 0 } else { 2 };
                wanted[*column] = wanted[*column].max(width(&what) + gap + width(&place));
            }
        }
        wanted
    };
    let gaps = BAR.len() * columns.saturating_sub(1);
    let room = all.saturating_sub(margin(number) + gaps);
    for places in [Places::Files, Places::Lines] {
        let columns = wanted(places);
        if columns.iter().sum::<usize>() <= room {
            return (columns, places);
        }
    }
    let mut columns = wanted(Places::None);
    // What one column leaves, the others get.
    let room = room.max(columns.len());
    while columns.iter().sum::<usize>() > room {
        let widest = columns.iter_mut().max().expect("there is one");
        *widest -= 1;
    }
    (columns, Places::None)
}

/// What stands before the columns: a mark, the event's number, and blanks.
const fn margin(number: usize) -> usize {
    1 + MARK.len() + 1 + number + 2
}

/// What a step says: what it does, and where.
fn cell(story: &Story<'_>, step: &Step, is_other: bool, places: Places) -> (String, String) {
    let what = harmless(&story.names.operation(&step.action.does));
    let what = match is_other {
        true => format!("{}: {what}", harmless(&step.action.thread)),
        false => what,
    };
    let place = match (&step.action.place, places) {
        (None, _) | (_, Places::None) => String::new(),
        (Some(place), Places::Lines) if place.line > 0 => format!(":{}", place.line),
        (Some(place), _) => without_folders(place),
    };
    (what, place)
}

/// The name of the file, without its folders, and the line.
fn without_folders(place: &Place) -> String {
    let file = place.file.rsplit(['/', '\\']).next().unwrap_or_default();
    let file = harmless(file);
    if place.line > 0 { format!("{file}:{}", place.line) } else { file }
}

struct Picture<'a> {
    story: &'a Story<'a>,
    number: usize,
    /// How many columns are of threads of the finding.
    own: usize,
    columns: Vec<usize>,
    places: Places,
    colour: bool,
}

impl Picture<'_> {
    fn heading(&self, threads: &[&str]) -> String {
        let margin = " ".repeat(margin(self.number));
        let mut names: Vec<String> = threads.iter().map(|thread| format!("`{thread}`")).collect();
        names.push("others".to_owned());
        let names = names.iter().zip(&self.columns);
        let cells = names.map(|(name, columns)| {
            let name = padded(&harmless(name), *columns);
            self.styled(&name, Style::new().effects(Effects::BOLD))
        });
        let line = format!("{margin}{}", cells.collect::<Vec<_>>().join(&self.bar()));
        line.trim_end().to_owned()
    }

    fn line(&self, line: &Line<'_>) -> String {
        let (mark, number, column, text, races) = match line {
            Line::LeftOut(number) => {
                let margin = " ".repeat(margin(self.number));
                return format!("{margin}… {} more", crate::render::thousands(*number));
            }
            Line::Step { step, column, races } => {
                let mark = if *races { MARK } else { " " };
                (mark, step.action.event, *column, self.step(step, *column), *races)
            }
        };
        let cells = self.columns.iter().enumerate().map(|(at, columns)| match at == column {
            true if races => self.styled(&padded(&text, *columns), red()),
            true => padded(&text, *columns),
            false => " ".repeat(*columns),
        });
        let cells = cells.collect::<Vec<_>>().join(&self.bar());
        let mark = self.styled(mark, red());
        let line = format!(" {mark} {number:>digits$}  {cells}", digits = self.number);
        line.trim_end().to_owned()
    }

    /// What fits of a step: the place goes first.
    fn step(&self, step: &Step, column: usize) -> String {
        let columns = self.columns[column];
        let (what, place) = cell(self.story, step, column == self.own, self.places);
        if !place.is_empty() && width(&what) + 2 + width(&place) <= columns {
            let gap = columns - width(&what) - width(&place);
            return format!("{what}{}{place}", " ".repeat(gap));
        }
        cut_middle(&what, columns)
    }

    fn bar(&self) -> String {
        self.styled(BAR, AnsiColor::BrightBlue.on_default())
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.colour && !text.trim().is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

fn red() -> Style {
    AnsiColor::BrightRed.on_default().effects(Effects::BOLD)
}
