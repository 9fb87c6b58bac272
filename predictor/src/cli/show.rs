//! `predictor show`

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::RangeInclusive;

use racelog::trace::{Dictionary, Event, Item, Object};

use super::args::Show;
use super::input::Input;
use super::{Failure, Outcome, terminal};
use crate::trace::format::text::{EventPrinter, SaidPrinter};

pub(super) fn run(args: &Show) -> Result<Outcome, Failure> {
    let mut input = Input::of_args(&args.input)?;
    let mut out = terminal::stdout(terminal::Kind::Text);
    let mut filter = Filter::new(args);
    let mut printer = EventPrinter::new();
    let (mut line, mut values) = (Vec::new(), SaidPrinter::new());
    let mut number = 0;
    while let Some(item) = input.next_item() {
        let dictionary = input.source().dictionary();
        line.clear();
        match &item {
            Item::Init { var, value } => {
                if filter.shows_init(dictionary, &mut printer, Object::Var(*var)) {
                    printer.init(dictionary, *var, *value, &mut line);
                    write_line(&mut out, None, &line, "")?;
                }
            }
            Item::Request(_) => {}
            Item::Said { thread, said } => values.say(*thread, *said),
            Item::Event(event) => {
                number += 1;
                let said = values.event(dictionary, event);
                if filter.shows(dictionary, &mut printer, number, event) {
                    printer.event_with(dictionary, event, &said, &mut line);
                    let note = if event.recorded { "" } else { "  # unrecorded code" };
                    write_line(&mut out, Some(number), &line, note)?;
                }
                if filter.range.as_ref().is_some_and(|range| number > *range.end())
                    && !filter.misses_names()
                {
                    break;
                }
            }
        }
    }
    out.flush()?;
    if let Some(around) = args.around.filter(|around| *around > number && !input.is_damaged()) {
        let problem = format!("event {around}: the trace has {number} events");
        return Err(Failure::of(input.name(), problem));
    }
    if let Some(problem) = filter.problem() {
        return Err(Failure::of(input.name(), problem));
    }
    Ok(if input.is_damaged() { Outcome::Incomplete } else { Outcome::NothingFound })
}

fn write_line(
    out: &mut impl Write,
    number: Option<u64>,
    line: &[u8],
    note: &str,
) -> io::Result<()> {
    match number {
        Some(number) => write!(out, "{number:>8}  ")?,
        None => write!(out, "{:>8}  ", "")?,
    }
    out.write_all(line)?;
    writeln!(out, "{note}")
}

/// Which items to show.
struct Filter<'a> {
    threads: Wanted<'a>,
    objects: Wanted<'a>,
    range: Option<RangeInclusive<u64>>,
}

/// Names that were asked for, and those that there are; these are only gathered if some were.
struct Wanted<'a> {
    what: &'static str,
    names: &'a [String],
    there: BTreeSet<String>,
}

impl<'a> Wanted<'a> {
    const fn new(what: &'static str, names: &'a [String]) -> Self {
        Self { what, names, there: BTreeSet::new() }
    }

    /// Whether this name, which there is, was asked for.
    fn has(&mut self, name: &str) -> bool {
        if !self.there.contains(name) {
            self.there.insert(name.to_owned());
        }
        self.names.iter().any(|wanted| wanted == name)
    }

    fn missing(&self) -> Option<&String> {
        self.names.iter().find(|name| !self.there.contains(*name))
    }

    /// What to say of a name that nothing has.
    fn problem(&self) -> Option<String> {
        let name = self.missing()?;
        let mut near: Vec<&String> = self.there.iter().collect();
        near.sort_by_key(|there| strsim::damerau_levenshtein(there, name));
        let others = near.len().saturating_sub(NEAR);
        let names: Vec<String> = near.iter().take(NEAR).map(|name| format!("`{name}`")).collect();
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        Some(format!("no {} is called `{name}`: there are {}{more}", self.what, names.join(", ")))
    }
}

/// How many names are listed instead of one that there is not.
const NEAR: usize = 5;

impl<'a> Filter<'a> {
    fn new(args: &'a Show) -> Self {
        let range = args.around.map(|around| {
            around.saturating_sub(args.context)..=around.saturating_add(args.context)
        });
        let threads = Wanted::new("thread", &args.threads);
        let objects = Wanted::new("object", &args.objects);
        Self { threads, objects, range }
    }

    /// Whether names were asked for that have not come yet.
    fn misses_names(&self) -> bool {
        self.threads.missing().or(self.objects.missing()).is_some()
    }

    /// What is wrong with the names that were asked for, now that all have come.
    fn problem(&self) -> Option<String> {
        self.threads.problem().or_else(|| self.objects.problem())
    }

    fn shows_init(
        &mut self,
        dictionary: &Dictionary,
        printer: &mut EventPrinter,
        var: Object,
    ) -> bool {
        let fits =
            self.objects.names.is_empty() || is_among(&mut self.objects, dictionary, printer, var);
        fits && self.threads.names.is_empty() && self.range.is_none()
    }

    fn shows(
        &mut self,
        dictionary: &Dictionary,
        printer: &mut EventPrinter,
        number: u64,
        event: &Event,
    ) -> bool {
        // Names are gathered from all events, shown or not.
        let by_thread = self.threads.names.is_empty()
            || is_among(&mut self.threads, dictionary, printer, Object::Thread(event.thread));
        let mut by_object = self.objects.names.is_empty();
        if !by_object {
            let woken = event.op.woken().map(Object::Thread);
            let objects = event.op.touches().map(|touch| touch.object);
            for object in objects.chain(woken) {
                by_object |= is_among(&mut self.objects, dictionary, printer, object);
            }
        }
        by_thread && by_object && self.range.as_ref().is_none_or(|range| range.contains(&number))
    }
}

fn is_among(
    wanted: &mut Wanted<'_>,
    dictionary: &Dictionary,
    printer: &mut EventPrinter,
    object: Object,
) -> bool {
    wanted.has(printer.name(dictionary, object))
}
