//! The evaluation: all programs are recorded, all detectors look at the same traces, and what comes
//! of it is put into the tables that the papers have.
//!
//! A program runs in a process of its own, which is this one again with other words: see
//! [`Child`]. A table is a [`PaperTable`]: it is given one recorded run after the other, measures
//! what it has columns for, and adds a row.
//!
//! - [`Pldi14`]: Huang, Meredith, Roşu, "Maximal Sound Predictive Race Detection with Control Flow
//!   Abstraction" (PLDI 2014), Table 1: the races that each detector finds, and its time.
//! - [`Nfm11`]: Said, Wang, Yang, Sakallah, "Generating Data Race Witnesses by an SMT-based
//!   Analysis" (NFM 2011), Table 3: the pairs that are left after each step, and the witnesses.
//! - [`Pldi08`]: Sen, "Race Directed Random Testing of Concurrent Programs" (PLDI 2008), Table 1:
//!   what directed runs make of the pairs that a hybrid detector suspects.

mod arguments;
mod child;
mod compare;
mod nfm11;
mod pldi08;
mod pldi14;
mod print;

use std::time::Duration;

use predictor::goal::GoalKinds;
use predictor::predict::Options;
use predictor::report::Table;

pub use self::arguments::{Arguments, Format, Kind};
pub use self::child::{Child, Ended, Problem, Recorded};
pub use self::compare::{Comparison, Contained, Excess};
pub use self::nfm11::Nfm11;
pub use self::pldi08::Pldi08;
pub use self::pldi14::Pldi14;
pub use self::print::write;

/// How much trouble to take.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Whether predicted races are replayed.
    pub confirm: bool,
    /// How many runs are directed to each pair, and how many are left alone.
    pub runs: usize,
    /// How long a detector may think about a trace, where it can be told.
    pub time: Duration,
}

impl Effort {
    /// For the predictor.
    fn options(&self) -> Options {
        let goals = GoalKinds::RACES;
        Options { goals, total_time: Some(self.time), ..Options::default() }
    }
}

/// A table of a paper, filled with our figures.
pub trait PaperTable {
    /// Its name.
    fn title(&self) -> &'static str;

    /// Measures what it has columns for, and adds a row.
    fn add(&mut self, recorded: &Recorded, child: &Child, effort: &Effort) -> Result<(), Problem>;

    /// The table, as far as it has come.
    fn table(&self) -> Table;

    /// What there is to say below it.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether something has come out that must not be: a bug of ours.
    fn is_wrong(&self) -> bool {
        false
    }
}

/// A table with these columns and rows.
fn filled(header: &[impl AsRef<str>], rows: &[impl AsRef<[String]>]) -> Table {
    let mut table = Table::new(header.iter().map(|name| name.as_ref().to_owned()).collect());
    rows.iter().for_each(|row| table.add(row.as_ref().to_vec()));
    table
}

/// Seconds, for a cell: short times with more digits.
fn seconds(time: Duration) -> String {
    let digits = if time < Duration::from_millis(100) { 6 } else { 3 };
    format!("{:.digits$}", time.as_secs_f64())
}
