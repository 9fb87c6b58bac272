//! Mirror of [`crossbeam_utils::Backoff`].

use std::fmt;

use crate::rt::CallSite;
use crate::sched::{self, Action};

/// Waits ever longer in loops that spin, as [`crossbeam_utils::Backoff`].
///
/// Nothing of it is recorded. Under control another thread moves first, as with
/// [`hint::spin_loop`](crate::hint::spin_loop).
#[derive(Default)]
pub struct Backoff(crossbeam_utils::Backoff);

impl Backoff {
    /// As [`crossbeam_utils::Backoff::new`].
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`crossbeam_utils::Backoff::reset`].
    #[inline]
    pub fn reset(&self) {
        self.0.reset();
    }

    /// As [`crossbeam_utils::Backoff::spin`].
    #[inline]
    #[track_caller]
    pub fn spin(&self) {
        self.0.spin();
        sched::point(Action::Yield, 0, Some(CallSite::caller()));
    }

    /// As [`crossbeam_utils::Backoff::snooze`].
    #[inline]
    #[track_caller]
    pub fn snooze(&self) {
        self.0.snooze();
        sched::point(Action::Yield, 0, Some(CallSite::caller()));
    }

    /// As [`crossbeam_utils::Backoff::is_completed`].
    #[inline]
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.0.is_completed()
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
