//! Threads that are spawned under control, and what their parents know of them.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::attach::with;
use super::points::block;
use crate::rt::{self, Action, CallSite};
use crate::sched::engine::run::Run;
use crate::sched::members::current;
use crate::sched::members::member::Member;
use crate::sched::model::intent::Intent;
use crate::sched::model::slot::Status;
use crate::sched::model::turn::Turn;

/// A thread that is about to be spawned under control.
pub(crate) struct Newcomer(Member);

/// Adds a thread to the run, if this thread is under control.
pub(crate) fn newcomer(name: Option<&str>, here: Option<CallSite>) -> Option<Newcomer> {
    with(|parent| {
        let admission = parent.run().add(parent.slot(), name, here);
        Newcomer(Member::new(parent.run().clone(), admission))
    })
}

impl Newcomer {
    #[cfg(fibers)]
    pub(in crate::sched) fn member(self) -> Member {
        self.0
    }

    #[cfg(fibers)]
    pub(crate) fn slot(&self) -> usize {
        self.0.slot()
    }

    pub(crate) fn control(&self) -> ChildControl {
        ChildControl::new(&self.0)
    }

    /// Makes the calling thread, which is new, the newcomer. Call [`wait`] next.
    pub(crate) fn install(self) {
        self.0.run().begun(self.0.slot());
        current::install(Rc::new(self.0));
    }
}

/// Tells a parent about its child.
pub(crate) struct ChildControl {
    run: Arc<Run>,
    slot: usize,
    turn: Arc<Turn>,
}

impl ChildControl {
    fn new(member: &Member) -> Self {
        Self { run: member.run().clone(), slot: member.slot(), turn: member.turn().clone() }
    }

    /// What the thread is known by in intents.
    pub(crate) fn key(&self) -> usize {
        self.slot + 1
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.turn.ended.load(Ordering::Acquire)
    }

    /// Whether the thread's closure is done.
    fn has_left(&self) -> bool {
        self.turn.left.load(Ordering::Acquire)
    }

    /// The calling thread waits until the thread's closure is done, as std's scopes do; it is not
    /// sent away meanwhile.
    pub(crate) fn wait_until_left(&self, scope: usize, here: Option<CallSite>) {
        if !self.has_left() {
            self.wait_in_scope(scope, here, &|_| self.has_left());
        }
    }

    fn wait_in_scope(&self, scope: usize, here: Option<CallSite>, ready: &dyn Fn(bool) -> bool) {
        rt::about_to_do(here);
        block(|| Intent::new(Action::Scope, self.key(), here).with_second(scope), None, ready);
    }

    /// The scope of this address does not end before the thread's closure is done.
    pub(crate) fn belongs_to(&self, scope: usize) {
        self.run.lock().slots[self.slot].scope = scope;
    }

    /// The calling thread waits for the end; it is not sent away meanwhile.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn wait_at_end_of_scope(&self, scope: usize, here: Option<CallSite>) {
        if !self.has_ended() {
            self.wait_in_scope(scope, here, &|_| self.has_ended());
        }
    }

    /// The system could not make the thread.
    pub(crate) fn never_began(&self) {
        self.run.lock().slots[self.slot].status = Status::Finished;
        self.turn.left.store(true, Ordering::Release);
        self.turn.ended.store(true, Ordering::Release);
    }

    /// Its result is taken, and with it its panic. True if it panicked.
    pub(crate) fn joined(&self) -> bool {
        self.run.lock().slots[self.slot].panicked.take().is_some()
    }
}
