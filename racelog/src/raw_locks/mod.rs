//! Recorded raw locks for all locks that are built on [`lock_api`]: the mirrors of other crates, and
//! what programs build themselves, by [`crate::lock_api`].
//!
//! [`RawMutex<R>`] and [`RawRwLock<R>`] wrap a raw lock `R` of such a crate, which does the
//! locking, and have the traits of `lock_api` that `R` has. A mirror names them, as
//! [`parking_lot`](crate::parking_lot) does, and stands `lock_api`'s own types around them.
//!
//! The guards of `lock_api` do not say what they are used for. So taking a lock is recorded as
//! reading the data at once, and giving an exclusive lock back as reading and writing it before.

mod mutex;
mod rwlock;
mod upgrade;

use crate::rt::{CallSite, LockMeta, Spin, ThreadLog};
use crate::sched::{self, Action};
use crate::sync::lock::{LockMode, LockRecord, WriterLock};
use crate::trace::{Op, Patience};

pub use mutex::RawMutex;
pub use rwlock::RawRwLock;

/// A raw lock of another crate, and what is recorded of it.
pub(crate) struct RecordedRaw<R, W> {
    pub(crate) record: LockRecord<W>,
    pub(crate) inner: R,
    /// Where the thread took the lock that holds it exclusively, or is the upgradable reader.
    taken_at: Spin<Option<CallSite>>,
}

impl<R, W: WriterLock> RecordedRaw<R, W> {
    const fn new(inner: R) -> Self {
        Self { record: LockRecord::new(), inner, taken_at: Spin::new(None) }
    }

    /// The calling thread holds the lock from here on, exclusively or as the upgradable reader.
    fn hold(&self, here: Option<CallSite>) {
        *self.taken_at.lock() = here;
    }

    /// The calling thread, whose taking of the lock is recorded, has it exclusively.
    pub(crate) fn entered(&self, here: Option<CallSite>) {
        self.hold(here);
        self.record.meta.read(here);
    }

    /// The calling thread has taken the lock exclusively.
    fn exclusive_entered(&self, here: Option<CallSite>) {
        self.record.acquired(Patience::Forever, here);
        self.entered(here);
    }

    /// The calling thread is about to give the lock back, which it holds exclusively.
    fn exclusive_leaves(&self) {
        let here = *self.taken_at.lock();
        sched::point(Action::Unlock, self.record.key(), here);
        self.record.meta.write(here);
        self.record.releasing(here);
    }
}

/// A raw lock that can be taken exclusively. `W` tells mutexes and reader-writer locks apart.
pub(crate) trait ExclusiveLock<W> {
    /// Takes the lock, if that is possible at once.
    fn try_lock(&self) -> bool;

    /// Whether any thread holds the lock.
    fn is_locked(&self) -> bool;
}

impl<R: lock_api::RawMutex> ExclusiveLock<()> for R {
    fn try_lock(&self) -> bool {
        lock_api::RawMutex::try_lock(self)
    }

    fn is_locked(&self) -> bool {
        lock_api::RawMutex::is_locked(self)
    }
}

impl<R: lock_api::RawRwLock> ExclusiveLock<LockMeta> for R {
    fn try_lock(&self) -> bool {
        self.try_lock_exclusive()
    }

    fn is_locked(&self) -> bool {
        lock_api::RawRwLock::is_locked(self)
    }
}

/// Taking a lock exclusively.
struct ExclusiveMode<'a, R, W>(&'a RecordedRaw<R, W>);

impl<R: ExclusiveLock<W>, W: WriterLock> LockMode for ExclusiveMode<'_, R, W> {
    type Token = ();
    type Held = ();

    const LOCK: Action = Action::Lock;
    const TRY_LOCK: Action = Action::TryLock;

    fn key(&self) -> usize {
        self.0.record.key()
    }

    fn is_free(&self) -> bool {
        !self.0.inner.is_locked()
    }

    fn try_inner(&self) -> Option<()> {
        self.0.inner.try_lock().then_some(())
    }

    #[inline]
    fn record(&self, (): &(), patience: Patience, here: Option<CallSite>) {
        self.0.record.acquired(patience, here);
        self.0.record.meta.read(here);
    }

    fn record_failure(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        self.0.record.meta.lock.failed(log, here, false) || self.0.record.writers.failed(log, here)
    }

    fn operation(&self) -> Op {
        Op::Acquire(self.0.record.meta.lock.id())
    }

    fn hold(&self, (): (), here: Option<CallSite>) {
        self.0.hold(here);
    }
}
