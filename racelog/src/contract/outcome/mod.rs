//! The account that a program under control gives of its run, for the command that has started it.
//!
//! ```text
//! racelog-outcome 4
//! program /home/me/p/target/debug/p   # the file that runs
//! thread 0.1 worker                   # a thread that has a name: its place in the tree of threads, and the name
//! foreign 1                           # a thread that no thread under control has started
//! result diverged                     # or confirmed, unreached, ran
//! at 4                                # the step of the schedule, from 1
//! why blocked                         # or other, ended, absent, goes_on, apart
//! expected 0.1 acquire l @ src/a.rs:3:5
//! stands 0.1 ready lock @ src/a.rs:3:5
//! holds 0.2 @ src/a.rs:9:5            # about the thread that `stands` names
//! first 0.3 @ src/a.rs:12:5           # the same: waits to take the lock exclusively, and goes first
//! early 7 0.2 release l @ src/a.rs:9:5
//! differs 2 0.2 write x @ src/a.rs:7:5
//! predicted wrote 7
//! instead wrote 8
//! steps 3
//! then nothing                        # or panic, check, deadlock, livelock, stuck, unended
//! ```
//!
//! | line | |
//! | --- | --- |
//! | `stranger` | the name of a thread that is not under control at all, since one test is |
//! | `found` | what the thread did instead, if that is why: as in schedules |
//! | `stands` | where the thread of the step stands, or the one that should have started it: `ready`, `outside` of racelog or `ended`; then what it waits to do, or did last |
//! | `holds`, `joins` | a thread that holds what it waits for, and since where; the thread whose end it waits for |
//! | `first` | a thread that waits to take the lock exclusively before it may share it, and where |
//! | `early` | a step that came before its time, with the rest of its operation |
//! | `differs` | the first access whose value differs, with what the schedule says and what it did |
//! | `value` | what a racing access read and wrote |
//! | `real` | two places at which a race was seen |
//! | `panicked` | which thread did, and where |
//! | `wait` | as `stands`, of all threads at the end that cannot go on; of a deadlock that was to be seen, of its threads |
//! | `lost` | a thread that blocked outside of racelog, and what it did last |
//!
//! The parts of an outcome have types that the analyser keeps in its reports, too, with the names
//! and places of the report: [`Words`] makes the one of the other.
//!
//! The lines `holds`, `first` and `joins` are about the last thread before them. All others may
//! come in any order, after the first. There are no comments: a message may have any sign but line
//! breaks, which are written as blanks.

mod read;
#[cfg(feature = "serde")]
mod report;
mod words;
mod write;

use std::error::Error;
use std::fmt;

pub use self::words::Words;
use super::operation::{AccessValues, Operation};
use super::place::SourcePlace;

/// The first line of an outcome.
const HEAD: &str = "racelog-outcome 4";

/// The first line of the version before, which is still read: it had no `first`, and no `goes_on`.
const OLDER: &str = "racelog-outcome 3";

/// The exit code of a process that cannot go on, or not as its schedule says: that of a panic.
pub const GAVE_UP: i32 = 101;

/// How a run under control went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunOutcome {
    /// The file of the program, if it is known.
    pub program: Option<String>,
    /// The threads that have names.
    pub threads: Vec<NamedThread>,
    /// The threads that no thread under control has started, by their places in the tree of
    /// threads.
    pub foreign: Vec<String>,
    /// The names of threads that are not under control, since only one test is.
    pub strangers: Vec<String>,
    /// How far it came.
    pub reached: Reached,
    /// What the racing accesses read and wrote.
    pub values: Vec<ThreadValues>,
    /// Pairs of places before which two threads stood whose accesses race.
    pub real_races: Vec<[SourcePlace; 2]>,
    /// How many steps were followed, or made.
    pub steps: u64,
    /// What followed.
    pub then: Aftermath,
    /// The thread that panicked first, and where.
    pub panicked: Option<ThreadPlace>,
    /// Where all threads stood that could not go on.
    pub waits: Vec<Standing>,
    /// The threads that blocked outside of racelog, and where they did something last.
    pub lost: Vec<ThreadPlace>,
}

impl RunOutcome {
    /// That of a run which came so far, and of which nothing else is known.
    #[must_use]
    pub fn new(reached: Reached) -> Self {
        Self {
            program: None,
            threads: Vec::new(),
            foreign: Vec::new(),
            strangers: Vec::new(),
            reached,
            values: Vec::new(),
            real_races: Vec::new(),
            steps: 0,
            then: Aftermath::Nothing,
            panicked: None,
            waits: Vec::new(),
            lost: Vec::new(),
        }
    }
}

/// A thread, and its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedThread {
    /// Its place in the tree of threads.
    pub thread: String,
    /// The name that the program has given it.
    pub name: String,
}

/// What an access of a thread read and wrote.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThreadValues {
    /// The thread.
    pub thread: String,
    /// The values.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub values: AccessValues,
}

/// How far a run came.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Reached<P = SourcePlace, S = Standing<P>> {
    /// What the schedule leads to was seen: both threads stood before the racing accesses, threads
    /// could no longer go on, or a message had no receiver.
    Confirmed,
    /// The program did not follow its schedule.
    Diverged(Box<Divergence<P, S>>),
    /// The program ended before that.
    Unreached {
        /// The first step that did not happen, from 1.
        step: u64,
        /// What the schedule says.
        expected: Operation<P>,
    },
    /// There was no schedule to follow.
    Ran,
}

/// Where a program did not follow its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Divergence<P = SourcePlace, S = Standing<P>> {
    /// The step, from 1.
    pub step: u64,
    /// What the schedule says.
    pub expected: Operation<P>,
    /// What happened instead.
    pub why: Deviation<P, S>,
    /// A step that came before its time, since the program does it at once with the one before.
    pub early: Option<EarlyStep<P>>,
    /// The first access before that read or wrote something else than the schedule says.
    pub differs: Option<OtherValue<P>>,
}

/// In which way a program does not follow its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Deviation<P = SourcePlace, S = Standing<P>> {
    /// The thread did this instead.
    Other(Operation<P>),
    /// The thread has ended.
    Ended,
    /// There is no such thread. Where the one stands that should have started it, if there is one.
    Absent(Option<S>),
    /// The thread cannot go on.
    Blocked(S),
    /// The thread is where it is to wait, and could go on.
    GoesOn,
    /// The accesses are not of the same memory, or the threads do not wait for each other.
    Apart,
}

/// A step that came before its time.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EarlyStep<P = SourcePlace> {
    /// Its number, from 1.
    pub step: u64,
    /// What it is.
    pub operation: Operation<P>,
}

/// An access that found or left something else than the schedule says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherValue<P = SourcePlace> {
    /// The number of its step, from 1.
    pub step: u64,
    /// The access.
    pub access: Operation<P>,
    /// What the schedule says.
    pub predicted: AccessValues,
    /// What it was.
    pub found: AccessValues,
}

/// A thread, and a place.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThreadPlace<P = SourcePlace> {
    /// The thread, by its place in the tree of threads; `None` if it is none of the run's.
    #[cfg_attr(feature = "serde", serde(with = "report::thread_or_none"))]
    pub thread: Option<String>,
    /// The place, if it is known.
    pub place: Option<P>,
}

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "P: serde::Deserialize<'de>")))]
pub struct Standing<P = SourcePlace> {
    /// The thread, by its place in the tree of threads.
    pub thread: String,
    /// In which way.
    pub state: ThreadState,
    /// What it is about to do, or did last: `lock`, `end of scope` and the like.
    pub action: String,
    /// Where that is.
    pub place: Option<P>,
    /// What it waits for, as the trace calls it. Reports know that, programs do not.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub object: Option<String>,
    /// The thread whose end it waits for.
    pub joins: Option<String>,
    /// The threads that hold what it waits for, and since where.
    pub holders: Vec<ThreadPlace<P>>,
    /// The threads that wait to take it exclusively and go first, and where.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub writers: Vec<ThreadPlace<P>>,
}

/// In which way a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ThreadState {
    /// Before an operation.
    Ready,
    /// After one, in something that racelog does not see.
    Outside,
    /// It has ended.
    Ended,
}

/// What followed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Aftermath {
    /// Nothing that could be seen.
    Nothing,
    /// A panic with this message.
    Panic(String),
    /// A `check!` with this label failed.
    Check(String),
    /// No thread could go on.
    Deadlock,
    /// It did not end.
    Livelock,
    /// All threads waited for something that is not under control.
    Stuck,
    /// A signal of this number killed it. The command says so, not the program.
    Killed(i32),
    /// It had not ended when this was written, or when its time was up.
    Unended,
}

impl Aftermath {
    /// Whether the program went wrong. That control was lost is not its fault, and some programs
    /// are not meant to end.
    #[must_use]
    pub const fn is_harm(&self) -> bool {
        match self {
            Self::Panic(_) | Self::Check(_) | Self::Deadlock | Self::Livelock | Self::Killed(_) => {
                true
            }
            Self::Nothing | Self::Stuck | Self::Unended => false,
        }
    }
}

/// In words for people; an outcome has shorter ones.
impl fmt::Display for Aftermath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing visible"),
            Self::Panic(message) => write!(f, "panic: {message}"),
            Self::Check(label) => write!(f, "failed check: {label}"),
            Self::Deadlock => f.write_str("deadlock"),
            Self::Livelock => f.write_str("livelock"),
            Self::Stuck => f.write_str("stuck outside of control"),
            Self::Killed(signal) => write!(f, "killed by signal {signal}"),
            Self::Unended => f.write_str("no end within its time"),
        }
    }
}

/// Why a text is no outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidOutcome {
    line: usize,
    why: String,
}

impl fmt::Display for InvalidOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Error for InvalidOutcome {}

#[cfg(test)]
mod tests;
