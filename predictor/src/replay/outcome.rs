//! How a run under control went.
//!
//! Threads have the names of the trace, and files those of reports: `named` makes this of what the
//! program says, which is `racelog::contract::outcome`.

use serde::{Deserialize, Serialize};

use crate::finding::Place;

/// How a run under control went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ControlledRun {
    /// The file of the program, if it says so.
    pub program: Option<String>,
    /// How far it came.
    pub reached: Reached,
    /// What the racing accesses read and wrote.
    pub values: Vec<Values>,
    /// Pairs of places before which two threads stood whose accesses race.
    pub races: Vec<[String; 2]>,
    /// How many steps were followed, or made.
    pub steps: u64,
    /// What followed.
    pub then: Aftermath,
    /// The thread that panicked first, and where.
    pub panicked: Option<Spot>,
    /// Where all threads stood that could not go on.
    pub waits: Vec<Standing>,
    /// The threads that blocked outside of racelog, and what they did last that was seen.
    pub lost: Vec<Spot>,
    /// The threads that no thread under control has started.
    pub foreign: Vec<String>,
}

/// How far a run came.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// What was looked for was seen: both threads stood before the racing accesses, threads could
    /// no longer go on, or a message had no receiver.
    Confirmed,
    /// The program did not follow its schedule.
    Diverged(Box<Divergence>),
    /// The program ended before.
    Unreached {
        /// The first step that did not happen, from 1.
        step: u64,
        /// What the schedule says.
        expected: Operation,
    },
    /// There was no schedule to follow.
    Ran,
}

/// Where a program did not follow its schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Divergence {
    /// At this step, from 1.
    pub step: u64,
    /// What the schedule says.
    pub expected: Operation,
    /// In which way.
    pub why: Why,
    /// A step that came before its time, since the program does it at once with the one before.
    pub early: Option<Early>,
    /// The first access before that read or wrote something else than predicted.
    pub differs: Option<OtherValue>,
}

/// In which way a program does not follow its schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The thread did this instead.
    Other(Operation),
    /// The thread has ended.
    Ended,
    /// There is no such thread. Where the one stands that should have started it, if that one is
    /// there.
    Absent(Option<Standing>),
    /// The thread cannot go on.
    Blocked(Standing),
    /// The thread has done what it was to wait for ever to do.
    GoesOn,
    /// The accesses are not of the same memory, or the threads do not wait for each other.
    Apart,
}

/// What a thread does.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Operation {
    /// The thread.
    pub thread: String,
    /// The operation, as the text format calls it.
    pub what: String,
    /// What it is done to, as the trace calls it; `None` if it is nothing, or nothing known.
    pub object: Option<String>,
    /// Where.
    pub place: Option<Place>,
}

/// A step before its time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Early {
    /// Its number, from 1.
    pub step: u64,
    /// What it is.
    pub operation: Operation,
}

/// An access that found or left something else than predicted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherValue {
    /// The number of its step, from 1.
    pub step: u64,
    /// The access.
    pub access: Operation,
    /// What was predicted.
    pub predicted: Values,
    /// What it was.
    pub found: Values,
}

/// What an access read and wrote.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Values {
    /// The thread.
    pub thread: String,
    /// What it read, if it reads; `_` is for what is not recorded.
    pub read: Option<String>,
    /// What it wrote, if it writes.
    pub wrote: Option<String>,
}

/// A thread, and a place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spot {
    /// The thread.
    pub thread: String,
    /// The place, if it is known.
    pub place: Option<Place>,
}

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Standing {
    /// The thread.
    pub thread: String,
    /// In which way.
    pub state: Stands,
    /// What it is about to do, or did last: `lock`, `end of scope` and the like.
    pub action: String,
    /// Where that is.
    pub place: Option<Place>,
    /// What it waits for, as the trace calls it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The thread whose end it waits for.
    pub joins: Option<String>,
    /// Who holds what it waits for, and since where.
    pub holders: Vec<Spot>,
    /// Who waits to take it exclusively and goes first, and where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writers: Vec<Spot>,
}

/// In which way a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stands {
    /// Before an operation.
    Ready,
    /// After one, in something that racelog does not see.
    Outside,
    /// It has ended.
    Ended,
}

/// What followed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aftermath {
    /// Nothing that could be seen.
    Nothing,
    /// A panic with this message.
    Panic(String),
    /// A `check!` with this text failed.
    Check(String),
    /// No thread could go on.
    Deadlock,
    /// It did not end.
    Livelock,
    /// A thread waited for something that is not under control.
    Stuck,
    /// A signal of this number killed it.
    Killed(i32),
    /// It had not ended when its time was up.
    Unended,
}

impl Aftermath {
    /// Whether the program went wrong. That control was lost is not its fault, and some programs
    /// are not meant to end.
    pub const fn is_harm(&self) -> bool {
        !matches!(self, Self::Nothing | Self::Stuck | Self::Unended)
    }
}

impl std::fmt::Display for Aftermath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing visible"),
            Self::Panic(message) => write!(f, "panic: {message}"),
            Self::Check(text) => write!(f, "failed check: {text}"),
            Self::Deadlock => f.write_str("deadlock"),
            Self::Livelock => f.write_str("livelock"),
            Self::Stuck => f.write_str("stuck outside of control"),
            Self::Killed(signal) => write!(f, "killed by signal {signal}"),
            Self::Unended => f.write_str("no end within its time"),
        }
    }
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
    pub(super) fn sorted_values(&self) -> Vec<&Values> {
        let mut values: Vec<_> = self.values.iter().collect();
        values.sort();
        values
    }
}
