//! The beginning and the end of threads under control.

use std::panic;

use super::attach::{is_controlled, with};
use crate::rt::Action;
#[cfg(fibers)]
use crate::sched::members::current;
use crate::sched::members::member::message;
use crate::sched::model::turn::Signal;

/// Whether the calling thread is being sent away, because the run is over.
pub(crate) fn is_leaving() -> bool {
    with(|member| member.leaving.get()).unwrap_or(false)
}

/// The calling thread goes away, if it is to and may.
pub(crate) fn leave_if_asked() {
    with(|member| {
        if member.leaving.get() {
            member.leave(Action::Begin);
        }
    });
}

/// The calling thread waits for its first turn.
pub(crate) fn wait_for_first_turn() {
    with(|member| {
        if member.turn().take() == Signal::Leave {
            member.leave(Action::Begin);
        }
    });
}

/// Runs the closure of a thread; if it panics under control, keeps the message.
pub(crate) fn run_closure<T>(f: impl FnOnce() -> T) -> T {
    if !is_controlled() {
        return f();
    }
    match panic::catch_unwind(panic::AssertUnwindSafe(f)) {
        Ok(result) => result,
        Err(payload) => {
            with(|member| *member.panicked.borrow_mut() = message(&*payload));
            panic::resume_unwind(payload)
        }
    }
}

/// The calling thread has panicked with this.
#[cfg(fibers)]
pub(in crate::sched) fn note_panic(message: Option<String>) {
    with(|member| *member.panicked.borrow_mut() = message);
}

/// The calling fiber is that of the thread whose turn it is.
#[cfg(fibers)]
pub(in crate::sched) fn belongs_to_fiber(fiber: &crate::sched::model::turn::Suspend) {
    with(|member| member.turn().belongs_to(fiber));
}

/// The calling fiber has nothing left to do.
#[cfg(fibers)]
pub(in crate::sched) fn finish_fiber() {
    with(current::finish);
}

/// The calling thread is done with its closure; what it still runs are destructors.
pub(crate) fn closing() {
    with(|member| {
        member.closing.set(true);
        member.run().leave(member.slot(), member.panicked.take(), &member.turn().left);
    });
}
