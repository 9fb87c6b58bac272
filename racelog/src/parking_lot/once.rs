//! What runs once.

use std::cell::Cell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::OnceState;
use crate::rt::CallSite;
use crate::sync::once_record::{COMPLETED, OnceRecord};

/// Runs a closure once, as [`parking_lot::Once`].
pub struct Once {
    record: OnceRecord,
    inner: ::parking_lot::Once,
}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl Once {
    /// As [`parking_lot::Once::new`].
    #[must_use]
    pub const fn new() -> Self {
        Self { record: OnceRecord::new(), inner: ::parking_lot::Once::new() }
    }

    /// As [`parking_lot::Once::state`].
    ///
    /// The trace says whether it was done, not whether a thread was at it.
    #[track_caller]
    pub fn state(&self) -> OnceState {
        let state = Cell::new(OnceState::New);
        let is_done = || {
            state.set(self.inner.state());
            state.get().done()
        };
        self.record.look(COMPLETED, is_done, Some(CallSite::caller()));
        state.get()
    }

    /// As [`parking_lot::Once::call_once`].
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        self.record.call(COMPLETED, Some(CallSite::caller()), |call| {
            self.inner.call_once(|| call.run(Some(false), f));
        });
    }

    /// As [`parking_lot::Once::call_once_force`].
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(OnceState),
    {
        self.record.call(COMPLETED, Some(CallSite::caller()), |call| {
            self.inner.call_once_force(|state| call.run(Some(state.poisoned()), || f(state)));
        });
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
