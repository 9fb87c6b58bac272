//! `predictor compare`

use std::io::Write;

use super::args::{Compare, TableFormat};
use super::input::Input;
use super::{Failure, Outcome, say, terminal};
use crate::analysis::{Detector, Found, detect};
use crate::report::{TRACE_SIZE, Table, trace_size};
use crate::trace::Trace;

pub(super) fn run(args: &Compare) -> Result<Outcome, Failure> {
    let mut detectors = args.detectors.clone();
    if detectors.is_empty() {
        detectors = Detector::ALL.to_vec();
    }
    let options = args.effort.options();
    let mut table = Table::new(header(&detectors));
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
        table.add(row(name, &trace, &found));
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

fn header(detectors: &[Detector]) -> Vec<String> {
    let fixed = std::iter::once("trace").chain(TRACE_SIZE);
    let races = detectors.iter().map(|detector| detector.name().to_owned());
    let times = detectors.iter().map(|detector| format!("{detector} s"));
    fixed.map(str::to_owned).chain(races).chain(times).collect()
}

fn row(name: String, trace: &Trace, found: &[Found]) -> Vec<String> {
    let races = found.iter().map(|found| {
        let unknown = if found.unknown > 0 { "?" } else { "" };
        format!("{}{unknown}", found.found.len())
    });
    let times = found.iter().map(|found| format!("{:.3}", found.time.as_secs_f64()));
    let size = trace_size(trace).map(|figure| figure.to_string());
    std::iter::once(name).chain(size).chain(races).chain(times).collect()
}
