//! How far a replay came.

use std::fmt;

use crate::contract::outcome::{self, Deviation, ThreadValues};
use crate::contract::place::SourcePlace;
use crate::sched::model::failure::Wait;

/// How far a replay came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct Progress {
    pub(in crate::sched) reached: Reached,
    /// What the racing accesses read or wrote.
    pub(in crate::sched) values: Vec<ThreadValues>,
}

pub(in crate::sched) type Reached = outcome::Reached<SourcePlace, Stands>;

/// Where a program did not follow its schedule.
pub(in crate::sched) type Divergence = outcome::Divergence<SourcePlace, Stands>;

/// In which way a program does not follow.
pub(in crate::sched) type Why = Deviation<SourcePlace, Stands>;

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct Stands {
    pub(in crate::sched) ended: bool,
    pub(in crate::sched) wait: Wait,
}

impl fmt::Display for Stands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ended {
            true => write!(f, "thread {} has ended", self.wait.thread),
            false => write!(f, "{}", self.wait),
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, expected, why, .. } = self;
        write!(f, "diverged at step {step}: expected `{expected}`, ")?;
        match why {
            Why::Other(found) => write!(f, "found `{found}`"),
            Why::Ended => write!(f, "thread {} has ended", expected.thread),
            Why::Absent(_) => write!(f, "there is no thread {}", expected.thread),
            Why::Blocked(stands) => write!(f, "{stands}"),
            Why::GoesOn => write!(f, "thread {} can go on there", expected.thread),
            Why::Apart => f.write_str("found operations on different objects"),
        }
    }
}
