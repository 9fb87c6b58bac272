//! The raw mutexes.

use std::panic::{Location, RefUnwindSafe};
use std::time::{Duration, Instant};

use ::parking_lot::RawMutex as Inner;
use lock_api::{RawMutex as _, RawMutexFair as _};

use super::look;
use crate::rt::{GuardedMeta, Here, Spin, with};
use crate::sched::{self, Action, Deadline, Intent};
use crate::sync::attempt;

/// The lock below a [`Mutex`](super::Mutex), as [`parking_lot::RawMutex`].
pub struct RawMutex {
    pub(super) meta: GuardedMeta,
    pub(super) inner: Inner,
    /// Where the holder took it.
    here: Spin<Here>,
}

/// The lock below a [`FairMutex`](super::FairMutex), as
/// [`parking_lot::RawFairMutex`].
pub struct RawFairMutex(RawMutex);

impl RefUnwindSafe for RawMutex {}

impl RawMutex {
    /// The calling thread has the lock, and that is recorded.
    pub(super) fn entered(&self, here: Here) {
        *self.here.lock() = here;
        self.meta.read(here);
    }

    fn taken(&self, here: Here) {
        with(|log| self.meta.lock.acquired(log, here));
        self.entered(here);
    }

    pub(super) fn is_free(&self) -> bool {
        !self.inner.is_locked()
    }

    fn giving_back(&self) {
        let here = *self.here.lock();
        sched::point(Action::Unlock, self.meta.lock.key(), here);
        self.meta.write(here);
        with(|log| self.meta.lock.releasing(log, here));
    }

    /// Takes the lock if `take` does, which gives up at the deadline.
    fn attempt(
        &self,
        here: Here,
        deadline: Option<Deadline>,
        take: impl FnOnce(&Inner) -> bool,
    ) -> bool {
        let key = self.meta.lock.key();
        let intent = || Intent::new(Action::TryLock, key, here);
        let waits = deadline.is_some();
        let controlled = sched::block(intent, deadline, &|late| !waits || late || self.is_free());
        let taken = if controlled { self.inner.try_lock() } else { take(&self.inner) };
        if taken {
            sched::took(key, here);
            self.taken(here);
            return true;
        }
        let taken = attempt(
            || self.inner.try_lock().then(|| self.taken(here)),
            || with(|log| self.meta.lock.failed(log, here, false)),
        );
        taken.is_some()
    }
}

// SAFETY: the lock is taken and given back as the inner one is, which is exclusive.
unsafe impl lock_api::RawMutex for RawMutex {
    const INIT: Self = Self { meta: GuardedMeta::new(), inner: Inner::INIT, here: Spin::new(None) };

    type GuardMarker = <Inner as lock_api::RawMutex>::GuardMarker;

    #[track_caller]
    fn lock(&self) {
        let here = Some(Location::caller());
        sched::block_on(Action::Lock, self.meta.lock.key(), here, || self.is_free());
        self.inner.lock();
        self.taken(here);
    }

    #[track_caller]
    fn try_lock(&self) -> bool {
        self.attempt(Some(Location::caller()), None, Inner::try_lock)
    }

    unsafe fn unlock(&self) {
        self.giving_back();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock() };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        let here = Some(Location::caller());
        sched::point(Action::Look, self.meta.lock.key(), here);
        look(
            || self.inner.is_locked(),
            |locked| {
                with(|log| match locked {
                    true => self.meta.lock.failed(log, here, false),
                    false => self.meta.lock.found_free(log, here, false),
                })
            },
        )
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexFair for RawMutex {
    unsafe fn unlock_fair(&self) {
        self.giving_back();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock_fair() };
    }

    #[track_caller]
    unsafe fn bump(&self) {
        self.giving_back();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.bump() };
        self.taken(Some(Location::caller()));
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(Location::caller()), Deadline::after(timeout));
        self.attempt(here, deadline, |inner| inner.try_lock_for(timeout))
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(Location::caller()), Deadline::at(timeout));
        self.attempt(here, Some(deadline), |inner| inner.try_lock_until(timeout))
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutex for RawFairMutex {
    const INIT: Self = Self(RawMutex::INIT);

    type GuardMarker = <RawMutex as lock_api::RawMutex>::GuardMarker;

    #[track_caller]
    fn lock(&self) {
        self.0.lock();
    }

    #[track_caller]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock_fair() };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexFair for RawFairMutex {
    unsafe fn unlock_fair(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock_fair() };
    }

    #[track_caller]
    unsafe fn bump(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.bump() };
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexTimed for RawFairMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        self.0.try_lock_for(timeout)
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> bool {
        self.0.try_lock_until(timeout)
    }
}
