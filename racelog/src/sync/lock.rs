//! The engine of all locks: how a lock is taken, and what is recorded of that.
//!
//! Every operation runs on the lock of std or of another crate that a mirror holds, the *inner*
//! lock. An event is recorded while the inner lock justifies it: taking a lock after the inner lock
//! is taken, giving it back before the inner lock is.

use crate::rt::{self, CallSite, GuardedMeta, LockMeta, ThreadLog, with};
use crate::sched::{self, Action};
#[cfg(feature = "lock_api")]
use crate::sched::{Deadline, Intent};
use crate::trace::{Op, Patience};

/// How often a failed attempt is repeated before it is given up as not explainable.
const ATTEMPTS: usize = 1000;

/// What is recorded of a lock and of the data that it guards.
///
/// In the trace a lock with readers is two locks: one that writers share with readers, and before
/// it one of the writers' own, `W`. So a writer that becomes a reader can give the first back and
/// take it shared without letting another writer in between. A mutex has no readers: its `W` is
/// `()`.
pub(crate) struct LockRecord<W> {
    /// With the lock that writers share with readers.
    pub(crate) meta: GuardedMeta,
    /// Taken first and given back last.
    pub(crate) writers: W,
}

/// The lock of the trace that writers take among themselves, if there is one.
pub(crate) trait WriterLock {
    /// A lock that was never used.
    const NEW: Self;

    /// The calling thread, which would have waited that long, has taken the inner lock exclusively.
    fn acquired(&self, log: &ThreadLog, patience: Patience, here: Option<CallSite>);

    /// The calling thread is about to give the inner lock back.
    fn releasing(&self, log: &ThreadLog, here: Option<CallSite>);

    /// The calling thread found the inner lock taken. Records so if the trace knows that another
    /// thread has this one; false if it does not.
    #[cfg(feature = "lock_api")]
    fn failed(&self, log: &ThreadLog, here: Option<CallSite>) -> bool;
}

impl WriterLock for () {
    const NEW: Self = ();

    #[inline]
    fn acquired(&self, _: &ThreadLog, _: Patience, _: Option<CallSite>) {}

    #[inline]
    fn releasing(&self, _: &ThreadLog, _: Option<CallSite>) {}

    #[cfg(feature = "lock_api")]
    fn failed(&self, _: &ThreadLog, _: Option<CallSite>) -> bool {
        false
    }
}

impl WriterLock for LockMeta {
    const NEW: Self = Self::new();

    #[inline]
    fn acquired(&self, log: &ThreadLog, patience: Patience, here: Option<CallSite>) {
        self.acquired(log, patience, here);
    }

    #[inline]
    fn releasing(&self, log: &ThreadLog, here: Option<CallSite>) {
        self.releasing(log, here);
    }

    #[cfg(feature = "lock_api")]
    fn failed(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        self.failed(log, here, false)
    }
}

impl<W: WriterLock> LockRecord<W> {
    pub(crate) const fn new() -> Self {
        Self { meta: GuardedMeta::new(), writers: W::NEW }
    }

    /// The key of the lock under control.
    pub(crate) fn key(&self) -> usize {
        self.meta.lock.key()
    }

    /// The calling thread, which would have waited that long, has taken the inner lock exclusively.
    #[inline]
    pub(crate) fn acquired(&self, patience: Patience, here: Option<CallSite>) {
        with(|log| {
            self.writers.acquired(log, patience, here);
            self.meta.lock.acquired(log, patience, here);
        });
    }

    /// The calling thread is about to give the inner lock back, which it holds exclusively.
    #[inline]
    pub(crate) fn releasing(&self, here: Option<CallSite>) {
        with(|log| {
            self.meta.assert_no_loan(log);
            self.meta.lock.releasing(log, here);
            self.writers.releasing(log, here);
        });
    }
}

impl LockRecord<LockMeta> {
    /// The calling thread, which would have waited that long, has taken the inner lock shared.
    #[inline]
    pub(crate) fn read_acquired(&self, patience: Patience, here: Option<CallSite>) {
        with(|log| self.meta.lock.read_acquired(log, patience, here));
    }

    /// As [`Self::read_acquired`], of a lock that keeps readers out while a writer waits.
    #[inline]
    pub(crate) fn read_acquired_fairly(&self, patience: Patience, here: Option<CallSite>) {
        with(|log| {
            self.meta.is_fair(log);
            self.meta.lock.read_acquired(log, patience, here);
        });
    }

    /// The calling thread is about to give the inner lock back, which it holds shared.
    #[inline]
    pub(crate) fn read_releasing(&self, here: Option<CallSite>) {
        with(|log| self.meta.lock.read_releasing(log, here));
    }

    /// The calling thread, a writer, becomes a reader. It keeps the writers' own lock.
    pub(crate) fn downgrading(&self, here: Option<CallSite>) {
        with(|log| {
            self.meta.assert_no_loan(log);
            self.meta.lock.releasing(log, here);
            // No writer comes between, so it never waits.
            self.meta.lock.read_acquired(log, Patience::Try, here);
        });
    }

    /// The calling thread gives the writers' own lock back.
    pub(crate) fn writers_releasing(&self, here: Option<CallSite>) {
        with(|log| self.writers.releasing(log, here));
    }
}

/// One way to take a lock, such as exclusively or shared.
pub(crate) trait LockMode {
    /// What the inner lock hands out when it is taken.
    type Token;

    /// What the mirror hands out when it is taken.
    type Held;

    /// Taking the lock, under control.
    const LOCK: Action;

    /// Trying to take the lock, under control.
    const TRY_LOCK: Action;

    /// Whether threads that wait to take the lock exclusively come first.
    const AFTER_WRITERS: bool = false;

    /// The key of the lock under control.
    fn key(&self) -> usize;

    /// Whether the inner lock could be taken at once.
    fn is_free(&self) -> bool;

    /// Takes the inner lock, if that is possible at once.
    fn try_inner(&self) -> Option<Self::Token>;

    /// Records that the calling thread, which would have waited that long, has taken the lock.
    fn record(&self, token: &Self::Token, patience: Patience, here: Option<CallSite>);

    /// Records that the calling thread found the lock taken; false if the trace does not know by
    /// whom.
    fn record_failure(&self, log: &ThreadLog, here: Option<CallSite>) -> bool;

    /// The operation that takes the lock in the trace.
    fn operation(&self) -> Op;

    /// Records that the calling thread has to wait for the lock.
    #[cold]
    #[inline(never)]
    fn request(&self, here: Option<CallSite>) {
        with(|log| log.request(self.operation(), Patience::Forever, here));
    }

    /// The calling thread holds the lock from here on.
    fn hold(&self, token: Self::Token, here: Option<CallSite>) -> Self::Held;

    /// The scheduler is told that an attempt has succeeded.
    #[inline]
    fn took(&self, here: Option<CallSite>) {
        sched::took(self.key(), Self::LOCK == Action::ReadLock, here);
    }

    /// Takes the lock. `lock_inner` takes the inner lock, however long that takes.
    #[inline]
    fn lock(&self, here: Option<CallSite>, lock_inner: impl FnOnce() -> Self::Token) -> Self::Held {
        if rt::is_off() {
            return self.hold(lock_inner(), here);
        }
        let (how, request) = ((Self::LOCK, Self::AFTER_WRITERS), || self.request(here));
        sched::block_on_lock(how, self.key(), here, || self.is_free(), request);
        let token = self.try_inner().unwrap_or_else(|| {
            self.request(here);
            lock_inner()
        });
        self.record(&token, Patience::Forever, here);
        self.hold(token, here)
    }

    /// Takes the lock, if that is possible at once.
    fn try_lock(&self, here: Option<CallSite>) -> Option<Self::Held> {
        sched::point(Self::TRY_LOCK, self.key(), here);
        self.attempt(Patience::Try, here)
    }

    /// Takes a raw lock before the deadline; says whether it did. `lock_inner` takes the inner
    /// lock, or gives up at the deadline.
    #[cfg(feature = "lock_api")]
    fn lock_before(
        &self,
        here: Option<CallSite>,
        deadline: Option<Deadline>,
        lock_inner: impl FnOnce() -> bool,
    ) -> bool
    where
        Self: LockMode<Token = ()>,
    {
        let intent = || Intent::new(Self::TRY_LOCK, self.key(), here);
        let waits = deadline.is_some();
        let controlled = sched::block(intent, deadline, &|late| !waits || late || self.is_free());
        if !controlled && lock_inner() {
            self.succeed((), Patience::Timed, here);
            return true;
        }
        self.attempt(Patience::Timed, here).is_some()
    }

    /// Takes the lock, or records that it is taken.
    ///
    /// An attempt fails because another thread has the lock. That thread may not have recorded it
    /// yet: then the attempt is repeated, until it succeeds or can be recorded as failed. If the
    /// holder is not recorded at all, neither is the failure.
    fn attempt(&self, patience: Patience, here: Option<CallSite>) -> Option<Self::Held> {
        for _ in 0..ATTEMPTS {
            if let Some(token) = self.try_inner() {
                return Some(self.succeed(token, patience, here));
            }
            if with(|log| self.record_failure(log, here)) != Some(false) {
                return None;
            }
            std::thread::yield_now();
        }
        self.try_inner().map(|token| self.succeed(token, patience, here))
    }

    /// An attempt has succeeded.
    fn succeed(
        &self,
        token: Self::Token,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Self::Held {
        self.took(here);
        self.record(&token, patience, here);
        self.hold(token, here)
    }
}

/// Whether a lock is taken: asks `is_taken` until the answer can be recorded.
#[cfg(feature = "lock_api")]
pub(crate) fn look(
    lock: &LockMeta,
    shared: bool,
    here: Option<CallSite>,
    is_taken: impl Fn() -> bool,
) -> bool {
    sched::point(Action::Look, lock.key(), here);
    let mut found = is_taken();
    for _ in 0..ATTEMPTS {
        let recorded = with(|log| match found {
            true => lock.failed(log, here, shared),
            false => lock.found_free(log, here, shared),
        });
        if recorded != Some(false) {
            break;
        }
        std::thread::yield_now();
        found = is_taken();
    }
    found
}
