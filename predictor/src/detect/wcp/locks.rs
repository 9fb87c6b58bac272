//! What locks hand over from thread to thread, and the queues of rule (b).

use std::collections::VecDeque;
use std::rc::Rc;

use racelog::trace::{LockId, ThreadId};

use super::{Clock, Clocks, Past, join};
use crate::index::Regions;
use crate::trace::Trace;

/// The locks of a trace.
#[derive(Debug)]
pub(super) struct Locks {
    locks: Vec<Lock>,
}

#[derive(Debug, Default)]
struct Lock {
    /// What the thread knew that held it exclusively last.
    writer: Option<Known>,
    /// What those knew that have held it shared since then.
    readers: Option<Known>,
    users: Vec<User>,
}

/// What a thread knew as it gave a lock back.
#[derive(Debug)]
struct Known {
    happens: Clock,
    precedes: Clock,
}

impl Known {
    fn of(clocks: &Clocks, thread: ThreadId) -> Self {
        Self {
            happens: clocks.happens[thread.index()].clone(),
            precedes: clocks.precedes[thread.index()].clone(),
        }
    }
}

/// A thread that takes a lock somewhere in the trace.
#[derive(Debug)]
struct User {
    thread: ThreadId,
    /// How often it is still going to take the lock.
    left: usize,
    /// How often exclusively.
    left_exclusive: usize,
    queues: Vec<Queue>,
}

impl User {
    /// Whether it is still going to take the lock in a way that excludes such a section.
    fn wants(&self, exclusive: bool) -> bool {
        if exclusive { self.left > 0 } else { self.left_exclusive > 0 }
    }
}

/// Sections of one thread, all exclusive or all shared, that a user may have to come after. If one
/// precedes an event then those before it do, for they happen before it.
#[derive(Debug)]
struct Queue {
    source: ThreadId,
    exclusive: bool,
    sections: VecDeque<Finished>,
}

/// A section that is over.
#[derive(Debug)]
struct Finished {
    /// The epoch in which it began.
    start: u32,
    release: Rc<Past>,
}

impl Locks {
    pub(super) fn new(trace: &Trace) -> Self {
        let mut locks: Vec<Lock> = (0..trace.lock_count()).map(|_| Lock::default()).collect();
        let regions = Regions::new(trace);
        for thread in trace.threads() {
            for region in regions.of_thread(thread).iter().map(|number| regions.get(*number)) {
                let users = &mut locks[region.lock.index()].users;
                if users.last().is_none_or(|user| user.thread != thread) {
                    let queues = Vec::new();
                    users.push(User { thread, left: 0, left_exclusive: 0, queues });
                }
                if let Some(user) = users.last_mut() {
                    user.left += 1;
                    user.left_exclusive += usize::from(!region.shared);
                }
            }
        }
        Self { locks }
    }

    /// A thread takes a lock: what happens before the releases before it, and what precedes them,
    /// does so of the acquire as well.
    pub(super) fn take(
        &mut self,
        clocks: &mut Clocks,
        thread: ThreadId,
        lock: LockId,
        exclusive: bool,
    ) {
        let Lock { writer, readers, users } = &mut self.locks[lock.index()];
        for known in writer.iter().chain(readers.iter().filter(|_| exclusive)) {
            join(&mut clocks.happens[thread.index()], &known.happens);
            join(&mut clocks.precedes[thread.index()], &known.precedes);
        }
        if let Some(user) = users.iter_mut().find(|user| user.thread == thread) {
            user.left -= 1;
            user.left_exclusive -= usize::from(exclusive);
        }
    }

    /// Rule (b), for the release at which a thread is.
    pub(super) fn apply_rule_b(
        &mut self,
        clocks: &mut Clocks,
        thread: ThreadId,
        lock: LockId,
        exclusive: bool,
    ) {
        let users = &mut self.locks[lock.index()].users;
        let Some(user) = users.iter_mut().find(|user| user.thread == thread) else { return };
        // What is learned from one queue can be what the next section of another one waits for.
        let mut learned = true;
        while learned {
            learned = false;
            for queue in user.queues.iter_mut().filter(|queue| exclusive || queue.exclusive) {
                let seen = clocks.precedes[thread.index()][queue.source.index()];
                let mut last = None;
                while let Some(next) = queue.sections.pop_front_if(|next| next.start <= seen) {
                    last = Some(next);
                }
                learned |= last.is_some_and(|last| clocks.learn(thread, &last.release));
            }
        }
    }

    /// A thread gives a lock back.
    pub(super) fn give(
        &mut self,
        clocks: &Clocks,
        thread: ThreadId,
        lock: LockId,
        exclusive: bool,
    ) {
        let Lock { writer, readers, users } = &mut self.locks[lock.index()];
        if users.len() < 2 {
            return;
        }
        let mut known = Known::of(clocks, thread);
        if exclusive {
            // It has learned from all readers.
            (*writer, *readers) = (Some(known), None);
        } else {
            if let Some(others) = readers {
                join(&mut known.happens, &others.happens);
                join(&mut known.precedes, &others.precedes);
            }
            *readers = Some(known);
        }
    }

    /// Whether another thread is still going to take a lock in a way that excludes a section.
    pub(super) fn is_wanted(&self, lock: LockId, thread: ThreadId, exclusive: bool) -> bool {
        let users = &self.locks[lock.index()].users;
        users.iter().any(|user| user.thread != thread && user.wants(exclusive))
    }

    /// A section of a lock is over: it goes into the queues of the others.
    pub(super) fn finish(&mut self, lock: LockId, exclusive: bool, start: u32, release: &Rc<Past>) {
        let source = release.epoch.thread;
        let users = self.locks[lock.index()].users.iter_mut();
        for user in users.filter(|user| user.thread != source && user.wants(exclusive)) {
            let finished = Finished { start, release: release.clone() };
            let same = |queue: &&mut Queue| (queue.source, queue.exclusive) == (source, exclusive);
            match user.queues.iter_mut().find(same) {
                Some(queue) => queue.sections.push_back(finished),
                None => {
                    let sections = VecDeque::from_iter([finished]);
                    user.queues.push(Queue { source, exclusive, sections });
                }
            }
        }
    }
}
