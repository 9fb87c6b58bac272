//! How far a replay came.

use std::fmt;

use crate::contract::operation::{AccessValues, Operation};
use crate::sched::model::failure::Wait;

/// How far a replay came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Progress {
    Confirmed {
        /// What the racing accesses of these threads read or wrote.
        values: Vec<(String, AccessValues)>,
    },
    Diverged(Box<Divergence>),
    /// The program ended before.
    NotReached {
        step: usize,
        expected: Operation,
    },
}

/// Where a program did not follow its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct Divergence {
    /// The number of the step, from 1.
    pub(in crate::sched) step: usize,
    pub(in crate::sched) expected: Operation,
    pub(in crate::sched) why: Why,
    /// A step, from 1, that came before its time: it is part of an operation that others interrupt
    /// in the schedule, and that the program does at once.
    pub(in crate::sched) early: Option<(usize, Operation)>,
    /// The first access before that read or wrote another value than the schedule says.
    pub(in crate::sched) value: Option<OtherValue>,
}

/// An access with another value than the schedule says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct OtherValue {
    /// The number of its step, from 1.
    pub(in crate::sched) step: usize,
    pub(in crate::sched) access: Operation,
    pub(in crate::sched) predicted: AccessValues,
    pub(in crate::sched) found: AccessValues,
}

/// In which way a program does not follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Why {
    /// A thread did something else than its step says.
    Other(Operation),
    /// The thread has ended.
    Ended,
    /// There is no such thread. Where the one stands that should have started it; nothing if there
    /// is no such thread either.
    Absent(Option<Stands>),
    /// The thread cannot go on, nor can any other that could let it.
    Blocked(Stands),
    /// The thread is where it is to wait, and could go on.
    GoesOn,
    /// The two threads stand before accesses, but not of the same memory. Or threads wait, but not
    /// for each other.
    Apart,
}

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
