//! When a wait ends: by the clock of the world, or under control by that of the run.

use std::time::{Duration, Instant};

use super::attach::with;
use crate::rt::{self, Action, CallSite};
use crate::sched::strategy::Guide;
use crate::trace::Patience;

/// When a wait ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    Real(Instant),
    /// Nanoseconds since the run began, on its own clock.
    Virtual(u64),
}

impl Deadline {
    /// So long from now; `None` for a time that no clock reaches.
    pub(crate) fn after(duration: Duration) -> Option<Self> {
        match now() {
            None => Instant::now().checked_add(duration).map(Self::Real),
            Some(now) => {
                let duration = u64::try_from(duration.as_nanos()).ok()?;
                now.checked_add(duration).map(Self::Virtual)
            }
        }
    }

    /// At that time. Under control it is as far away as it is on the clock that the program sees.
    #[cfg(any(feature = "lock_api", feature = "crossbeam"))]
    pub(crate) fn at(instant: crate::time::Instant) -> Self {
        match now() {
            None => Self::Real(instant.into()),
            Some(now) => {
                let left = match instant.distance_to_now() {
                    (left, true) => u64::try_from(left.as_nanos()).unwrap_or(u64::MAX),
                    (_, false) => 0,
                };
                Self::Virtual(now.saturating_add(left))
            }
        }
    }

    /// How long a thread waits that goes on then, if there is such a time.
    pub(crate) fn patience(deadline: Option<Self>) -> Patience {
        match deadline {
            Some(_) => Patience::Timed,
            None => Patience::Forever,
        }
    }

    /// How long that is from now; nothing if it has passed.
    pub(crate) fn left(self) -> Duration {
        match self {
            Self::Real(instant) => instant.saturating_duration_since(Instant::now()),
            Self::Virtual(at) => {
                // Who is no longer under control has waited long enough.
                let now = now().unwrap_or(u64::MAX);
                Duration::from_nanos(at.saturating_sub(now))
            }
        }
    }

    /// Whether the calling thread, in this operation, has waited long enough. While a schedule is
    /// followed that is not a matter of time; [`Action::Wait`] then asks whether the thread does
    /// not wait once more.
    pub(crate) fn has_passed(self, action: Action, here: Option<CallSite>) -> bool {
        match self {
            Self::Real(_) => self.left().is_zero(),
            Self::Virtual(at) => is_time_up(at, action, here),
        }
    }
}

/// The run's time, if this thread is under control.
fn now() -> Option<u64> {
    with(|member| member.run().now())
}

/// The time that the calling thread would see, if it is under control.
pub(crate) fn clock() -> Option<Instant> {
    if rt::is_off() { None } else { with(|member| member.run().shown()) }
}

/// Whether time is up for the calling thread, which waits until then on the run's clock.
fn is_time_up(until: u64, action: Action, here: Option<CallSite>) -> bool {
    let passed = with(|member| {
        let state = member.run().lock();
        let decided = match &state.guide {
            Guide::Replay(replay) => {
                replay.gives_up(&state.slots[member.slot()].path, action, here)
            }
            _ => None,
        };
        decided.unwrap_or_else(|| until <= member.run().now())
    });
    // Who is no longer under control has waited long enough.
    passed.unwrap_or(true)
}
