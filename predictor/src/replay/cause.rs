//! Deviation a replay did not come to what was predicted.

use racelog::contract::outcome::GAVE_UP;
use serde::{Deserialize, Serialize};

use super::Order;
use super::outcome::{
    Aftermath, Deviation, EarlyStep, Operation, OtherValue, Reached, Standing, ThreadPlace,
    ThreadState,
};

/// Deviation what was predicted was not brought about. What explains it comes first: that something
/// is left which racelog does not see is only said if nothing else is known.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Cause {
    /// It was not tried.
    Untried {
        /// Deviation not.
        problem: String,
    },
    /// The program could not be run under control.
    NotRun {
        /// Deviation not.
        problem: String,
    },
    /// It is not the program that was recorded.
    ProgramChanged {
        /// The file that was recorded.
        recorded: String,
        /// The file that ran; nothing if none did, for that reason.
        program: Option<String>,
        /// What tells the two apart, and what to do.
        problem: String,
    },
    /// It was not there when its time was up.
    TimeUp {
        /// How long it had.
        seconds: f64,
    },
    /// It was killed before.
    Killed {
        /// The number of the signal.
        signal: i32,
    },
    /// A thread blocked in something that is not under control, and others went on.
    ControlLost(ThreadPlace),
    /// There were threads that nobody under control has started.
    ForeignThreads {
        /// They.
        threads: Vec<String>,
    },
    /// The run ended before.
    EndedEarly {
        /// How.
        then: Aftermath,
        /// The thread that panicked, if one did.
        panicked: Option<ThreadPlace>,
        /// The exit code, if there was one.
        code: Option<i32>,
    },
    /// Nobody has started the thread.
    Absent {
        /// The thread.
        thread: String,
        /// Where the one stands that should have started it.
        parent: Option<Box<Standing>>,
    },
    /// The program does at once what the schedule interrupts.
    WholeOperation(Box<EarlyStep>),
    /// An access has read or written something else than predicted.
    OtherValue(Box<OtherValue>),
    /// The thread cannot go on.
    Blocked(Box<Standing>),
    /// The thread has ended.
    Ended {
        /// The thread.
        thread: String,
    },
    /// The thread did not have to wait.
    GoesOn {
        /// The thread.
        thread: String,
    },
    /// The accesses are not of the same memory, or the threads do not wait for each other.
    Apart,
    /// The thread did something else, and nothing that racelog sees explains it.
    OtherOperation {
        /// What it did.
        found: Box<Operation>,
    },
}

impl Cause {
    /// Whether the program was run under the schedule. If it was not, nothing is known that was not
    /// known before.
    pub const fn was_tried(&self) -> bool {
        match self {
            Self::Untried { .. } | Self::NotRun { .. } => false,
            Self::ProgramChanged { program, .. } => program.is_some(),
            _ => true,
        }
    }

    /// Deviation a run has not come to what was predicted; nothing if it has.
    pub(super) fn of(order: &Order) -> Option<Self> {
        let outcome = &order.outcome;
        let (then, panicked) = (outcome.then.clone(), outcome.panicked.clone());
        let ended = || Self::EndedEarly { then, panicked, code: order.code };
        let divergence = match &outcome.reached {
            Reached::Confirmed => return None,
            Reached::Diverged(divergence) => Some(&**divergence),
            Reached::Unreached { .. } | Reached::Ran => None,
        };
        // Once a thread goes on that should not, all that comes after may be due to that.
        if let Some(lost) = outcome.lost.first() {
            return Some(Self::ControlLost(lost.clone()));
        }
        let Some(divergence) = divergence else { return Some(ended()) };
        if let Deviation::Blocked(Standing { thread, state: ThreadState::Outside, place, .. }) =
            &divergence.why
        {
            let (thread, place) = (thread.clone(), place.clone());
            return Some(Self::ControlLost(ThreadPlace { thread: Some(thread), place }));
        }
        if !outcome.foreign.is_empty() {
            return Some(Self::ForeignThreads { threads: outcome.foreign.clone() });
        }
        if let Some(early) = &divergence.early {
            return Some(Self::WholeOperation(Box::new(early.clone())));
        }
        if let Some(differs) = &divergence.differs {
            return Some(Self::OtherValue(Box::new(differs.clone())));
        }
        let thread = divergence.expected.thread.clone();
        // Who panics or exits does nothing else, and its end is no riddle.
        let failed = order.code.is_some_and(|code| code != 0 && code != GAVE_UP);
        let went_wrong = outcome.then.is_harm() || failed;
        Some(match divergence.why.clone() {
            Deviation::Ended if went_wrong => ended(),
            Deviation::Other(found) if found.op == "end" && went_wrong => ended(),
            Deviation::Other(found) if found.op == "end" => Self::Ended { thread },
            Deviation::Other(found) => Self::OtherOperation { found: Box::new(found) },
            Deviation::Ended => Self::Ended { thread },
            Deviation::Absent(parent) => Self::Absent { thread, parent: parent.map(Box::new) },
            Deviation::Blocked(standing) => Self::Blocked(Box::new(standing)),
            Deviation::GoesOn => Self::GoesOn { thread },
            Deviation::Apart => Self::Apart,
        })
    }
}
