//! How a run under control went, as reports keep it.
//!
//! Threads have the names of the trace, and files those of reports: `named` makes this of what the
//! program says, which is [`RunOutcome`](racelog::contract::outcome::RunOutcome). The parts are the
//! same types, with other places.

use racelog::contract::{operation, outcome};
use serde::{Deserialize, Serialize};

use crate::finding::Place;

pub use outcome::{Aftermath, ThreadState, ThreadValues};

/// What a thread does.
pub type Operation = operation::Operation<Place>;
/// A thread, and a place; `None` is a thread that is not under control.
pub type ThreadPlace = outcome::ThreadPlace<Place>;
/// Where a thread stands.
pub type Standing = outcome::Standing<Place>;
/// How far a run came.
pub type Reached = outcome::Reached<Place>;
/// Where a program did not follow its schedule.
pub type Divergence = outcome::Divergence<Place>;
/// In which way a program does not follow its schedule.
pub type Deviation = outcome::Deviation<Place>;
/// A step before its time.
pub type EarlyStep = outcome::EarlyStep<Place>;
/// An access that found or left something else than predicted.
pub type OtherValue = outcome::OtherValue<Place>;

/// How a run under control went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ControlledRun {
    /// The file of the program, if it says so.
    pub program: Option<String>,
    /// How far it came.
    pub reached: Reached,
    /// What the racing accesses read and wrote.
    pub values: Vec<ThreadValues>,
    /// Pairs of places before which two threads stood whose accesses race.
    pub races: Vec<[String; 2]>,
    /// How many steps were followed, or made.
    pub steps: u64,
    /// What followed.
    pub then: Aftermath,
    /// The thread that panicked first, and where.
    pub panicked: Option<ThreadPlace>,
    /// Where all threads stood that could not go on.
    pub waits: Vec<Standing>,
    /// The threads that blocked outside of racelog, and what they did last that was seen.
    pub lost: Vec<ThreadPlace>,
    /// The threads that no thread under control has started.
    pub foreign: Vec<String>,
}

impl ControlledRun {
    /// That of a run by a seed that ended without a word: by this.
    pub fn cut_short(then: Aftermath) -> Self {
        Self {
            program: None,
            reached: Reached::Ran,
            values: Vec::new(),
            races: Vec::new(),
            steps: 0,
            then,
            panicked: None,
            waits: Vec::new(),
            lost: Vec::new(),
            foreign: Vec::new(),
        }
    }

    /// The values, whichever thread went first.
    pub(super) fn sorted_values(&self) -> Vec<&ThreadValues> {
        let mut values: Vec<_> = self.values.iter().collect();
        values.sort();
        values
    }
}
