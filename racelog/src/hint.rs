//! Mirror of [`std::hint`].

use crate::rt::CallSite;
use crate::sched::{self, Action};

pub use std::hint::{assert_unchecked, black_box, select_unpredictable, unreachable_unchecked};

/// As [`std::hint::spin_loop`]. Under control another thread moves first.
#[track_caller]
#[inline]
pub fn spin_loop() {
    std::hint::spin_loop();
    sched::point(Action::Yield, 0, Some(CallSite::caller()));
}
