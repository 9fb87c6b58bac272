//! Table 1 of the PLDI 2008 paper: what directed runs make of the pairs that a hybrid detector
//! suspects.
//!
//! The hybrid detector is `quick`, on the recorded run. Each pair of lines that it reports gets
//! some runs that are directed to it. A pair is real if one of them brings both threads before
//! their accesses at the same time. The probability is that of such a run, on average over the
//! pairs that are real.

use std::collections::BTreeSet;
use std::time::Duration;

use predictor::analysis::{Detector, detect};
use predictor::child::controlled::Control;
use predictor::fuzz::{Campaign, Strategy, Tally};
use predictor::report::Table;
use racelog::contract::environment::Variable;
use racelog::contract::place::PlacePair;

use super::compare::lines;
use super::{Child, Effort, PaperTable, Problem, Recorded, filled, seconds};

const HEADER: [&str; 12] = [
    "program",
    "LOC",
    "normal s",
    "recording s",
    "directed s",
    "hybrid",
    "real",
    "known",
    "known, by ordering alone",
    "exceptions, directed",
    "exceptions, normal",
    "probability",
];

/// The table.
#[derive(Debug, Default)]
pub struct Pldi08 {
    rows: Vec<[String; HEADER.len()]>,
    notes: Vec<String>,
}

impl PaperTable for Pldi08 {
    fn title(&self) -> &'static str {
        "PLDI 2008, Table 1: what directed runs make of suspected races"
    }

    fn add(&mut self, recorded: &Recorded, child: &Child, effort: &Effort) -> Result<(), Problem> {
        let (program, trace) = (recorded.program, &recorded.trace);
        let suspected = detect(trace, Detector::Quick, &effort.options(), |_, _| {});
        let pairs: BTreeSet<_> = suspected.races().filter_map(|pair| lines(trace, pair)).collect();
        let (mut directed, mut tallies) = (Times::default(), Vec::new());
        for [one, other] in &pairs {
            let places: PlacePair =
                format!("{one},{other}").parse().map_err(|error| child.problem(error))?;
            tallies.push(direct(&places, child, effort, &mut directed)?);
        }
        // Alone, a program that may never end might not.
        let (mut normal, mut recording, mut failed) = (Times::default(), Times::default(), Some(0));
        if program.hangs.is_none() {
            for _ in 0..effort.runs {
                let ended = child.run_free()?;
                normal.add(ended.time);
                failed = failed.map(|failed| failed + usize::from(ended.code != Some(0)));
            }
            recording.add(child.record(None)?.time);
        } else {
            failed = None;
        }
        let real: Vec<&Tally> = tallies.iter().filter(|tally| tally.hits > 0).collect();
        let rate = |tally: &&Tally| tally.hits as f64 / tally.runs.max(1) as f64;
        let probability = real.iter().map(rate).sum::<f64>() / real.len() as f64;
        let weak = program.races.iter().filter(|race| race.is_weak).count();
        for tally in &real {
            if let Some(example) = &tally.harmful_example {
                let places = tally.places.as_deref().unwrap_or_default();
                let (name, control, then) = (program.name, &example.control, &example.then);
                self.notes
                    .push(format!("{name}: {places}: by {}={control}: {then}", Variable::Control));
            }
        }
        self.rows.push([
            program.name.to_owned(),
            program.lines_of_code().to_string(),
            normal.average(),
            recording.average(),
            directed.average(),
            pairs.len().to_string(),
            real.len().to_string(),
            program.races.len().to_string(),
            weak.to_string(),
            tallies.iter().filter(|tally| tally.harmful > 0).count().to_string(),
            failed.map_or_else(|| "-".to_owned(), |failed| failed.to_string()),
            if real.is_empty() { "-".to_owned() } else { format!("{probability:.2}") },
        ]);
        Ok(())
    }

    fn table(&self) -> Table {
        filled(&HEADER, &self.rows)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Directs runs to two places.
fn direct(
    places: &PlacePair,
    child: &Child,
    effort: &Effort,
    times: &mut Times,
) -> Result<Tally, Problem> {
    let campaign =
        Campaign { strategy: Strategy::Race, runs: effort.runs, seed: 1, depth: 0, length: 0 };
    let mut tally = Tally::new(Some(places));
    for seed in campaign.seeds() {
        let control = campaign.control(seed);
        let race = Some(places);
        let control_by = Control::Seed { seed: &control, race, places: None };
        let (ended, mut outcome) = child.run(control_by)?;
        outcome.races.retain(|race| is_at(race, places));
        times.add(ended.time);
        tally.add(seed, &control, &outcome);
    }
    Ok(tally)
}

/// Whether two threads have met at these two places. A run that is directed to them may also bring
/// two threads to one of them, which is another race.
fn is_at(race: &[String; 2], places: &PlacePair) -> bool {
    let [one, other] = places.0.each_ref().map(ToString::to_string);
    let is_line = |met: &String, line: &String| {
        met.strip_prefix(line.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let [first, second] = race;
    is_line(first, &one) && is_line(second, &other)
        || is_line(first, &other) && is_line(second, &one)
}

/// How long runs took.
#[derive(Debug, Default)]
struct Times {
    sum: Duration,
    count: u32,
}

impl Times {
    fn add(&mut self, time: Duration) {
        self.sum += time;
        self.count += 1;
    }

    fn average(&self) -> String {
        if self.count == 0 { "-".to_owned() } else { seconds(self.sum / self.count) }
    }
}
