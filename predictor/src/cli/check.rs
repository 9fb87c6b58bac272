//! `predictor check`

use std::io::{self, Read, Write};
use std::path::Path;

use super::args::Check;
use super::input::Input;
use super::{Failure, Outcome, terminal};
use crate::goal::GoalKind;
use crate::trace::{EventId, Trace};
use crate::witness;

pub(super) fn run(args: &Check) -> Result<Outcome, Failure> {
    if args.witness == Path::new("-") && args.input.path == Path::new("-") {
        return Err(Failure::Message(
            "standard input cannot be both the trace and the witness".to_owned(),
        ));
    }
    let (name, text) = read_witness(&args.witness)?;
    let schedule = parse(&text).map_err(|problem| Failure::of(name, problem))?;
    let trace = Input::of_args(&args.input)?.load()?;
    let mut out = terminal::stdout(terminal::Kind::Text);
    match witness::check(&trace, GoalKind::Race, &events(&schedule, &trace)) {
        Ok(goal) => {
            let mut printer = trace.printer();
            let next: Vec<String> = goal.next().iter().map(EventId::to_string).collect();
            writeln!(out, "yes: ({}) is a {}", next.join(", "), goal.kind().name())?;
            for event in goal.next() {
                writeln!(out, "{:>8}  {}", event.number(), printer.event(*event))?;
            }
            out.flush()?;
            Ok(Outcome::NothingFound)
        }
        Err(refutation) => {
            writeln!(out, "no: {refutation}")?;
            out.flush()?;
            Ok(Outcome::Found)
        }
    }
}

/// The witness and what to call it: a file's contents, or the argument itself if that is a list of
/// numbers and no file.
fn read_witness(path: &Path) -> Result<(String, String), Failure> {
    if path == Path::new("-") {
        let mut text = String::new();
        let read = io::stdin().read_to_string(&mut text);
        return match read {
            Ok(_) => Ok(("standard input".to_owned(), text)),
            Err(error) => Err(Failure::of("standard input", error)),
        };
    }
    let is_list =
        |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-' || is_separator(c));
    match path.to_str().filter(|text| is_list(text) && !path.exists()) {
        Some(list) => Ok(("witness".to_owned(), list.to_owned())),
        None => match std::fs::read_to_string(path) {
            Ok(text) => Ok((path.display().to_string(), text)),
            Err(error) => Err(Failure::of(path.display(), error)),
        },
    }
}

fn is_separator(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// Events that follow one another: `6-9`, or one alone.
type Stretch = (EventId, EventId);

fn parse(text: &str) -> Result<Vec<Stretch>, String> {
    let mut schedule = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split_once('#').map_or(line, |(code, _)| code);
        for word in code.split(is_separator).filter(|word| !word.is_empty()) {
            let event = |word: &str| word.parse().ok().and_then(EventId::from_number);
            let stretch = match word.split_once('-') {
                Some((first, last)) => event(first).zip(event(last)),
                None => event(word).map(|event| (event, event)),
            };
            schedule.push(stretch.filter(|(first, last)| first <= last).ok_or_else(|| {
                format!("line {number}: `{word}` is no event number: they count from 1")
            })?);
        }
    }
    Ok(schedule)
}

/// The events of a schedule. Of a stretch that leaves the trace, one event more than the trace has
/// is enough to show that.
fn events(stretches: &[Stretch], trace: &Trace) -> Vec<EventId> {
    let past = EventId::from_index(trace.len());
    let all = stretches
        .iter()
        .flat_map(|(first, last)| first.index()..=(*last).min((*first).max(past)).index());
    all.map(EventId::from_index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_numbers_between_separators() {
        let schedule = parse("1, 6-8 # a comment with 9\n\n2\t3").unwrap();
        let numbers = |(first, last): (EventId, EventId)| (first.number(), last.number());
        let numbers: Vec<(u64, u64)> = schedule.into_iter().map(numbers).collect();
        assert_eq!(numbers, [(1, 1), (6, 8), (2, 2), (3, 3)]);
        for bad in ["1\n0", "1\nx", "1\n99999999999999999999", "1\n-3", "1\n3-2", "1\n2-"] {
            assert!(parse(bad).unwrap_err().starts_with("line 2: "), "{bad}");
        }
    }
}
