//! What a run can end in, and how that is told.

use std::fmt;

use crate::contract::place::SourcePlace;
use crate::contract::waiting::WaitsFor;
use crate::rt::Action;

/// What a thread is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) struct ThreadName {
    /// Its place in the tree of threads: the same in every run.
    pub(in crate::sched) path: String,
    /// The same, and the name that the program gave to it.
    pub(in crate::sched) shown: String,
}

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A thread that cannot go on, and what it waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    pub(in crate::sched) thread: ThreadName,
    pub(in crate::sched) action: Action,
    /// It blocks where racelog does not see it.
    pub(in crate::sched) outside: bool,
    pub(in crate::sched) place: Option<SourcePlace>,
    /// The thread that it waits for, if it joins one.
    pub(in crate::sched) joins: Option<ThreadName>,
    /// Who holds the lock, and since where.
    pub(in crate::sched) holders: Vec<(ThreadName, Option<SourcePlace>)>,
    /// Who waits to take the lock exclusively, and goes first; and where.
    pub(in crate::sched) writers: Vec<(ThreadName, Option<SourcePlace>)>,
}

impl Wait {
    /// The thread: its place in the tree of threads, and its name if it has one.
    #[must_use]
    pub fn thread(&self) -> &str {
        &self.thread.shown
    }

    /// Where it stands, if that is known.
    #[must_use]
    pub fn place(&self) -> Option<&SourcePlace> {
        self.place.as_ref()
    }

    /// The threads that hold what it waits for.
    pub fn holders(&self) -> impl Iterator<Item = &str> {
        self.holders.iter().map(|(thread, _)| thread.shown.as_str())
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits_for = self.action.waits_for().filter(|_| !self.outside);
        write!(f, "thread {} ", self.thread)?;
        if self.outside {
            write!(f, "blocks outside of racelog, after `{}`", self.action.words())?;
        } else if let Some(waits_for) = waits_for {
            let joined = self.joins.as_ref().map(|joined| format!("thread {joined}"));
            f.write_str(&waits_for.words(joined.as_deref()))?;
        } else {
            write!(f, "stands before `{}`", self.action.words())?;
            return self.at(f);
        }
        self.at(f)?;
        for (holder, since) in &self.holders {
            let own = if *holder == self.thread { ", itself" } else { "" };
            let holds = waits_for.map_or("holds it", WaitsFor::holders_words);
            write!(f, "; thread {holder}{own} {holds}")?;
            if let Some(since) = since {
                write!(f, " since {since}")?;
            }
        }
        for (writer, place) in &self.writers {
            write!(f, "; thread {writer} waits to write")?;
            if let Some(place) = place {
                write!(f, " at {place}")?;
            }
            f.write_str(" and goes first")?;
        }
        Ok(())
    }
}

impl Wait {
    fn at(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, " at {place}"),
            None => Ok(()),
        }
    }
}

/// Where a thread blocked outside of racelog, so that another went on before it was done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lost {
    /// The thread.
    pub thread: String,
    /// Its place in the tree of threads.
    pub(in crate::sched) path: String,
    /// What it did last that racelog has seen.
    pub after: Option<SourcePlace>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "control was lost: thread {} blocked outside of racelog", self.thread)?;
        match &self.after {
            Some(place) => write!(f, ", after {place}"),
            None => Ok(()),
        }
    }
}

/// What went wrong in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A thread panicked, and nobody joined it.
    Panic {
        /// The thread.
        thread: String,
        /// What it panicked with, if that is text.
        message: String,
    },
    /// Nobody can go on.
    Deadlock {
        /// Who waits for what.
        waits: Vec<Wait>,
    },
    /// Threads wait for each other, whatever the others do; a schedule has led there.
    Circle {
        /// Who waits for what.
        waits: Vec<Wait>,
    },
    /// The run did not end.
    Livelock {
        /// After so many steps.
        steps: u64,
        /// Where the threads were then.
        threads: Vec<Wait>,
    },
    /// Everybody waits for threads that block outside of racelog.
    Stuck {
        /// Who waits for what.
        waits: Vec<Wait>,
    },
    /// The program did not do what it did before, although it was given the same schedule.
    NotDeterministic {
        /// What is different.
        what: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits = match self {
            Self::Panic { thread, message } => {
                return write!(f, "thread {thread} panicked: {message}");
            }
            Self::NotDeterministic { what } => {
                return write!(f, "the program is not deterministic: {what}");
            }
            Self::Deadlock { waits } => {
                f.write_str("deadlock: nobody can go on")?;
                waits
            }
            Self::Circle { waits } => {
                f.write_str("deadlock: these threads wait for each other")?;
                waits
            }
            Self::Livelock { steps, threads } => {
                write!(f, "livelock: no end after {steps} steps")?;
                threads
            }
            Self::Stuck { waits } => {
                f.write_str("stuck: all wait for threads that block outside of racelog")?;
                waits
            }
        };
        waits.iter().try_for_each(|wait| write!(f, "\n  {wait}"))
    }
}
