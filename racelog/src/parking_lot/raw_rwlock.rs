//! The raw reader-writer lock.
//!
//! In the trace it is two locks, `l` and `u`: see [the module](super). Each event is recorded while
//! the inner lock justifies it: what is taken after it is, what is given back before it is. Of the
//! two, `u` is taken first and given back last.

use std::panic::{Location, RefUnwindSafe};
use std::time::{Duration, Instant};

use ::parking_lot::RawRwLock as Inner;
use lock_api::{
    RawRwLock as _, RawRwLockRecursive as _, RawRwLockUpgrade as _, RawRwLockUpgradeDowngrade as _,
};

use super::look;
use crate::rt::{GuardedMeta, Here, LockMeta, Spin, with};
use crate::sched::{self, Action, Deadline, Intent};
use crate::sync::attempt;

/// The lock below an [`RwLock`](super::RwLock), as [`parking_lot::RawRwLock`].
pub struct RawRwLock {
    /// With the lock `l`.
    meta: GuardedMeta,
    /// The lock `u`.
    upgradable: LockMeta,
    inner: Inner,
    /// Where the writer or the upgradable reader took it.
    here: Spin<Here>,
}

impl RefUnwindSafe for RawRwLock {}

impl RawRwLock {
    fn key(&self) -> usize {
        self.meta.lock.key()
    }

    fn is_free(&self) -> bool {
        !self.inner.is_locked()
    }

    fn is_free_to_share(&self) -> bool {
        !self.inner.is_locked_exclusive()
    }

    fn is_free_to_upgrade_later(&self) -> bool {
        let taken = self.inner.try_lock_upgradable();
        if taken {
            // SAFETY: it was taken just now.
            unsafe { self.inner.unlock_upgradable() };
        }
        taken
    }

    /// # Safety
    ///
    /// There is an upgradable reader, and it does nothing meanwhile.
    unsafe fn has_no_other_reader(&self) -> bool {
        // SAFETY: whoever calls this speaks for the upgradable reader.
        let upgraded = unsafe { self.inner.try_upgrade() };
        if upgraded {
            // SAFETY: it is the writer since just now.
            unsafe { self.inner.downgrade_to_upgradable() };
        }
        upgraded
    }

    /// Under control, waits until the lock `is_free` or the deadline passes, if there is one; says
    /// whether the thread is under control.
    fn about_to_try(
        &self,
        action: Action,
        here: Here,
        deadline: Option<Deadline>,
        is_free: impl Fn() -> bool,
    ) -> bool {
        let waits = deadline.is_some();
        let intent = || Intent::new(action, self.key(), here);
        sched::block(intent, deadline, &|late| !waits || late || is_free())
    }

    fn writer_entered(&self, here: Here) {
        with(|log| {
            self.upgradable.acquired(log, here);
            self.meta.lock.acquired(log, here);
        });
        *self.here.lock() = here;
        self.meta.read(here);
    }

    fn writer_leaves(&self) {
        let here = *self.here.lock();
        sched::point(Action::Unlock, self.key(), here);
        self.meta.write(here);
        with(|log| {
            self.meta.lock.releasing(log, here);
            self.upgradable.releasing(log, here);
        });
    }

    fn reader_entered(&self, here: Here) {
        with(|log| self.meta.lock.read_acquired(log, here));
        self.meta.read(here);
    }

    fn reader_leaves(&self, here: Here) {
        sched::point(Action::ReadUnlock, self.key(), here);
        with(|log| self.meta.lock.read_releasing(log, here));
    }

    fn upgradable_entered(&self, here: Here) {
        with(|log| {
            self.upgradable.acquired(log, here);
            self.meta.lock.read_acquired(log, here);
        });
        *self.here.lock() = here;
        self.meta.read(here);
    }

    fn upgradable_leaves(&self) {
        let here = *self.here.lock();
        sched::point(Action::ReadUnlock, self.key(), here);
        with(|log| {
            self.meta.lock.read_releasing(log, here);
            self.upgradable.releasing(log, here);
        });
    }

    /// The upgradable reader has become the writer.
    fn upgraded(&self, here: Here) {
        with(|log| {
            self.meta.lock.read_releasing(log, here);
            self.meta.lock.acquired(log, here);
        });
        *self.here.lock() = here;
        self.meta.read(here);
    }

    /// The writer is about to become a reader, and keeps `u` so far.
    fn downgrading(&self, here: Here) {
        sched::point(Action::Look, self.key(), here);
        self.meta.write(here);
        with(|log| {
            self.meta.lock.releasing(log, here);
            self.meta.lock.read_acquired(log, here);
        });
    }

    fn attempt_write(
        &self,
        here: Here,
        deadline: Option<Deadline>,
        take: impl FnOnce(&Inner) -> bool,
    ) -> bool {
        let is_free = || self.is_free();
        let controlled = self.about_to_try(Action::TryLock, here, deadline, is_free);
        if if controlled { self.inner.try_lock_exclusive() } else { take(&self.inner) } {
            sched::took(self.key(), here);
            self.writer_entered(here);
            return true;
        }
        let taken = attempt(
            || self.inner.try_lock_exclusive().then(|| self.writer_entered(here)),
            || {
                with(|log| {
                    self.meta.lock.failed(log, here, false)
                        || self.upgradable.failed(log, here, false)
                })
            },
        );
        taken.is_some()
    }

    fn attempt_read(
        &self,
        here: Here,
        deadline: Option<Deadline>,
        take: impl FnOnce(&Inner) -> bool,
        again: impl Fn(&Inner) -> bool,
    ) -> bool {
        let is_free = || self.is_free_to_share();
        let controlled = self.about_to_try(Action::TryReadLock, here, deadline, is_free);
        if if controlled { again(&self.inner) } else { take(&self.inner) } {
            sched::took(self.key(), here);
            self.reader_entered(here);
            return true;
        }
        let taken = attempt(
            || again(&self.inner).then(|| self.reader_entered(here)),
            || with(|log| self.meta.lock.failed(log, here, true)),
        );
        taken.is_some()
    }

    fn attempt_upgradable(
        &self,
        here: Here,
        deadline: Option<Deadline>,
        take: impl FnOnce(&Inner) -> bool,
    ) -> bool {
        let is_free = || self.is_free_to_upgrade_later();
        let controlled = self.about_to_try(Action::TryReadLock, here, deadline, is_free);
        if if controlled { self.inner.try_lock_upgradable() } else { take(&self.inner) } {
            sched::took(self.key(), here);
            self.upgradable_entered(here);
            return true;
        }
        let taken = attempt(
            || self.inner.try_lock_upgradable().then(|| self.upgradable_entered(here)),
            || with(|log| self.upgradable.failed(log, here, false)),
        );
        taken.is_some()
    }

    /// # Safety
    ///
    /// The calling thread is the upgradable reader.
    unsafe fn attempt_upgrade(
        &self,
        here: Here,
        deadline: Option<Deadline>,
        upgrade: impl FnOnce(&Inner) -> bool,
    ) -> bool {
        // SAFETY: the calling thread is the upgradable reader, and waits while this is asked.
        let is_free = || unsafe { self.has_no_other_reader() };
        let controlled = self.about_to_try(Action::TryLock, here, deadline, is_free);
        // SAFETY: the calling thread is the upgradable reader.
        let try_now = |inner: &Inner| unsafe { inner.try_upgrade() };
        if if controlled { try_now(&self.inner) } else { upgrade(&self.inner) } {
            self.upgraded(here);
            return true;
        }
        let taken = attempt(
            // SAFETY: the calling thread is the upgradable reader.
            || unsafe { self.inner.try_upgrade() }.then(|| self.upgraded(here)),
            || with(|log| self.meta.lock.upgrade_failed(log, here)),
        );
        taken.is_some()
    }
}

// SAFETY: the lock is taken and given back as the inner one is, which keeps writers alone.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: Self = Self {
        meta: GuardedMeta::new(),
        upgradable: LockMeta::new(),
        inner: Inner::INIT,
        here: Spin::new(None),
    };

    type GuardMarker = <Inner as lock_api::RawRwLock>::GuardMarker;

    #[track_caller]
    fn lock_shared(&self) {
        let here = Some(Location::caller());
        sched::block_on(Action::ReadLock, self.key(), here, || self.is_free_to_share());
        self.inner.lock_shared();
        self.reader_entered(here);
    }

    #[track_caller]
    fn try_lock_shared(&self) -> bool {
        let here = Some(Location::caller());
        self.attempt_read(here, None, Inner::try_lock_shared, Inner::try_lock_shared)
    }

    unsafe fn unlock_shared(&self) {
        self.reader_leaves(None);
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock_shared() };
    }

    #[track_caller]
    fn lock_exclusive(&self) {
        let here = Some(Location::caller());
        sched::block_on(Action::Lock, self.key(), here, || self.is_free());
        self.inner.lock_exclusive();
        self.writer_entered(here);
    }

    #[track_caller]
    fn try_lock_exclusive(&self) -> bool {
        self.attempt_write(Some(Location::caller()), None, Inner::try_lock_exclusive)
    }

    unsafe fn unlock_exclusive(&self) {
        self.writer_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock_exclusive() };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        let here = Some(Location::caller());
        sched::point(Action::Look, self.key(), here);
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

    #[track_caller]
    fn is_locked_exclusive(&self) -> bool {
        let here = Some(Location::caller());
        sched::point(Action::Look, self.key(), here);
        look(
            || self.inner.is_locked_exclusive(),
            |locked| {
                with(|log| match locked {
                    true => self.meta.lock.failed(log, here, true),
                    false => self.meta.lock.found_free(log, here, true),
                })
            },
        )
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    #[track_caller]
    unsafe fn unlock_shared_fair(&self) {
        self.reader_leaves(Some(Location::caller()));
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock_shared_fair() };
    }

    unsafe fn unlock_exclusive_fair(&self) {
        self.writer_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock_exclusive_fair() };
    }

    #[track_caller]
    unsafe fn bump_shared(&self) {
        let here = Some(Location::caller());
        self.reader_leaves(here);
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.bump_shared() };
        self.reader_entered(here);
    }

    #[track_caller]
    unsafe fn bump_exclusive(&self) {
        self.writer_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.bump_exclusive() };
        self.writer_entered(Some(Location::caller()));
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade(&self) {
        let here = Some(Location::caller());
        self.downgrading(here);
        with(|log| self.upgradable.releasing(log, here));
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.downgrade() };
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_shared_for(timeout);
        self.attempt_read(here, Deadline::after(timeout), take, Inner::try_lock_shared)
    }

    #[track_caller]
    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_shared_until(timeout);
        self.attempt_read(here, Some(Deadline::at(timeout)), take, Inner::try_lock_shared)
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_exclusive_for(timeout);
        self.attempt_write(here, Deadline::after(timeout), take)
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_exclusive_until(timeout);
        self.attempt_write(here, Some(Deadline::at(timeout)), take)
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[track_caller]
    fn lock_shared_recursive(&self) {
        let here = Some(Location::caller());
        sched::block_on(Action::ReadLock, self.key(), here, || self.is_free_to_share());
        self.inner.lock_shared_recursive();
        self.reader_entered(here);
    }

    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        let here = Some(Location::caller());
        let take = Inner::try_lock_shared_recursive;
        self.attempt_read(here, None, take, take)
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    #[track_caller]
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_shared_recursive_for(timeout);
        self.attempt_read(here, Deadline::after(timeout), take, Inner::try_lock_shared_recursive)
    }

    #[track_caller]
    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_shared_recursive_until(timeout);
        self.attempt_read(here, Some(Deadline::at(timeout)), take, Inner::try_lock_shared_recursive)
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    #[track_caller]
    fn lock_upgradable(&self) {
        let here = Some(Location::caller());
        sched::block_on(Action::ReadLock, self.key(), here, || self.is_free_to_upgrade_later());
        self.inner.lock_upgradable();
        self.upgradable_entered(here);
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> bool {
        self.attempt_upgradable(Some(Location::caller()), None, Inner::try_lock_upgradable)
    }

    unsafe fn unlock_upgradable(&self) {
        self.upgradable_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock_upgradable() };
    }

    #[track_caller]
    unsafe fn upgrade(&self) {
        let here = Some(Location::caller());
        // SAFETY: the calling thread is the upgradable reader, and waits while this is asked.
        let is_free = || unsafe { self.has_no_other_reader() };
        sched::block(|| Intent::new(Action::TryLock, self.key(), here), None, &|_| is_free());
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.inner.upgrade() };
        self.upgraded(here);
    }

    #[track_caller]
    unsafe fn try_upgrade(&self) -> bool {
        let here = Some(Location::caller());
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.attempt_upgrade(here, None, |inner| inner.try_upgrade()) }
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    unsafe fn unlock_upgradable_fair(&self) {
        self.upgradable_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock_upgradable_fair() };
    }

    #[track_caller]
    unsafe fn bump_upgradable(&self) {
        self.upgradable_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.bump_upgradable() };
        self.upgradable_entered(Some(Location::caller()));
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade_upgradable(&self) {
        let here = Some(Location::caller());
        with(|log| self.upgradable.releasing(log, here));
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.inner.downgrade_upgradable() };
    }

    #[track_caller]
    unsafe fn downgrade_to_upgradable(&self) {
        self.downgrading(Some(Location::caller()));
        // SAFETY: the caller is the writer.
        unsafe { self.inner.downgrade_to_upgradable() };
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    #[track_caller]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_upgradable_for(timeout);
        self.attempt_upgradable(here, Deadline::after(timeout), take)
    }

    #[track_caller]
    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        let here = Some(Location::caller());
        let take = |inner: &Inner| inner.try_lock_upgradable_until(timeout);
        self.attempt_upgradable(here, Some(Deadline::at(timeout)), take)
    }

    #[track_caller]
    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(Location::caller()), Deadline::after(timeout));
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.attempt_upgrade(here, deadline, |inner| inner.try_upgrade_for(timeout)) }
    }

    #[track_caller]
    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(Location::caller()), Some(Deadline::at(timeout)));
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.attempt_upgrade(here, deadline, |inner| inner.try_upgrade_until(timeout)) }
    }
}
