//! `predictor show`

use std::io::{self, Write};
use std::ops::RangeInclusive;

use racelog::trace::{Dictionary, Event, Item, Object, Op, Woken};

use super::args::Show;
use super::input::Input;
use super::{Failure, Outcome, terminal};
use crate::trace::format::text::EventPrinter;

pub(super) fn run(args: &Show) -> Result<Outcome, Failure> {
    let mut input = Input::of_args(&args.input)?;
    let mut out = terminal::stdout(terminal::Kind::Text);
    let mut filter = Filter::new(args);
    let mut printer = EventPrinter::new();
    let mut line = Vec::new();
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
            Item::Event(event) => {
                number += 1;
                if filter.shows(dictionary, &mut printer, number, event) {
                    printer.event(dictionary, event, &mut line);
                    let note = if event.recorded { "" } else { "  # unrecorded code" };
                    write_line(&mut out, Some(number), &line, note)?;
                }
                if filter.range.as_ref().is_some_and(|range| number > *range.end()) {
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
    threads: &'a [String],
    objects: &'a [String],
    range: Option<RangeInclusive<u64>>,
}

impl<'a> Filter<'a> {
    fn new(args: &'a Show) -> Self {
        let range = args.around.map(|around| {
            around.saturating_sub(args.context)..=around.saturating_add(args.context)
        });
        Self { threads: &args.threads, objects: &args.objects, range }
    }

    fn shows_init(&self, dictionary: &Dictionary, printer: &mut EventPrinter, var: Object) -> bool {
        self.threads.is_empty()
            && self.range.is_none()
            && (self.objects.is_empty() || is_among(self.objects, dictionary, printer, var))
    }

    fn shows(
        &mut self,
        dictionary: &Dictionary,
        printer: &mut EventPrinter,
        number: u64,
        event: &Event,
    ) -> bool {
        self.range.as_ref().is_none_or(|range| range.contains(&number))
            && (self.threads.is_empty()
                || is_among(self.threads, dictionary, printer, Object::Thread(event.thread)))
            && (self.objects.is_empty()
                || objects(&event.op)
                    .into_iter()
                    .flatten()
                    .any(|object| is_among(self.objects, dictionary, printer, object)))
    }
}

fn is_among(
    wanted: &[String],
    dictionary: &Dictionary,
    printer: &mut EventPrinter,
    object: Object,
) -> bool {
    let name = printer.name(dictionary, object);
    wanted.iter().any(|wanted| wanted == name)
}

/// What an operation is on.
fn objects(op: &Op) -> [Option<Object>; 2] {
    let second = op.lock().map(Object::Lock);
    let first = match *op {
        Op::Fork(thread) | Op::Join(thread) | Op::Unpark(thread) => Some(Object::Thread(thread)),
        Op::Wait { condvar, .. }
        | Op::Wake { condvar, .. }
        | Op::WakeTimeout { condvar, .. }
        | Op::NotifyAll(condvar) => Some(Object::Condvar(condvar)),
        Op::NotifyOne { condvar, woken } => {
            let woken = match woken {
                Woken::Thread(thread) => Some(Object::Thread(thread)),
                Woken::Unknown | Woken::Nobody => None,
            };
            return [Some(Object::Condvar(condvar)), woken];
        }
        Op::Send { channel, .. }
        | Op::Recv { channel, .. }
        | Op::RecvEmpty(channel)
        | Op::RecvClosed(channel)
        | Op::Close(channel) => Some(Object::Channel(channel)),
        Op::Arrive { barrier, .. } | Op::Leave { barrier, .. } => Some(Object::Barrier(barrier)),
        _ => op.var().map(Object::Var),
    };
    [first, second]
}
