//! `predictor compare`

use std::io::Write;

use super::args::{Compare, TableFormat};
use super::input::Input;
use super::{Failure, Outcome, say, terminal};
use crate::analysis::{Detector, Found, detect};
use crate::goal::{Goal, GoalKind, GoalKinds};
use crate::predict::Options;
use crate::report::{TRACE_SIZE, Table, trace_size};
use crate::trace::Trace;

pub(super) fn run(args: &Compare) -> Result<Outcome, Failure> {
    let mut detectors = args.detectors.clone();
    if detectors.is_empty() {
        detectors = Detector::ALL.to_vec();
        detectors.retain(|detector| detector.looks_for().meets(args.goals));
    }
    let options = Options { goals: args.goals, ..args.effort.options() };
    let columns = counted(&detectors, args.goals);
    let mut table = Table::new(header(&detectors, &columns));
    let mut outcome = Outcome::NothingFound;
    for path in &args.paths {
        let loaded = Input::open(path, args.from.format).and_then(|input| {
            let name = input.name();
            Ok((name, input.load()?))
        });
        let (name, trace) = match loaded {
            Ok(loaded) => loaded,
            Err(Failure::Message(message)) => {
                // The others can still be compared.
                say("error", message);
                outcome = Outcome::Incomplete;
                continue;
            }
            Err(broken) => return Err(broken),
        };
        let found: Vec<Found> = detectors
            .iter()
            .map(|detector| detect(&trace, *detector, &options, |_, _| {}))
            .collect();
        if let Some(difference) = found.iter().find_map(|found| found.disagreement.as_ref()) {
            return Err(Failure::of(name, difference));
        }
        table.add(row(name, &trace, &found, &columns));
    }
    let mut out = terminal::stdout(terminal::Kind::Text);
    match args.format {
        TableFormat::Text => table.write_text(&mut out)?,
        TableFormat::Csv => table.write_csv(&mut out)?,
        TableFormat::Markdown => table.write_markdown(&mut out)?,
    }
    out.flush()?;
    Ok(outcome)
}

/// The columns of a table that count something: for each kind of goal the detectors that look for
/// it. Deadlocks by waiting writers count as deadlocks.
fn counted(detectors: &[Detector], goals: GoalKinds) -> Vec<(usize, GoalKind)> {
    let kinds = goals.iter().filter(|kind| *kind != GoalKind::FairDeadlock);
    let columns = kinds.flat_map(|kind| {
        let looking = detectors.iter().enumerate();
        let looking = looking.filter(move |(_, detector)| detector.looks_for().contains(kind));
        looking.map(move |(at, _)| (at, kind))
    });
    columns.collect()
}

fn header(detectors: &[Detector], columns: &[(usize, GoalKind)]) -> Vec<String> {
    let fixed = std::iter::once("trace").chain(TRACE_SIZE);
    let counts = columns.iter().map(|(at, kind)| match kind {
        GoalKind::Race => detectors[*at].name().to_owned(),
        GoalKind::Deadlock
        | GoalKind::FairDeadlock
        | GoalKind::Stall
        | GoalKind::SendToNobody
        | GoalKind::FailedCheck
        | GoalKind::Panic
        | GoalKind::Atomicity
        | GoalKind::InferredAtomicity
        | GoalKind::AssumedAtomicity => {
            format!("{} {}", detectors[*at], kind.list_name())
        }
    });
    let times = detectors.iter().map(|detector| format!("{detector} s"));
    fixed.map(str::to_owned).chain(counts).chain(times).collect()
}

fn row(name: String, trace: &Trace, found: &[Found], columns: &[(usize, GoalKind)]) -> Vec<String> {
    let counts = columns.iter().map(|(at, kind)| {
        let found = &found[*at];
        let unknown = if found.unknown > 0 { "?" } else { "" };
        let is_counted = |goal: &&Goal| match goal.kind() {
            GoalKind::FairDeadlock => *kind == GoalKind::Deadlock,
            other => other == *kind,
        };
        format!("{}{unknown}", found.found.keys().filter(is_counted).count())
    });
    let times = found.iter().map(|found| format!("{:.3}", found.time.as_secs_f64()));
    let size = trace_size(trace).map(|figure| figure.to_string());
    std::iter::once(name).chain(size).chain(counts).chain(times).collect()
}
