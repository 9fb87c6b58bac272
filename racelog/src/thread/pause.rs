//! Mirrors of [`std::thread::sleep`] and [`std::thread::yield_now`]. Neither is recorded.

use std::time::Duration;

use crate::rt::CallSite;
use crate::sched::{self, Action, Deadline, Intent};

/// As [`std::thread::sleep`]. Under control it takes no time.
#[track_caller]
pub fn sleep(dur: Duration) {
    let here = Some(CallSite::caller());
    if !sched::is_controlled() {
        return std::thread::sleep(dur);
    }
    let intent = || Intent::new(Action::Sleep, 0, here);
    sched::block(intent, Deadline::after(dur), &|late| late);
}

/// As [`std::thread::sleep_ms`].
#[deprecated(since = "1.6.0", note = "replaced by `std::thread::sleep`")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(ms.into()));
}

/// As [`std::thread::yield_now`]. Under control another thread moves first.
#[track_caller]
pub fn yield_now() {
    let here = Some(CallSite::caller());
    if sched::is_controlled() {
        sched::point(Action::Yield, 0, here);
    } else {
        std::thread::yield_now();
    }
}
