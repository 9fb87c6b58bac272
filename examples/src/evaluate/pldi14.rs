//! Table 1 of the PLDI 2014 paper: what each detector finds in the same trace.
//!
//! Its column QC is `quick` here, and RV is `mcm`; `paper` is the formula that the paper prints.
//! Races are counted by pairs of places in the source, as there.

use std::time::{Duration, Instant};

use predictor::analysis::Detector;
use predictor::child::controlled::Control;
use predictor::finding::Replay;
use predictor::goal::{Goal, Pair};
use predictor::predict::{Decided, decide_goal};
use predictor::render::replay_lines;
use predictor::replay::{Order, Plan, PlannedRun, Replayed};
use predictor::report::{Table, trace_size};
use predictor::solve::SolverKind;
use predictor::trace::Trace;

use super::compare::{Comparison, Contained, lines};
use super::{Child, Effort, PaperTable, Problem, Recorded, filled, seconds};
use crate::Size;

const FIXED: [&str; 8] = ["program", "LOC", "size", "threads", "events", "rw", "sync", "branches"];
const CHECKS: [&str; 2] = ["confirmed", "said ⊆ mcm"];

/// The table.
#[derive(Debug, Default)]
pub struct Pldi14 {
    rows: Vec<Vec<String>>,
    /// What each detector has found in all.
    totals: [usize; Detector::OF_RACES.len()],
    notes: Vec<String>,
    is_wrong: bool,
}

impl PaperTable for Pldi14 {
    fn title(&self) -> &'static str {
        "PLDI 2014, Table 1: the races that each detector finds in the same trace"
    }

    fn add(&mut self, recorded: &Recorded, child: &Child, effort: &Effort) -> Result<(), Problem> {
        let trace = &recorded.trace;
        let found = Comparison::new(trace, &effort.options());
        let confirmed = match effort.confirm {
            true => self.confirm(trace, &found, child)?,
            false => "-".to_owned(),
        };
        let contained = found.said_is_contained(trace);
        self.is_wrong |= contained == Contained::No;
        let contained = match contained {
            Contained::Yes => "yes",
            Contained::No => "NO",
            Contained::Open => "open",
        };
        let excess = found.excess(trace);
        let mark = if excess.is_empty() { "" } else { " *" };
        let name = recorded.program.name;
        for one in excess {
            self.notes.push(format!("* {name}: only `{}`: {}", one.detector, one.text));
        }
        for (total, detector) in self.totals.iter_mut().zip(Detector::OF_RACES) {
            *total += found.of(detector).found.len();
        }
        let Size { threads, work } = recorded.size;
        let mut row = vec![format!("{name}{mark}"), recorded.program.lines_of_code().to_string()];
        row.push(format!("{threads}x{work}"));
        row.extend(trace_size(trace).map(|figure| figure.to_string()));
        row.extend(Detector::OF_RACES.map(|detector| found.cell(trace, detector)));
        row.extend([confirmed, contained.to_owned()]);
        row.extend(Detector::OF_RACES.map(|detector| seconds(found.of(detector).time)));
        row.push(speed(trace.len(), found.of(Detector::Mcm).time));
        self.rows.push(row);
        Ok(())
    }

    fn table(&self) -> Table {
        let mut header: Vec<String> = FIXED.map(str::to_owned).to_vec();
        header.extend(Detector::OF_RACES.map(|detector| detector.name().to_owned()));
        header.extend(CHECKS.map(str::to_owned));
        header.extend(Detector::OF_RACES.map(|detector| format!("{detector} s")));
        header.push("mcm events/s".to_owned());
        let mut total = vec![String::new(); header.len()];
        total[0] = "total".to_owned();
        for (cell, found) in total[FIXED.len()..].iter_mut().zip(self.totals) {
            *cell = found.to_string();
        }
        let mut table = filled(&header, &self.rows);
        table.add(total);
        table
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn is_wrong(&self) -> bool {
        self.is_wrong
    }
}

impl Pldi14 {
    /// Runs the program by a witness of each predicted race, in both orders.
    fn confirm(
        &mut self,
        trace: &Trace,
        found: &Comparison,
        child: &Child,
    ) -> Result<String, Problem> {
        let races: Vec<Pair> = found.of(Detector::Mcm).races().collect();
        let mut confirmed = 0;
        for pair in &races {
            match replay(trace, *pair, child)? {
                None => confirmed += 1,
                Some(problem) => {
                    let places = lines(trace, *pair).unwrap_or_default().join(" and ");
                    let name = child.program.name;
                    self.notes.push(format!("{name}: not confirmed: {places}: {problem}"));
                }
            }
        }
        Ok(format!("{confirmed}/{}", races.len()))
    }
}

/// How long to look for a short witness.
const WITNESS_TIME: Duration = Duration::from_secs(10);

/// Replays a race, and says what came between if something did.
fn replay(trace: &Trace, pair: Pair, child: &Child) -> Result<Option<String>, Problem> {
    let deadline = Some(Instant::now() + WITNESS_TIME);
    let decided = decide_goal(trace, &Goal::Race(pair), SolverKind::default(), deadline);
    let Decided::Proven(witness) = decided else {
        return Ok(Some("no witness in time".to_owned()));
    };
    let plan = Plan::new(trace, &witness);
    let plan = plan.ok_or_else(|| child.problem("bug: a thread of the race is not controlled"))?;
    let order = |PlannedRun { first, text }: PlannedRun| {
        let (ended, outcome) = child.run(Control::Schedule(&text))?;
        Ok(Order { first, outcome, code: ended.code, printed: ended.printed })
    };
    let orders: Result<Vec<Order>, Problem> = plan.runs().into_iter().map(order).collect();
    let replayed = Replayed::new(plan.target(), orders?, None);
    let confirmed = replayed.is_confirmed();
    Ok((!confirmed).then(|| replay_lines(&Replay::new(replayed)).join("; ")))
}

fn speed(events: usize, time: Duration) -> String {
    format!("{:.0}", events as f64 / time.as_secs_f64().max(1e-6))
}
