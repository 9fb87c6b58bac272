//! Table 3 of the NFM 2011 paper: the conflicting pairs that each step leaves, and the witnesses.
//!
//! Pairs are counted as there, by events and not by places in the source. `lsa` are those that no
//! common lock rules out, `mhb` those of them that no order of every execution rules out. Witnesses
//! are given twice: as that paper finds them (`said`), and ours (`mcm`).

use predictor::analysis::{Detector, detect};
use predictor::predict::Options;
use predictor::report::Table;
use predictor::trace::Op;

use super::compare::count;
use super::{Child, Effort, PaperTable, Problem, Recorded, filled, seconds};

const HEADER: [&str; 14] = [
    "program",
    "threads",
    "length",
    "lk-evs",
    "wn-evs",
    "rw",
    "lk",
    "wn",
    "lsa",
    "mhb",
    "said wtns",
    "said s",
    "mcm wtns",
    "mcm s",
];

/// The table.
#[derive(Debug, Default)]
pub struct Nfm11 {
    rows: Vec<[String; HEADER.len()]>,
}

impl PaperTable for Nfm11 {
    fn title(&self) -> &'static str {
        "NFM 2011, Table 3: the pairs of events that each step leaves, and the witnesses"
    }

    fn add(&mut self, recorded: &Recorded, _: &Child, effort: &Effort) -> Result<(), Problem> {
        let trace = &recorded.trace;
        let options = Options { all_goals: true, goals_per_signature: None, ..effort.options() };
        let find = |detector| detect(trace, detector, &options, |_, _| {});
        let (said, mcm) = (find(Detector::Said), find(Detector::Mcm));
        let counts = mcm.counts.unwrap_or_default();
        let lsa = counts.candidates - counts.refuted.common_lock;
        let of = |is: fn(&Op) -> bool| {
            trace.events().filter(|event| is(&trace.op(*event))).count().to_string()
        };
        self.rows.push([
            recorded.program.name.to_owned(),
            trace.thread_count().to_string(),
            trace.len().to_string(),
            of(is_lock),
            of(is_wait),
            trace.var_count().to_string(),
            trace.lock_count().to_string(),
            trace.condvar_count().to_string(),
            lsa.to_string(),
            (lsa - counts.refuted.must_order).to_string(),
            count(trace, Detector::Said, &said),
            seconds(said.time),
            count(trace, Detector::Mcm, &mcm),
            seconds(mcm.time),
        ]);
        Ok(())
    }

    fn table(&self) -> Table {
        filled(&HEADER, &self.rows)
    }
}

fn is_lock(op: &Op) -> bool {
    matches!(
        op,
        Op::Acquire(_)
            | Op::Release(_)
            | Op::ReadAcquire(_)
            | Op::ReadRelease(_)
            | Op::AcquireFail(_)
            | Op::ReadAcquireFail(_)
    )
}

fn is_wait(op: &Op) -> bool {
    matches!(
        op,
        Op::Wait { .. }
            | Op::Wake { .. }
            | Op::WakeTimeout { .. }
            | Op::NotifyOne { .. }
            | Op::NotifyAll(_)
    )
}
