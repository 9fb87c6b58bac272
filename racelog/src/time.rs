//! Mirror of [`std::time`]. Nothing of it is recorded: time orders nothing.
//!
//! Under control [`Instant::now`] goes by the clock of the run, which passes by steps, and leaps:
//! when all wait, to what is waited for; when a thread has slept, to where its sleep ends; and for
//! threads that do nothing but look at it in a loop. So a loop that ends at a deadline ends, and
//! the same seed gives the same times.
//!
//! An instant of std's is one of the world's clock. Converted, it is as far away on the one clock
//! as it was on the other.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use crate::rt::CallSite;
use crate::sched;

pub use std::time::{Duration, SystemTime, SystemTimeError, TryFromFloatSecsError, UNIX_EPOCH};

/// A measurement of a clock that never goes back, as [`std::time::Instant`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std::time::Instant);

impl Instant {
    /// As [`std::time::Instant::now`]. Under control, the time of the run; another thread may go
    /// first.
    #[must_use]
    #[track_caller]
    pub fn now() -> Self {
        Self(sched::look_at_clock(Some(CallSite::caller())).unwrap_or_else(std::time::Instant::now))
    }

    /// As [`std::time::Instant::duration_since`].
    #[must_use]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// As [`std::time::Instant::checked_duration_since`].
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// As [`std::time::Instant::saturating_duration_since`].
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// As [`std::time::Instant::elapsed`].
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// As [`std::time::Instant::checked_add`].
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// As [`std::time::Instant::checked_sub`].
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }

    /// How far that is from now, and whether it lies ahead, on the clock that the calling thread
    /// goes by. No other thread goes first.
    pub(crate) fn distance_to_now(self) -> (Duration, bool) {
        let now = sched::clock().unwrap_or_else(std::time::Instant::now);
        distance(now, self.0)
    }
}

/// How far the second is from the first, and whether it comes after it.
fn distance(from: std::time::Instant, to: std::time::Instant) -> (Duration, bool) {
    match to.checked_duration_since(from) {
        Some(ahead) => (ahead, true),
        None => (from - to, false),
    }
}

/// What is as far from now. Under control, in whole milliseconds: how far it is on the clock of the
/// world depends on how fast the program came here.
fn at((distance, ahead): (Duration, bool), now: std::time::Instant) -> std::time::Instant {
    let millis = u64::try_from(distance.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
    let distance = Duration::from_millis(millis);
    let at = if ahead { now.checked_add(distance) } else { now.checked_sub(distance) };
    at.unwrap_or(now)
}

impl From<std::time::Instant> for Instant {
    fn from(instant: std::time::Instant) -> Self {
        Self(match sched::clock() {
            None => instant,
            Some(now) => at(distance(std::time::Instant::now(), instant), now),
        })
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> Self {
        match sched::clock() {
            None => instant.0,
            Some(_) => at(instant.distance_to_now(), Self::now()),
        }
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0 - earlier.0
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
