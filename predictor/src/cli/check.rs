//! `predictor check`

use std::io::{self, Read, Write};
use std::path::Path;

use super::args::Check;
use super::input::Input;
use super::{Failure, Outcome, terminal};
use crate::goal::{Goal, GoalKind};
use crate::trace::{EventId, Op, Trace};
use crate::witness::{self, Refutation, Witness};

pub(super) fn run(args: &Check) -> Result<Outcome, Failure> {
    if args.witness == Path::new("-") && args.input.path == Path::new("-") {
        return Err(Failure::Message(
            "standard input cannot be both the trace and the witness".to_owned(),
        ));
    }
    let (name, text) = read_witness(&args.witness)?;
    let (happens, next) = match text.split_once('|') {
        Some((happens, next)) => (happens, Some(next)),
        None => (&*text, None),
    };
    let lines_before = happens.lines().count().saturating_sub(1);
    let parsed = parse(happens, 1).and_then(|happens| {
        Ok((happens, next.map(|next| parse(next, lines_before + 1)).transpose()?))
    });
    let (happens, next) = parsed.map_err(|problem| Failure::of(&name, problem))?;
    let trace = Input::of_args(&args.input)?.load()?;
    let mut prefix = events(&happens, &trace);
    // Without a bar the last two are next: a race.
    let next = match next {
        Some(next) => events(&next, &trace),
        None => prefix.split_off(prefix.len().saturating_sub(2)),
    };
    let mut out = terminal::stdout(terminal::Kind::Text);
    match judge(&trace, &prefix, &next) {
        Err(problem) => Err(Failure::of(&name, problem)),
        Ok(Ok(goal)) => {
            let mut printer = trace.printer();
            let next: Vec<String> = goal.next().iter().map(EventId::to_string).collect();
            writeln!(out, "yes: ({}) is a {}", next.join(", "), goal.kind().name())?;
            for event in goal.next() {
                writeln!(out, "{:>8}  {}", event.number(), printer.event(*event))?;
            }
            out.flush()?;
            Ok(Outcome::NothingFound)
        }
        Ok(Err(refutation)) => {
            writeln!(out, "no: {refutation}")?;
            out.flush()?;
            Ok(Outcome::Found)
        }
    }
}

/// The goal with these events next that holds after a prefix; or why the likeliest one does not.
fn judge(
    trace: &Trace,
    prefix: &[EventId],
    next: &[EventId],
) -> Result<Result<Goal, Refutation>, String> {
    let op = |event: &EventId| trace.contains(*event).then(|| trace.op(*event));
    let accesses = next.iter().all(|event| op(event).is_some_and(|op| op.var().is_some()));
    let likeliest = match next {
        [_, _] if accesses => GoalKind::Race,
        [send] if matches!(op(send), Some(Op::Send { .. })) => GoalKind::SendToNobody,
        [check] if matches!(op(check), Some(Op::Check { by_language: true, .. })) => {
            GoalKind::Panic
        }
        [check] if matches!(op(check), Some(Op::Check { .. })) => GoalKind::FailedCheck,
        [_] => GoalKind::Stall,
        [_, _] if next.iter().any(|event| op(event).is_none()) => GoalKind::Race,
        _ => GoalKind::Deadlock,
    };
    let goals = GoalKind::ALL.into_iter().filter_map(|kind| Goal::of_kind(kind, next));
    let mut refutation = None;
    for goal in goals {
        match witness::check(trace, prefix, &goal) {
            Ok(()) => return Ok(Ok(goal)),
            Err(refuted) if goal.kind() == likeliest => refutation = Some(refuted),
            Err(_) => {}
        }
    }
    if let Some(witness) = Witness::of_schedule(trace, prefix, next) {
        return Ok(Ok(witness.goal));
    }
    let too_short = || {
        "a witness ends in the events that are next: two racing accesses, or, behind a `|`, what \
         threads wait to do"
            .to_owned()
    };
    refutation.map(Err).ok_or_else(too_short)
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
    let is_list = |text: &str| {
        text.chars().all(|c| c.is_ascii_digit() || "-|".contains(c) || is_separator(c))
    };
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
type EventRange = (EventId, EventId);

fn parse(text: &str, first_line: usize) -> Result<Vec<EventRange>, String> {
    let mut schedule = Vec::new();
    for (number, line) in (first_line..).zip(text.lines()) {
        let code = line.split_once('#').map_or(line, |(code, _)| code);
        for word in code.split(is_separator).filter(|word| !word.is_empty()) {
            let event = |word: &str| word.parse().ok().and_then(EventId::from_number);
            let range = match word.split_once('-') {
                Some((first, last)) => event(first).zip(event(last)),
                None => event(word).map(|event| (event, event)),
            };
            schedule.push(range.filter(|(first, last)| first <= last).ok_or_else(|| {
                format!("line {number}: `{word}` is no event number: they count from 1")
            })?);
        }
    }
    Ok(schedule)
}

/// The events of a schedule. Of a range that leaves the trace, one event more than the trace has
/// is enough to show that.
fn events(ranges: &[EventRange], trace: &Trace) -> Vec<EventId> {
    let past = EventId::from_index(trace.len());
    let all = ranges
        .iter()
        .flat_map(|(first, last)| first.index()..=(*last).min((*first).max(past)).index());
    all.map(EventId::from_index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_numbers_between_separators() {
        let schedule = parse("1, 6-8 # a comment with 9\n\n2\t3", 1).unwrap();
        let numbers = |(first, last): (EventId, EventId)| (first.number(), last.number());
        let numbers: Vec<(u64, u64)> = schedule.into_iter().map(numbers).collect();
        assert_eq!(numbers, [(1, 1), (6, 8), (2, 2), (3, 3)]);
        for bad in ["1\n0", "1\nx", "1\n99999999999999999999", "1\n-3", "1\n3-2", "1\n2-"] {
            assert!(parse(bad, 1).unwrap_err().starts_with("line 2: "), "{bad}");
        }
    }
}
