//! Readers that can become writers.
//!
//! The upgradable reader has the locks `u` and, shared, `l`. There is at most one, and no writer
//! beside it. A thread that upgrades or downgrades keeps `u` while `l` changes, so that no writer
//! comes between.

use std::time::{Duration, Instant};

use lock_api::{RawRwLockUpgrade, RawRwLockUpgradeDowngrade, RawRwLockUpgradeTimed};

use super::{RawRwLock, RecordedRaw};
use crate::rt::{CallSite, LockMeta, ThreadLog, with};
use crate::sched::{self, Action, Deadline, Intent};
use crate::sync::lock::LockMode;
use crate::trace::{Op, Patience};

impl<R> RecordedRaw<R, LockMeta> {
    /// The calling thread, which would have waited that long, has become the upgradable reader.
    fn upgradable_entered(&self, patience: Patience, here: Option<CallSite>) {
        with(|log| {
            self.record.writers.acquired(log, patience, here);
            self.record.meta.lock.read_acquired(log, patience, here);
        });
        self.record.meta.read(here);
    }

    /// The upgradable reader is about to give the lock back.
    fn upgradable_leaves(&self) {
        let here = *self.taken_at.lock();
        sched::point(Action::ReadUnlock, self.record.key(), here);
        with(|log| {
            self.record.meta.lock.read_releasing(log, here);
            self.record.writers.releasing(log, here);
        });
    }

    /// The upgradable reader, which would have waited that long, has become the writer.
    fn upgraded(&self, patience: Patience, here: Option<CallSite>) {
        with(|log| {
            self.record.meta.lock.read_releasing(log, here);
            self.record.meta.lock.acquired(log, patience, here);
        });
        self.record.meta.read(here);
    }
}

impl<R: RawRwLockUpgrade> RawRwLock<R> {
    fn upgradable(&self) -> UpgradableMode<'_, R> {
        UpgradableMode(&self.0)
    }
}

impl<R: RawRwLockUpgradeDowngrade> RawRwLock<R> {
    /// # Safety
    ///
    /// The calling thread is the upgradable reader while it uses the result.
    unsafe fn upgrading(&self) -> UpgradeMode<'_, R> {
        UpgradeMode(&self.0)
    }
}

/// Taking the lock as the upgradable reader.
struct UpgradableMode<'a, R>(&'a RecordedRaw<R, LockMeta>);

impl<R: RawRwLockUpgrade> LockMode for UpgradableMode<'_, R> {
    type Token = ();
    type Held = ();

    const LOCK: Action = Action::ReadLock;
    const TRY_LOCK: Action = Action::TryReadLock;

    fn key(&self) -> usize {
        self.0.record.key()
    }

    fn is_free(&self) -> bool {
        let taken = self.0.inner.try_lock_upgradable();
        if taken {
            // SAFETY: it was taken just now.
            unsafe { self.0.inner.unlock_upgradable() };
        }
        taken
    }

    fn try_inner(&self) -> Option<()> {
        self.0.inner.try_lock_upgradable().then_some(())
    }

    fn record(&self, (): &(), patience: Patience, here: Option<CallSite>) {
        self.0.upgradable_entered(patience, here);
    }

    fn record_failure(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        self.0.record.writers.failed(log, here, false)
    }

    fn operation(&self) -> Op {
        // The upgradable reader's own lock, which writers take, too.
        Op::Acquire(self.0.record.writers.id())
    }

    fn hold(&self, (): (), here: Option<CallSite>) {
        self.0.hold(here);
    }
}

/// Becoming the writer. The thread that has this is the upgradable reader.
struct UpgradeMode<'a, R>(&'a RecordedRaw<R, LockMeta>);

impl<R: RawRwLockUpgradeDowngrade> LockMode for UpgradeMode<'_, R> {
    type Token = ();
    type Held = ();

    const LOCK: Action = Action::TryLock;
    const TRY_LOCK: Action = Action::TryLock;

    fn key(&self) -> usize {
        self.0.record.key()
    }

    /// Whether there is no other reader. The upgradable reader waits while this is asked.
    fn is_free(&self) -> bool {
        let upgraded = self.try_inner().is_some();
        if upgraded {
            // SAFETY: the thread has just become the writer.
            unsafe { self.0.inner.downgrade_to_upgradable() };
        }
        upgraded
    }

    fn try_inner(&self) -> Option<()> {
        // SAFETY: the owner of `self` is the upgradable reader.
        unsafe { self.0.inner.try_upgrade() }.then_some(())
    }

    fn record(&self, (): &(), patience: Patience, here: Option<CallSite>) {
        self.0.upgraded(patience, here);
    }

    fn record_failure(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        self.0.record.meta.lock.upgrade_failed(log, here)
    }

    fn operation(&self) -> Op {
        Op::Acquire(self.0.record.meta.lock.id())
    }

    fn hold(&self, (): (), here: Option<CallSite>) {
        self.0.hold(here);
    }

    /// The scheduler knows already that the thread holds the lock.
    fn took(&self, _: Option<CallSite>) {}
}

// SAFETY: the lock is taken and given back as the inner one is, which has one upgradable reader at
// most.
unsafe impl<R: RawRwLockUpgradeDowngrade> RawRwLockUpgrade for RawRwLock<R> {
    #[track_caller]
    fn lock_upgradable(&self) {
        self.upgradable().lock(Some(CallSite::caller()), || self.0.inner.lock_upgradable());
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> bool {
        self.upgradable().try_lock(Some(CallSite::caller())).is_some()
    }

    unsafe fn unlock_upgradable(&self) {
        self.0.upgradable_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock_upgradable() };
    }

    #[track_caller]
    unsafe fn upgrade(&self) {
        let here = Some(CallSite::caller());
        // SAFETY: the caller is the upgradable reader.
        let mode = unsafe { self.upgrading() };
        sched::block(|| Intent::new(Action::Upgrade, mode.key(), here), None, &|_| mode.is_free());
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.inner.upgrade() };
        self.0.upgraded(Patience::Forever, here);
        self.0.hold(here);
    }

    #[track_caller]
    unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: the caller is the upgradable reader.
        let mode = unsafe { self.upgrading() };
        mode.try_lock(Some(CallSite::caller())).is_some()
    }
}

// SAFETY: as above.
unsafe impl<R> lock_api::RawRwLockUpgradeFair for RawRwLock<R>
where
    R: RawRwLockUpgradeDowngrade + lock_api::RawRwLockUpgradeFair,
{
    unsafe fn unlock_upgradable_fair(&self) {
        self.0.upgradable_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.unlock_upgradable_fair() };
    }

    #[track_caller]
    unsafe fn bump_upgradable(&self) {
        self.0.upgradable_leaves();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.inner.bump_upgradable() };
        let here = Some(CallSite::caller());
        self.0.upgradable_entered(Patience::Forever, here);
        self.0.hold(here);
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeDowngrade> RawRwLockUpgradeDowngrade for RawRwLock<R> {
    #[track_caller]
    unsafe fn downgrade_upgradable(&self) {
        self.0.record.writers_releasing(Some(CallSite::caller()));
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.inner.downgrade_upgradable() };
    }

    #[track_caller]
    unsafe fn downgrade_to_upgradable(&self) {
        self.0.downgrading(Some(CallSite::caller()));
        // SAFETY: the caller is the writer.
        unsafe { self.0.inner.downgrade_to_upgradable() };
    }
}

// SAFETY: as above.
unsafe impl<R> RawRwLockUpgradeTimed for RawRwLock<R>
where
    R: RawRwLockUpgradeDowngrade,
    R: RawRwLockUpgradeTimed<Duration = Duration, Instant = Instant>,
{
    #[track_caller]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::after(timeout));
        let lock = || self.0.inner.try_lock_upgradable_for(timeout);
        self.upgradable().lock_before(here, deadline, lock)
    }

    #[track_caller]
    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Some(Deadline::at(timeout.into())));
        let lock = || self.0.inner.try_lock_upgradable_until(timeout);
        self.upgradable().lock_before(here, deadline, lock)
    }

    #[track_caller]
    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Deadline::after(timeout));
        // SAFETY: the caller is the upgradable reader.
        let upgrade = || unsafe { self.0.inner.try_upgrade_for(timeout) };
        // SAFETY: as above.
        unsafe { self.upgrading() }.lock_before(here, deadline, upgrade)
    }

    #[track_caller]
    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        let (here, deadline) = (Some(CallSite::caller()), Some(Deadline::at(timeout.into())));
        // SAFETY: the caller is the upgradable reader.
        let upgrade = || unsafe { self.0.inner.try_upgrade_until(timeout) };
        // SAFETY: as above.
        unsafe { self.upgrading() }.lock_before(here, deadline, upgrade)
    }
}
