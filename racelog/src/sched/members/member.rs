//! A thread's membership in a run.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::rt::{self, Action};
use crate::sched::engine::run::{Admission, Run, Standing};
use crate::sched::model::intent::Intent;
use crate::sched::model::turn::{Signal, Turn};

/// What a thread unwinds with that is sent away.
#[derive(Debug)]
pub(in crate::sched) struct SentAway;

/// A thread's membership in a run. Only the thread itself uses it, once it runs.
pub(crate) struct Member {
    run: Arc<Run>,
    slot: usize,
    turn: Arc<Turn>,
    /// It is being sent away.
    pub(in crate::sched) leaving: Cell<bool>,
    /// It is past the program's closure: whatever it still runs must not panic.
    pub(in crate::sched) closing: Cell<bool>,
    pub(in crate::sched) panicked: RefCell<Option<String>>,
}

impl Member {
    pub(in crate::sched) fn new(run: Arc<Run>, admission: Admission) -> Self {
        let Admission { slot, turn } = admission;
        Self {
            run,
            slot,
            turn,
            leaving: Cell::new(false),
            closing: Cell::new(false),
            panicked: RefCell::default(),
        }
    }

    pub(in crate::sched) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    pub(in crate::sched) fn slot(&self) -> usize {
        self.slot
    }

    pub(in crate::sched) fn turn(&self) -> &Arc<Turn> {
        &self.turn
    }

    /// Whether a panic may send it away now.
    fn can_leave(&self) -> bool {
        !self.closing.get() && !std::thread::panicking()
    }

    /// It stands before an operation: returns when it is to be done.
    pub(in crate::sched) fn step(
        &self,
        intent: &Intent,
        ready: Option<&dyn Fn(bool) -> bool>,
        deadline: Option<u64>,
    ) {
        let (slot, turn, can_leave) = (self.slot, &*self.turn, self.can_leave());
        let standing = Standing { slot, turn, can_leave };
        if self.run.step(&standing, intent, ready, deadline) == Signal::Leave {
            self.leave(intent.action);
        }
    }

    /// The run is over.
    pub(in crate::sched) fn leave(&self, action: Action) {
        // What happens from here on is not what the program did.
        if self.slot == 0 {
            std::mem::forget(rt::silence());
        } else {
            rt::abandon_log();
        }
        self.leaving.set(true);
        if self.can_leave() && !action.is_of_destructors() {
            panic::resume_unwind(Box::new(SentAway));
        }
    }

    /// It has ended, or will do nothing more that others could notice.
    pub(in crate::sched) fn finish(&self) {
        // One that was sent away has not come to its closure's end.
        self.turn.left.store(true, Ordering::Release);
        self.run.finish(self.slot, self.panicked.take(), &self.turn.ended);
    }
}

/// What a panic says; nothing if it is one that sends a thread away.
pub(in crate::sched) fn message(payload: &(dyn Any + Send)) -> Option<String> {
    if payload.is::<SentAway>() {
        return None;
    }
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Some(text.unwrap_or_else(|| "something that is no text".to_owned()))
}
