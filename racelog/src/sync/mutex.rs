//! Mirror of [`std::sync::Mutex`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::rt::{self, GuardedMeta, Here, with};
use crate::sched::{self, Action};

/// A mutual exclusion primitive, as [`std::sync::Mutex`].
///
/// What it guards is one variable of the trace: reading through the guard is a read, and writing
/// through it a read and a write.
pub struct Mutex<T: ?Sized> {
    pub(super) meta: GuardedMeta,
    pub(super) inner: std::sync::Mutex<T>,
}

/// Holds the lock, as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    /// `None` only while a condvar has the lock.
    pub(super) inner: Option<std::sync::MutexGuard<'a, T>>,
    /// Where the lock was taken.
    pub(super) here: Here,
    panicking: bool,
}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

// SAFETY: through a shared guard one comes to a `&T` and to what the recorder knows of the lock,
// which threads may share; never to the lock itself, which would ask for `T: Send`.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// As [`std::sync::Mutex::new`].
    pub const fn new(value: T) -> Self {
        Self { meta: GuardedMeta::new(), inner: std::sync::Mutex::new(value) }
    }

    /// As [`std::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As [`std::sync::Mutex::lock`].
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let here = Some(Location::caller());
        if rt::is_off() {
            let guard = |inner| self.guard(inner, here);
            return self
                .inner
                .lock()
                .map(guard)
                .map_err(|poison| PoisonError::new(self.guard(poison.into_inner(), here)));
        }
        sched::block_on(Action::Lock, self.meta.lock.key(), here, || self.is_free());
        match self.inner.lock() {
            Ok(inner) => Ok(self.taken(inner, false, here)),
            Err(poison) => Err(self.taken_poisoned(poison, here)),
        }
    }

    /// As [`std::sync::Mutex::try_lock`].
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let here = Some(Location::caller());
        sched::point(Action::TryLock, self.meta.lock.key(), here);
        let result = super::attempt(
            || match self.inner.try_lock() {
                Ok(inner) => Some(Ok(self.taken(inner, false, here))),
                Err(TryLockError::Poisoned(poison)) => {
                    Some(Err(self.taken_poisoned(poison, here).into()))
                }
                Err(TryLockError::WouldBlock) => None,
            },
            || with(|log| self.meta.lock.failed(log, here, false)),
        );
        if result.is_some() {
            sched::took(self.meta.lock.key(), here);
        }
        result.unwrap_or(Err(TryLockError::WouldBlock))
    }

    /// Whether nobody holds the lock.
    pub(super) fn is_free(&self) -> bool {
        !matches!(self.inner.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// As [`std::sync::Mutex::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        let here = Some(Location::caller());
        sched::point(Action::Look, self.meta.lock.key(), here);
        let poisoned = self.inner.is_poisoned();
        self.meta.looked(poisoned, here);
        poisoned
    }

    /// As [`std::sync::Mutex::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        let here = Some(Location::caller());
        sched::point(Action::Look, self.meta.lock.key(), here);
        let before = self.inner.is_poisoned();
        self.inner.clear_poison();
        self.meta.clears_poison(before, here);
    }

    /// As [`std::sync::Mutex::get_mut`].
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.meta.exclusive(Some(Location::caller()));
        self.inner.get_mut()
    }

    pub(super) fn taken<'a>(
        &'a self,
        inner: std::sync::MutexGuard<'a, T>,
        poisoned: bool,
        here: Here,
    ) -> MutexGuard<'a, T> {
        with(|log| self.meta.lock.acquired(log, here));
        self.meta.found(poisoned, here);
        self.guard(inner, here)
    }

    /// A guard for somebody whose taking of the lock is recorded.
    pub(super) fn guard<'a>(
        &'a self,
        inner: std::sync::MutexGuard<'a, T>,
        here: Here,
    ) -> MutexGuard<'a, T> {
        MutexGuard { lock: self, inner: Some(inner), here, panicking: std::thread::panicking() }
    }

    pub(super) fn taken_poisoned<'a>(
        &'a self,
        poison: PoisonError<std::sync::MutexGuard<'a, T>>,
        here: Here,
    ) -> PoisonError<MutexGuard<'a, T>> {
        PoisonError::new(self.taken(poison.into_inner(), true, here))
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a debugger prints is not what the program does: nothing is recorded.
        self.inner.fmt(f)
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    fn inner(&self) -> &T {
        self.inner.as_ref().expect("a guard that the program has holds its lock")
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.lock.meta.read(Some(Location::caller()));
        self.inner()
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.lock.meta.write(Some(Location::caller()));
        self.inner.as_mut().expect("a guard that the program has holds its lock")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.inner.is_some() && !rt::is_off() {
            sched::point(Action::Unlock, self.lock.meta.lock.key(), self.here);
            // As std does: whoever began to panic while holding the lock poisons it.
            let poisons = !self.panicking && std::thread::panicking();
            if poisons && sched::is_leaving() {
                // The program did not panic, and the next run may use the same lock.
                self.inner = None;
                self.lock.inner.clear_poison();
                return;
            }
            if poisons {
                self.lock.meta.poisons(self.lock.inner.is_poisoned(), self.here);
            }
            with(|log| self.lock.meta.lock.releasing(log, self.here));
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}
