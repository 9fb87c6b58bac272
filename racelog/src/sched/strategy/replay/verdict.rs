//! What a replay comes to.

use std::fmt;

/// What came of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Verdict {
    Confirmed {
        /// What the racing accesses read or wrote: threads and words.
        values: Vec<(String, String)>,
    },
    Diverged(Divergence),
    /// The program ended before.
    NotReached {
        step: usize,
        expected: String,
    },
}

/// Where a program did not follow its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct Divergence {
    /// The number of the step, from 1.
    pub(in crate::sched) step: usize,
    pub(in crate::sched) why: Why,
    pub(in crate::sched) expected: String,
    pub(in crate::sched) found: String,
}

/// In which way a program does not follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Why {
    /// A thread did something else than its step says.
    Other,
    /// There is no such thread.
    Absent,
    /// The thread cannot go on, nor can any other that could let it.
    Blocked,
}

impl Why {
    /// As outcomes have it.
    pub(in crate::sched) fn word(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Absent => "absent",
            Self::Blocked => "blocked",
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, expected, found, .. } = self;
        write!(f, "diverged at step {step}: expected `{expected}`, found `{found}`")
    }
}
