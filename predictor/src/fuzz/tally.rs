//! What the runs for one pair say.

use std::io::{self, Write};

use racelog::contract::place::PlacePair;
use racelog::contract::seed::Seed;
use serde::Serialize;

use crate::replay::{Aftermath, ControlledRun};

/// What the runs for one pair of places say; or all runs, if no pair is given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Tally {
    /// The places.
    pub places: Option<String>,
    /// How many runs there were.
    pub runs: usize,
    /// In how many of them the race was real.
    pub hits: usize,
    /// How many of those failed.
    pub harmful: usize,
    /// How many runs failed without the race.
    pub other_failures: usize,
    /// The first run with the race, and nothing after it.
    pub harmless_example: Option<Example>,
    /// The first run with the race that failed.
    pub harmful_example: Option<Example>,
    /// The first run that failed without the race.
    pub other_example: Option<Example>,
    /// How many runs did not end within their time.
    pub hangs: usize,
    /// The first of them.
    pub hang_example: Option<Example>,
    /// In how many runs control was lost, so that their seeds need not decide them.
    pub lost: usize,
}

/// A run to look at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Example {
    /// Its seed.
    pub seed: u64,
    /// What `RACELOG_CONTROL` was.
    pub control: String,
    /// How it ended.
    pub then: Aftermath,
}

impl Tally {
    /// Before the first run.
    pub fn new(places: Option<&PlacePair>) -> Self {
        Self {
            places: places.map(ToString::to_string),
            runs: 0,
            hits: 0,
            harmful: 0,
            other_failures: 0,
            harmless_example: None,
            harmful_example: None,
            other_example: None,
            hangs: 0,
            hang_example: None,
            lost: 0,
        }
    }

    /// Counts a run.
    pub fn add(&mut self, seed: u64, control: &Seed, run: &ControlledRun) {
        let example = || Example { seed, control: control.to_string(), then: run.then.clone() };
        self.runs += 1;
        self.lost += usize::from(!run.lost.is_empty());
        let is_hit = !run.races.is_empty();
        self.hits += usize::from(is_hit);
        if run.then == Aftermath::Unended {
            self.hangs += 1;
            self.hang_example.get_or_insert_with(example);
        }
        let first = match (is_hit, run.then.is_harm()) {
            (true, true) => {
                self.harmful += 1;
                &mut self.harmful_example
            }
            (true, false) => &mut self.harmless_example,
            (false, true) => {
                self.other_failures += 1;
                &mut self.other_example
            }
            (false, false) => return,
        };
        first.get_or_insert_with(example);
    }

    /// Whether a race was real, or a run has failed or did not end.
    pub fn has_findings(&self) -> bool {
        self.hits + self.other_failures + self.hangs > 0
    }
}

/// What people read.
pub fn write_text(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    let Tally { runs, hits, harmful, other_failures, .. } = *tally;
    let percent = |part: usize| 100.0 * part as f64 / runs.max(1) as f64;
    let share = |part| format!("{part} of {runs} runs ({:.1} %)", percent(part));
    match &tally.places {
        None => writeln!(out, "any order: {} failed", share(other_failures))?,
        Some(places) if hits == 0 => writeln!(out, "{places}: not reached in {runs} runs")?,
        Some(places) if harmful == 0 => {
            writeln!(out, "{places}: real in {}, and did no harm", share(hits))?;
        }
        Some(places) => {
            writeln!(out, "{places}: real in {}, harmful in {harmful} of them", share(hits))?;
        }
    }
    let mut show = |words: &str, example: &Option<Example>| match example {
        None => Ok(()),
        Some(Example { seed, control, then }) => {
            writeln!(out, "  {words}: --seed {seed} --runs 1 ({control}), then {then}")
        }
    };
    show("with harm", &tally.harmful_example)?;
    show("without harm", &tally.harmless_example)?;
    show("failed without the race", &tally.other_example)?;
    show("did not end", &tally.hang_example)?;
    if tally.hangs > 0 {
        writeln!(out, "  {} did not end within their time", share(tally.hangs))?;
    }
    if tally.places.is_some() && other_failures > 0 {
        writeln!(out, "  {} failed without the race", share(other_failures))?;
    }
    if tally.lost > 0 {
        writeln!(
            out,
            "  control was lost in {}: their seeds need not decide them",
            share(tally.lost)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::ReportNames;

    fn run(lines: &str) -> ControlledRun {
        let text = format!("racelog-outcome 4\nresult ran\n{lines}");
        ControlledRun::parse(&text, &ReportNames::default()).unwrap()
    }

    fn text(tally: &Tally) -> String {
        let mut out = Vec::new();
        write_text(&mut out, tally).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn runs_are_counted_and_one_of_each_kind_is_kept() {
        let mut tally = Tally::new(Some(&"a.rs:1,b.rs:2".parse().unwrap()));
        tally.add(1, &Seed::Race { pair: 0, number: 1 }, &run("then nothing\n"));
        assert!(!tally.has_findings());
        assert_eq!(text(&tally), "a.rs:1,b.rs:2: not reached in 1 runs\n");
        tally.add(
            2,
            &Seed::Race { pair: 0, number: 2 },
            &run("real a.rs:1:1 b.rs:2:2\nthen nothing\n"),
        );
        tally.add(
            3,
            &Seed::Race { pair: 0, number: 3 },
            &run("real a.rs:1:1 b.rs:2:2\nthen deadlock\n"),
        );
        tally.add(
            4,
            &Seed::Race { pair: 0, number: 4 },
            &run("real a.rs:1:1 b.rs:2:2\nthen panic x\n"),
        );
        tally.add(5, &Seed::Race { pair: 0, number: 5 }, &run("then check y\n"));
        assert!(tally.has_findings());
        assert_eq!(
            text(&tally),
            "a.rs:1,b.rs:2: real in 3 of 5 runs (60.0 %), harmful in 2 of them\n\
             \x20 with harm: --seed 3 --runs 1 (race:0:3), then deadlock\n\
             \x20 without harm: --seed 2 --runs 1 (race:0:2), then nothing visible\n\
             \x20 failed without the race: --seed 5 --runs 1 (race:0:5), then failed check: y\n\
             \x20 1 of 5 runs (20.0 %) failed without the race\n"
        );
    }
}
