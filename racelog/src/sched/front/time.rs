//! When a wait ends: by the clock of the world, or under control by that of the run.

use std::time::{Duration, Instant};

use super::attach::with;
use crate::rt::{Action, CallSite};
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

    /// At that time. Under control it is as far away as it is on the clock of the world, in whole
    /// milliseconds: what is left depends on how fast the program came here.
    #[cfg(any(feature = "lock_api", feature = "crossbeam"))]
    pub(crate) fn at(instant: Instant) -> Self {
        match now() {
            None => Self::Real(instant),
            Some(now) => {
                let left = instant.saturating_duration_since(Instant::now());
                let millis = u64::try_from(left.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
                Self::Virtual(now.saturating_add(millis.saturating_mul(1_000_000)))
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
