//! Mirror of [`std::sync::RwLock`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::rt::{self, GuardedMeta, Here, LockMeta, with};
use crate::sched::{self, Action};

/// A reader-writer lock, as [`std::sync::RwLock`].
///
/// What it guards is one variable of the trace. Writers take two locks there: one that all share
/// with readers, and before it one of their own. So a writer that becomes a reader can give the
/// first back and take it shared without letting another writer in between.
pub struct RwLock<T: ?Sized> {
    meta: GuardedMeta,
    writers: LockMeta,
    inner: std::sync::RwLock<T>,
}

/// Holds the lock shared, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: std::sync::RwLockReadGuard<'a, T>,
    here: Here,
}

/// Holds the lock exclusively, as [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// `None` only once the lock is downgraded.
    inner: Option<std::sync::RwLockWriteGuard<'a, T>>,
    here: Here,
    panicking: bool,
}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

// SAFETY: through a shared guard one comes to a `&T` and to what the recorder knows of the lock,
// which threads may share; never to the lock itself, which would ask for `T: Send`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// As [`std::sync::RwLock::new`].
    pub const fn new(value: T) -> Self {
        Self {
            meta: GuardedMeta::new(),
            writers: LockMeta::new(),
            inner: std::sync::RwLock::new(value),
        }
    }

    /// As [`std::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// As [`std::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let here = Some(Location::caller());
        if rt::is_off() {
            let guard = |inner| RwLockReadGuard { lock: self, inner, here };
            let poisoned = |poison: PoisonError<_>| PoisonError::new(guard(poison.into_inner()));
            return self.inner.read().map(guard).map_err(poisoned);
        }
        sched::block_on(Action::ReadLock, self.meta.lock.key(), here, || {
            !matches!(self.inner.try_read(), Err(TryLockError::WouldBlock))
        });
        match self.inner.read() {
            Ok(inner) => Ok(self.read_taken(inner, false, here)),
            Err(poison) => Err(self.read_taken_poisoned(poison, here)),
        }
    }

    /// As [`std::sync::RwLock::try_read`].
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let here = Some(Location::caller());
        sched::point(Action::TryReadLock, self.meta.lock.key(), here);
        let result = super::attempt(
            || match self.inner.try_read() {
                Ok(inner) => Some(Ok(self.read_taken(inner, false, here))),
                Err(TryLockError::Poisoned(poison)) => {
                    Some(Err(self.read_taken_poisoned(poison, here).into()))
                }
                Err(TryLockError::WouldBlock) => None,
            },
            || with(|log| self.meta.lock.failed(log, here, true)),
        );
        if result.is_some() {
            sched::took(self.meta.lock.key(), here);
        }
        result.unwrap_or(Err(TryLockError::WouldBlock))
    }

    /// As [`std::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let here = Some(Location::caller());
        sched::block_on(Action::Lock, self.meta.lock.key(), here, || {
            !matches!(self.inner.try_write(), Err(TryLockError::WouldBlock))
        });
        match self.inner.write() {
            Ok(inner) => Ok(self.write_taken(inner, false, here)),
            Err(poison) => Err(self.write_taken_poisoned(poison, here)),
        }
    }

    /// As [`std::sync::RwLock::try_write`].
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let here = Some(Location::caller());
        sched::point(Action::TryLock, self.meta.lock.key(), here);
        let result = super::attempt(
            || match self.inner.try_write() {
                Ok(inner) => Some(Ok(self.write_taken(inner, false, here))),
                Err(TryLockError::Poisoned(poison)) => {
                    Some(Err(self.write_taken_poisoned(poison, here).into()))
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

    /// As [`std::sync::RwLock::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        let here = Some(Location::caller());
        sched::point(Action::Look, self.meta.lock.key(), here);
        let poisoned = self.inner.is_poisoned();
        self.meta.looked(poisoned, here);
        poisoned
    }

    /// As [`std::sync::RwLock::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        let here = Some(Location::caller());
        sched::point(Action::Look, self.meta.lock.key(), here);
        let before = self.inner.is_poisoned();
        self.inner.clear_poison();
        self.meta.clears_poison(before, here);
    }

    /// As [`std::sync::RwLock::get_mut`].
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.meta.exclusive(Some(Location::caller()));
        self.inner.get_mut()
    }

    fn read_taken<'a>(
        &'a self,
        inner: std::sync::RwLockReadGuard<'a, T>,
        poisoned: bool,
        here: Here,
    ) -> RwLockReadGuard<'a, T> {
        with(|log| self.meta.lock.read_acquired(log, here));
        self.meta.found(poisoned, here);
        RwLockReadGuard { lock: self, inner, here }
    }

    fn read_taken_poisoned<'a>(
        &'a self,
        poison: PoisonError<std::sync::RwLockReadGuard<'a, T>>,
        here: Here,
    ) -> PoisonError<RwLockReadGuard<'a, T>> {
        PoisonError::new(self.read_taken(poison.into_inner(), true, here))
    }

    fn write_taken<'a>(
        &'a self,
        inner: std::sync::RwLockWriteGuard<'a, T>,
        poisoned: bool,
        here: Here,
    ) -> RwLockWriteGuard<'a, T> {
        with(|log| {
            self.writers.acquired(log, here);
            self.meta.lock.acquired(log, here);
        });
        self.meta.found(poisoned, here);
        let panicking = std::thread::panicking();
        RwLockWriteGuard { lock: self, inner: Some(inner), here, panicking }
    }

    fn write_taken_poisoned<'a>(
        &'a self,
        poison: PoisonError<std::sync::RwLockWriteGuard<'a, T>>,
        here: Here,
    ) -> PoisonError<RwLockWriteGuard<'a, T>> {
        PoisonError::new(self.write_taken(poison.into_inner(), true, here))
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a debugger prints is not what the program does: nothing is recorded.
        self.inner.fmt(f)
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// As [`std::sync::RwLockWriteGuard::downgrade`].
    #[track_caller]
    pub fn downgrade(mut guard: Self) -> RwLockReadGuard<'a, T> {
        let here = Some(Location::caller());
        let lock = guard.lock;
        sched::point(Action::Look, lock.meta.lock.key(), here);
        let inner = guard.inner.take().expect("a guard that the program has holds its lock");
        with(|log| {
            lock.meta.lock.releasing(log, here);
            lock.meta.lock.read_acquired(log, here);
            lock.writers.releasing(log, here);
        });
        RwLockReadGuard { lock, inner: std::sync::RwLockWriteGuard::downgrade(inner), here }
    }

    fn inner(&self) -> &T {
        self.inner.as_ref().expect("a guard that the program has holds its lock")
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.lock.meta.read(Some(Location::caller()));
        &self.inner
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        self.lock.meta.read(Some(Location::caller()));
        self.inner()
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.lock.meta.write(Some(Location::caller()));
        self.inner.as_mut().expect("a guard that the program has holds its lock")
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        if rt::is_off() {
            return;
        }
        sched::point(Action::ReadUnlock, self.lock.meta.lock.key(), self.here);
        with(|log| self.lock.meta.lock.read_releasing(log, self.here));
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        if self.inner.is_some() && !rt::is_off() {
            sched::point(Action::Unlock, self.lock.meta.lock.key(), self.here);
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
            with(|log| {
                self.lock.meta.lock.releasing(log, self.here);
                self.lock.writers.releasing(log, self.here);
            });
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self.inner).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self.inner).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}
