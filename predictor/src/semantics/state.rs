//! The state of an execution.

use std::collections::VecDeque;

use racelog::trace::{CondvarId, ThreadId, VarId};

use crate::trace::{EventId, Trace, ValueId};

/// What an execution has reached.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// How many events have happened.
    pub(super) happened: u32,
    pub(super) threads: Vec<Thread>,
    pub(super) vars: Vec<Var>,
    pub(super) locks: Vec<Lock>,
    pub(super) channels: Vec<Channel>,
    /// How many threads have arrived, for each generation of each barrier.
    pub(super) arrived: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Thread {
    /// How many of its events it has taken.
    pub(super) position: u32,
    pub(super) started: bool,
    /// Where the first of its reads stands that found something else than in the observed trace.
    pub(super) other: Option<u32>,
    /// What has a name and was found otherwise, in the thread's order.
    pub(super) others: Vec<Other>,
    pub(super) waits: Option<Waits>,
    /// Set by `unpark`, consumed by `park`.
    pub(super) token: bool,
}

/// A read that found something else than in the observed trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Other {
    pub(super) read: EventId,
    /// What it found, if that is known.
    pub(super) found: Option<ValueId>,
}

/// A thread waits on a condvar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Waits {
    pub(super) condvar: CondvarId,
    pub(super) notified: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Var {
    /// `None` is unknown, which equals nothing.
    pub(super) value: Option<ValueId>,
    /// How many of its accesses have happened.
    pub(super) accesses: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Lock {
    pub(super) writer: Option<ThreadId>,
    /// In order; a thread stands here as often as it holds the lock.
    pub(super) readers: Vec<ThreadId>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Channel {
    pub(super) queue: VecDeque<Message>,
    /// How many senders have been dropped.
    pub(super) closed: u32,
    /// How many receivers have been dropped.
    pub(super) receivers_closed: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Message {
    pub(super) name: ValueId,
    /// Its sender was clean, so it says what it said in the observed trace.
    pub(super) known: bool,
    /// What it says, if that is said in the trace and known.
    pub(super) content: Option<ValueId>,
}

impl State {
    pub(super) fn initial(trace: &Trace, generations: usize) -> Self {
        let thread = |id| Thread {
            position: 0,
            started: trace.fork_of(id).is_none(),
            other: None,
            others: Vec::new(),
            waits: None,
            token: false,
        };
        let var = |id| Var { value: Some(trace.initial_value(id)), accesses: 0 };
        Self {
            happened: 0,
            threads: trace.threads().map(thread).collect(),
            vars: trace.vars().map(var).collect(),
            locks: vec![Lock::default(); trace.lock_count()],
            channels: vec![Channel::default(); trace.channel_count()],
            arrived: vec![0; generations],
        }
    }

    /// How many of its events a thread has taken.
    #[inline]
    pub fn position(&self, thread: ThreadId) -> usize {
        self.threads[thread.index()].position as usize
    }

    /// Whether a thread's fork has happened.
    #[inline]
    pub fn has_started(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].started
    }

    /// Whether every read of the thread so far returned what it returned in the observed trace.
    #[inline]
    pub fn is_clean(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].other.is_none()
    }

    /// What a variable holds, if that is known.
    #[inline]
    pub fn value(&self, var: VarId) -> Option<ValueId> {
        self.vars[var.index()].value
    }

    /// Whether a thread waits and has been notified.
    pub fn is_notified(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].waits.is_some_and(|waits| waits.notified)
    }

    /// Whether a thread's token is set.
    pub fn has_token(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].token
    }

    /// The threads that wait on a condvar and are not notified.
    pub fn waiters(&self, condvar: CondvarId) -> impl Iterator<Item = ThreadId> {
        let waiting = Some(Waits { condvar, notified: false });
        (0u32..)
            .map(ThreadId::new)
            .zip(&self.threads)
            .filter(move |(_, thread)| thread.waits == waiting)
            .map(|(id, _)| id)
    }
}

impl Lock {
    pub(super) fn is_free(&self) -> bool {
        self.writer.is_none() && self.readers.is_empty()
    }

    pub(super) fn add_reader(&mut self, thread: ThreadId) {
        let at = self.readers.partition_point(|reader| *reader < thread);
        self.readers.insert(at, thread);
    }

    pub(super) fn remove_reader(&mut self, thread: ThreadId) {
        if let Ok(at) = self.readers.binary_search(&thread) {
            self.readers.remove(at);
        }
    }
}
