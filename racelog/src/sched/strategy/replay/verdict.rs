//! What a replay comes to.

use std::fmt;

use crate::sched::model::failure::{Place, Wait};
use crate::sched::schedule::Step;

/// What came of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Verdict {
    Confirmed {
        /// What the racing accesses read or wrote: threads and words.
        values: Vec<(String, String)>,
    },
    Diverged(Box<Divergence>),
    /// The program ended before.
    NotReached {
        step: usize,
        expected: Step,
    },
}

/// Where a program did not follow its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct Divergence {
    /// The number of the step, from 1.
    pub(in crate::sched) step: usize,
    pub(in crate::sched) expected: Step,
    pub(in crate::sched) why: Why,
    /// A step, from 1, that came before its time: it is part of an operation that others interrupt
    /// in the schedule, and that the program does at once.
    pub(in crate::sched) early: Option<(usize, Step)>,
    /// The first access before that read or wrote another value than the schedule says.
    pub(in crate::sched) value: Option<OtherValue>,
}

/// An access with another value than the schedule says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct OtherValue {
    /// The number of its step, from 1.
    pub(in crate::sched) step: usize,
    pub(in crate::sched) access: Step,
    pub(in crate::sched) found: String,
}

/// In which way a program does not follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Why {
    /// A thread did something else than its step says.
    Other(Done),
    /// The thread has ended.
    Ended,
    /// There is no such thread. Where the one stands that should have started it; nothing if there
    /// is no such thread either.
    Absent(Option<Stands>),
    /// The thread cannot go on, nor can any other that could let it.
    Blocked(Stands),
    /// The two threads stand before accesses, but not of the same memory.
    Apart,
}

/// What a thread has done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct Done {
    pub(in crate::sched) thread: String,
    pub(in crate::sched) op: &'static str,
    /// As the schedule calls it.
    pub(in crate::sched) object: Option<String>,
    pub(in crate::sched) place: Option<Place>,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.thread, self.op, self.object.as_deref().unwrap_or("-"))?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " @ {place}"))
    }
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

impl Why {
    /// As outcomes have it.
    pub(in crate::sched) fn word(&self) -> &'static str {
        match self {
            Self::Other(_) => "other",
            Self::Ended => "ended",
            Self::Absent(_) => "absent",
            Self::Blocked(_) => "blocked",
            Self::Apart => "apart",
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
            Why::Apart => f.write_str("found accesses of different objects"),
        }
    }
}
