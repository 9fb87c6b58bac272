//! The programs, a file a kind of bug. Each takes whether it is to be right.

mod checks;
mod deadlocks;
mod frees;
mod orders;
mod updates;
mod wakeups;

use super::{be_late, look, nap, sync, thread};

pub(crate) use self::checks::*;
pub(crate) use self::deadlocks::*;
pub(crate) use self::frees::*;
pub(crate) use self::orders::*;
pub(crate) use self::updates::*;
pub(crate) use self::wakeups::*;

/// Runs both, and waits for them. The second may be late.
fn both(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(first);
        scope.spawn(|| {
            be_late();
            second();
        });
    });
}

/// A guard, which is given back at once if it is not kept.
fn keep_if<G>(is_kept: bool, guard: G) -> Option<G> {
    is_kept.then_some(guard)
}
