//! Table 3 of the NFM 2011 paper: the conflicting pairs that each step leaves, and the witnesses.
//!
//! Pairs are counted as there, by events and not by places in the source. `lsa` are those that no
//! common lock rules out, `mhb` those of them that no order of every execution rules out. Witnesses
//! are given twice: as that paper finds them (`said`), and ours (`mcm`).

use predictor::analysis::{Detector, Found, LONGEST, detect};
use predictor::predict::Options;
use predictor::report::Table;
use predictor::trace::{Op, Trace};

use super::{Child, Effort, PaperTable, Problem, Recorded, seconds};

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
        let options = Options { all_pairs: true, pairs_per_signature: None, ..effort.options() };
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
            witnesses(trace, &said, true),
            seconds(said.time),
            witnesses(trace, &mcm, false),
            seconds(mcm.time),
        ]);
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::new(HEADER.map(str::to_owned).to_vec());
        self.rows.iter().for_each(|row| table.add(row.to_vec()));
        table
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
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

fn witnesses(trace: &Trace, found: &Found, is_whole: bool) -> String {
    match (found.found.len(), found.unknown) {
        (races, 0) => races.to_string(),
        _ if is_whole && trace.len() > LONGEST => "too long".to_owned(),
        (races, unknown) => format!("{races}, {unknown} open"),
    }
}
