//! A witness as columns: one for each racing thread, one for all others, and time goes down.

use annotate_snippets::renderer::{AnsiColor, Effects, Style};

use super::TextOptions;
use super::layout::{cut_middle, harmless, padded, width};
use crate::project::{Place, Step};
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
    let Some(number) = steps.iter().map(|step| step.event.to_string().len()).max() else {
        return Vec::new();
    };
    let racing = [0, 1].map(|at| steps[steps.len().saturating_sub(2 - at)..][0].thread.as_str());
    // The thread that does something first stands on the left.
    let left = steps.iter().find(|step| racing.contains(&step.thread.as_str()));
    let swap = left.is_some_and(|step| step.thread == racing[1]);
    let racing = if swap { [racing[1], racing[0]] } else { racing };
    let lines = lines(story, racing);
    let others = lines.iter().any(|line| matches!(line, Line::Step { column: 2, .. }));
    let (columns, places) = widths(story, &lines, others, options.width, number);
    let picture = Picture { story, number, columns, places, colour: options.colour };
    let mut text = vec![picture.heading(racing)];
    text.extend(lines.iter().map(|line| picture.line(line)));
    text
}

fn lines<'a>(story: &Story<'a>, racing: [&str; 2]) -> Vec<Line<'a>> {
    let steps = &story.occurrence.steps;
    let mut lines = Vec::new();
    let mut left_out = 0;
    for (at, step) in steps.iter().enumerate() {
        left_out += step.skipped;
        let races = at + 2 >= steps.len();
        if !races && is_of_the_recorder(story, step) {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            lines.push(Line::LeftOut(std::mem::take(&mut left_out)));
        }
        let column = racing.iter().position(|thread| *thread == step.thread).unwrap_or(2);
        lines.push(Line::Step { step, column, races });
    }
    lines
}

/// Whether a step is what the recorder adds for a closure that goes to its thread: nothing in the source is
/// called so. Where no source is known, nothing is.
fn is_of_the_recorder(story: &Story<'_>, step: &Step) -> bool {
    let is_known = |object: &str| story.names.in_source(object).is_some();
    let words: Vec<&str> = step.what.split(' ').collect();
    let opaque = |object: &str, value: &str| value == "_" && !is_known(object);
    is_known(&story.occurrence.variable.name)
        && match words.as_slice() {
            ["begin"] => true,
            ["load" | "store", object, value, ..] => opaque(object, value),
            _ => false,
        }
}

/// As wide as they have to be, if that fits, or else as wide as they can; and what is left of places
/// for that.
fn widths(
    story: &Story<'_>,
    lines: &[Line<'_>],
    others: bool,
    all: usize,
    number: usize,
) -> (Vec<usize>, Places) {
    let wanted = |places: Places| {
        let mut wanted = vec![NARROWEST; if others { 3 } else { 2 }];
        for line in lines {
            if let Line::Step { step, column, .. } = line {
                let (what, place) = cell(story, step, *column, places);
                let gap = if place.is_empty() { 0 } else { 2 };
                wanted[*column] = wanted[*column].max(width(&what) + gap + width(&place));
            }
        }
        wanted
    };
    let gaps = BAR.len() * if others { 2 } else { 1 };
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
        let widest = columns.iter_mut().max().expect("there are two or three");
        *widest -= 1;
    }
    (columns, Places::None)
}

/// What stands before the columns: a mark, the event's number, and blanks.
const fn margin(number: usize) -> usize {
    1 + MARK.len() + 1 + number + 2
}

/// What a step says: what it does, and where.
fn cell(story: &Story<'_>, step: &Step, column: usize, places: Places) -> (String, String) {
    let what = harmless(&story.names.operation(&step.what));
    let what = match column {
        2 => format!("{}: {what}", harmless(&step.thread)),
        _ => what,
    };
    let place = match (&step.place, places) {
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
    columns: Vec<usize>,
    places: Places,
    colour: bool,
}

impl Picture<'_> {
    fn heading(&self, racing: [&str; 2]) -> String {
        let margin = " ".repeat(margin(self.number));
        let names = [format!("`{}`", racing[0]), format!("`{}`", racing[1]), "others".to_owned()];
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
                (mark, step.event, *column, self.step(step, *column), *races)
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
        let (what, place) = cell(self.story, step, column, self.places);
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
