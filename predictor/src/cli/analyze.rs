//! `predictor analyze`

use std::io::Write;

use super::args::{AnalysisFormat, Analyze};
use super::input::Input;
use super::progress::SharedProgress;
use super::{Failure, Outcome, say, terminal};
use crate::analysis::{Detector, analyze};
use crate::predict::Options;
use crate::report::{Report, write_text};

pub(super) fn run(args: &Analyze) -> Result<Outcome, Failure> {
    let input = Input::of_args(&args.input)?;
    let name = input.name();
    let trace = input.load()?;
    let mut detectors = args.detectors.clone();
    if detectors.is_empty() {
        detectors = vec![Detector::Mcm, Detector::Hb];
    }
    if args.suspects {
        detectors.push(Detector::LockOrder);
    }
    detectors.sort_unstable();
    detectors.dedup();
    let (goals, all_goals) = (args.step_goals.and(args.goals), args.all_pairs);
    let (model, max_switches) = (args.model, args.max_switches);
    let options = Options { goals, all_goals, model, max_switches, ..args.effort.options() };
    let progress = SharedProgress::new("signatures decided");
    let report =
        analyze(&trace, &name, &detectors, &options, |done, all| progress.update(done, all));
    drop(progress);
    let report = report.map_err(|difference| Failure::of(&name, difference))?;
    let mut out = terminal::stdout(args.format.kind());
    match args.format {
        AnalysisFormat::Text => write_text(&mut out, &report, &trace)?,
        AnalysisFormat::Json => out.write_all(report.to_json().as_bytes())?,
    }
    out.flush()?;
    let unknown: u64 = report.detectors.iter().map(|detector| detector.unknown).sum();
    if unknown > 0 && args.format == AnalysisFormat::Json {
        say("warning", format_args!("{name}: {unknown} pairs were not decided"));
    }
    Ok(outcome(&report))
}

/// A witness that the checker did not accept is a bug of ours, and so an error.
fn outcome(report: &Report) -> Outcome {
    let unconfirmed = report.counts.is_some_and(|counts| counts.unknown.unconfirmed > 0);
    match report.findings.is_empty() {
        _ if unconfirmed => Outcome::Incomplete,
        true => Outcome::NothingFound,
        false => Outcome::Found,
    }
}
