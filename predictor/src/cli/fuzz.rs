//! `predictor fuzz`

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use racelog::contract::place::PlacePair;
use racelog::interrupt;
use rayon::prelude::*;

use super::args::{AnalysisFormat, Fuzz};
use super::input::Input;
use super::progress::SharedProgress;
use super::{Failure, Outcome, say, terminal};
use crate::child::controlled::{Control, ControlledProgram};
use crate::fuzz::{Campaign, Strategy, Tally, write_text};
use crate::predict::{Options, predict};
use crate::replay::ReportNames;

pub(super) fn run(args: &Fuzz) -> Result<Outcome, Failure> {
    let mut pairs = args.pairs.clone();
    if let Some(trace) = &args.trace {
        pairs.extend(predicted(trace)?);
    }
    let strategy = match (args.strategy, pairs.is_empty()) {
        (Some(Strategy::Race), true) => {
            return Err(Failure::Message(
                "there is no race to look for: give --pair or --trace, or another --strategy"
                    .to_owned(),
            ));
        }
        (Some(strategy), _) => strategy,
        (None, true) => Strategy::Random,
        (None, false) => Strategy::Race,
    };
    let &Fuzz { runs, seed, depth, length, .. } = args;
    let campaign = Campaign { strategy, runs, seed, depth, length };
    let pairs: Vec<Option<PlacePair>> =
        if pairs.is_empty() { vec![None] } else { pairs.into_iter().map(Some).collect() };
    interrupt::note_first();
    let tallies = run_all(args, &campaign, &pairs)?;
    interrupt::as_usual();
    let mut out = terminal::stdout(args.format.kind());
    match args.format {
        AnalysisFormat::Text => {
            tallies.iter().try_for_each(|tally| write_text(&mut out, tally))?;
        }
        AnalysisFormat::Json => {
            serde_json::to_writer_pretty(&mut out, &tallies).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    if let Some(signal) = interrupt::noted() {
        let (done, all) =
            (tallies.iter().map(|tally| tally.runs).sum::<usize>(), runs * pairs.len());
        say("warning", format_args!("interrupted after {done} of {all} runs"));
        return Ok(Outcome::Interrupted(signal));
    }
    let found = tallies.iter().any(Tally::has_findings);
    Ok(if found { Outcome::Found } else { Outcome::NothingFound })
}

/// Runs everything, several at a time, and counts in the order of the seeds.
fn run_all(
    args: &Fuzz,
    campaign: &Campaign,
    pairs: &[Option<PlacePair>],
) -> Result<Vec<Tally>, Failure> {
    let program = ControlledProgram::new(&args.command, args.run_time);
    let jobs = args.jobs.map_or(0, |jobs| jobs as usize);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| Failure::of("--jobs", error))?;
    let progress = SharedProgress::new("runs");
    let (seeds, done) = (campaign.seeds(), AtomicUsize::new(0));
    let all = seeds.len() * pairs.len();
    let mut tallies = Vec::new();
    for pair in pairs {
        let run = |&seed: &u64| {
            let control = campaign.control(seed);
            if interrupt::noted().is_some() {
                return Ok(None);
            }
            let control_by = Control::Seed { seed: &control, race: pair.as_ref(), places: None };
            let ended = program.run(control_by, &ReportNames::default());
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.update(done, all);
            match ended {
                Ok(ended) => Ok(Some((seed, control, ended.outcome))),
                Err(_) if interrupt::noted().is_some() => Ok(None),
                Err(failure) => Err(failure),
            }
        };
        let ended = pool.install(|| seeds.par_iter().map(run).collect::<Result<Vec<_>, _>>())?;
        let mut tally = Tally::new(pair.as_ref());
        for (seed, control, outcome) in ended.into_iter().flatten() {
            tally.add(seed, &control, &outcome);
        }
        tallies.push(tally);
    }
    Ok(tallies)
}

/// The places of all races that are predicted from a trace.
fn predicted(path: &Path) -> Result<Vec<PlacePair>, Failure> {
    let input = Input::open(path, None)?;
    let name = input.name();
    let trace = input.load()?;
    let progress = SharedProgress::new("signatures decided");
    let found = predict(&trace, &Options::default(), |done, all| progress.update(done, all));
    drop(progress);
    let mut pairs = Vec::new();
    for race in found.races() {
        let place = |event| trace.source_place(event);
        match place(race.first()).zip(place(race.second())) {
            Some((first, second)) => pairs.push(PlacePair([first, second])),
            None => say(
                "warning",
                format_args!(
                    "{name}: ({}, {}) has no places to look for",
                    race.first(),
                    race.second()
                ),
            ),
        }
    }
    // As they are shown.
    pairs.sort_by_cached_key(ToString::to_string);
    pairs.dedup();
    if pairs.is_empty() {
        say("note", format_args!("{name}: no race is predicted"));
    }
    Ok(pairs)
}
