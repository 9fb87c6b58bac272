//! Mirror of [`std::hint`].

use crate::rt::CallSite;
use crate::sched::{self, Action};

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

#[cfg(std_since = "1.95")]
pub use std::hint::cold_path;
#[cfg(std_since = "1.88")]
pub use std::hint::select_unpredictable;

/// As [`std::hint::spin_loop`]. Under control another thread moves first.
#[track_caller]
#[inline]
pub fn spin_loop() {
    std::hint::spin_loop();
    sched::point(Action::Yield, 0, Some(CallSite::caller()));
}
