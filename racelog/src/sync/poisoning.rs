//! The engine of [`Mutex`](super::Mutex) and [`RwLock`](super::RwLock): locks of std, which a
//! panic poisons.

use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use std::thread;

use super::lock::{LockMode, LockRecord, WriterLock};
use crate::rt::{self, CallSite, Expected, LockMeta, ThreadLog};
use crate::sched::{self, Action};
use crate::trace::{Op, Patience};

/// A lock of std that a panic poisons.
pub(super) trait StdLock {
    /// Holds it exclusively.
    type Guard<'a>: Deref
    where
        Self: 'a;

    /// Takes it exclusively.
    fn lock(&self) -> LockResult<Self::Guard<'_>>;

    /// Takes it exclusively, if that is possible at once.
    fn try_lock(&self) -> TryLockResult<Self::Guard<'_>>;

    /// Whether it is poisoned.
    fn is_poisoned(&self) -> bool;

    /// It is not poisoned from here on.
    fn clear_poison(&self);
}

macro_rules! std_locks {
    ($($Lock:ident is held by $Guard:ident, by $lock:ident or $try_lock:ident;)*) => {$(
        impl<T: ?Sized> StdLock for std::sync::$Lock<T> {
            type Guard<'a>
                = std::sync::$Guard<'a, T>
            where
                T: 'a;

            #[inline]
            fn lock(&self) -> LockResult<Self::Guard<'_>> {
                self.$lock()
            }

            #[inline]
            fn try_lock(&self) -> TryLockResult<Self::Guard<'_>> {
                self.$try_lock()
            }

            fn is_poisoned(&self) -> bool {
                self.is_poisoned()
            }

            fn clear_poison(&self) {
                self.clear_poison();
            }
        }
    )*};
}

std_locks! {
    Mutex is held by MutexGuard, by lock or try_lock;
    RwLock is held by RwLockWriteGuard, by write or try_write;
}

/// A lock of std, and what is recorded of it.
pub(super) struct RecordedLock<L: ?Sized, W> {
    pub(super) record: LockRecord<W>,
    pub(super) inner: L,
}

// As std's locks: a panic poisons them. What is recorded of one is right after a panic as before.
impl<L: ?Sized, W> UnwindSafe for RecordedLock<L, W> {}
impl<L: ?Sized, W> RefUnwindSafe for RecordedLock<L, W> {}

impl<L, W: WriterLock> RecordedLock<L, W> {
    pub(super) const fn new(inner: L) -> Self {
        Self { record: LockRecord::new(), inner }
    }
}

impl<L: StdLock + ?Sized, W: WriterLock> RecordedLock<L, W> {
    /// Takes the lock exclusively.
    #[inline]
    pub(super) fn lock(&self, here: Option<CallSite>) -> LockResult<HeldExclusively<'_, L, W>> {
        ExclusiveMode(self).lock(here, || self.inner.lock())
    }

    /// Takes the lock exclusively, if that is possible at once.
    pub(super) fn try_lock(
        &self,
        here: Option<CallSite>,
    ) -> TryLockResult<HeldExclusively<'_, L, W>> {
        try_result(ExclusiveMode(self).try_lock(here))
    }

    /// Whether the lock could be taken exclusively at once.
    pub(super) fn is_free(&self) -> bool {
        ExclusiveMode(self).is_free()
    }

    /// The program asks whether the lock is poisoned.
    pub(super) fn is_poisoned(&self, here: Option<CallSite>) -> bool {
        sched::point(Action::Look, self.record.key(), here);
        let poisoned = self.inner.is_poisoned();
        self.record.meta.looked(poisoned, here);
        poisoned
    }

    /// The program says that the lock is not poisoned any more.
    pub(super) fn clear_poison(&self, here: Option<CallSite>) {
        sched::point(Action::Look, self.record.key(), here);
        let before = self.inner.is_poisoned();
        self.inner.clear_poison();
        self.record.meta.clears_poison(before, here);
    }
}

/// Taking a lock exclusively.
struct ExclusiveMode<'a, L: ?Sized, W>(&'a RecordedLock<L, W>);

/// The guard of a lock that is taken exclusively.
pub(super) type HeldExclusively<'a, L, W> = ExclusiveGuard<'a, L, W, <L as StdLock>::Guard<'a>>;

impl<'a, L: StdLock + ?Sized, W: WriterLock> LockMode for ExclusiveMode<'a, L, W> {
    type Token = LockResult<L::Guard<'a>>;
    type Held = LockResult<HeldExclusively<'a, L, W>>;

    const LOCK: Action = Action::Lock;
    const TRY_LOCK: Action = Action::TryLock;

    fn key(&self) -> usize {
        self.0.record.key()
    }

    fn is_free(&self) -> bool {
        self.try_inner().is_some()
    }

    fn try_inner(&self) -> Option<Self::Token> {
        without_waiting(self.0.inner.try_lock())
    }

    #[inline]
    fn record(&self, token: &Self::Token, patience: Patience, here: Option<CallSite>) {
        self.0.record.acquired(patience, here);
        self.0.record.meta.found(token.is_err(), here);
    }

    fn record_failure(&self, log: &ThreadLog, here: Option<CallSite>) -> bool {
        self.0.record.meta.lock.failed(log, here, false)
    }

    fn operation(&self) -> Op {
        Op::Acquire(self.0.record.meta.lock.id())
    }

    #[inline]
    fn hold(&self, token: Self::Token, here: Option<CallSite>) -> Self::Held {
        map_guard(token, |inner| ExclusiveGuard::new(self.0, inner, here))
    }
}

/// Makes a guard of ours of a guard of std, whether or not its lock is poisoned.
#[inline]
pub(super) fn map_guard<G, H>(result: LockResult<G>, map: impl FnOnce(G) -> H) -> LockResult<H> {
    match result {
        Ok(guard) => Ok(map(guard)),
        Err(poison) => Err(PoisonError::new(map(poison.into_inner()))),
    }
}

/// As [`map_guard`], of an attempt.
pub(super) fn map_try_guard<G, H>(
    result: TryLockResult<G>,
    map: impl FnOnce(G) -> H,
) -> TryLockResult<H> {
    try_result(without_waiting(result).map(|result| map_guard(result, map)))
}

/// What std hands out that did not have to wait; `None` if it would have had to.
pub(super) fn without_waiting<G>(result: TryLockResult<G>) -> Option<LockResult<G>> {
    match result {
        Ok(guard) => Some(Ok(guard)),
        Err(TryLockError::Poisoned(poison)) => Some(Err(poison)),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The result of an attempt, as std gives it.
pub(super) fn try_result<G>(held: Option<LockResult<G>>) -> TryLockResult<G> {
    match held {
        Some(Ok(guard)) => Ok(guard),
        Some(Err(poison)) => Err(poison.into()),
        None => Err(TryLockError::WouldBlock),
    }
}

/// Holds a lock exclusively. If its thread begins to panic meanwhile, the lock is poisoned.
pub(super) struct ExclusiveGuard<'a, L: StdLock + ?Sized, W: WriterLock, G: Deref> {
    lock: &'a RecordedLock<L, W>,
    /// The guard of std. `None` once the lock is given back or downgraded.
    inner: Option<G>,
    /// Where the lock was taken.
    here: Option<CallSite>,
    /// Whether the thread panicked when it took the lock.
    panicking: bool,
    /// Whether instrumented code has it in sight as long as it is there: then the end of it decides
    /// nothing.
    in_sight: bool,
}

impl<'a, L: StdLock + ?Sized, W: WriterLock, G: Deref> ExclusiveGuard<'a, L, W, G> {
    /// A guard of a thread whose taking of the lock is recorded.
    pub(super) fn new(lock: &'a RecordedLock<L, W>, inner: G, here: Option<CallSite>) -> Self {
        Self { lock, inner: Some(inner), here, panicking: thread::panicking(), in_sight: false }
    }

    /// The lock.
    pub(super) fn lock(&self) -> &'a RecordedLock<L, W> {
        self.lock
    }

    /// The guard of std, which is all that has to be given back from here on. Before anything is
    /// recorded of that, [`end_loan`](Self::end_loan) has been called.
    pub(super) fn into_inner(mut self) -> G {
        self.inner.take().expect(HOLDS)
    }

    /// The lock is about to be given back: what was written by the guard comes before that, and
    /// before others may have their turns.
    #[inline]
    pub(super) fn end_loan(&self) {
        self.lock.record.meta.end_of_loan(self.peek());
    }
}

/// Why a guard has one of std's.
const HOLDS: &str = "a guard that the program has holds its lock";

impl<L: StdLock + ?Sized, W: WriterLock, G: Deref> ExclusiveGuard<'_, L, W, G> {
    /// The data; that it is reached is not recorded.
    pub(super) fn peek(&self) -> &G::Target {
        self.inner.as_ref().expect(HOLDS)
    }

    /// The data, to read it.
    #[inline]
    pub(super) fn read(&self, here: Option<CallSite>) -> &G::Target {
        let data = self.peek();
        self.lock.record.meta.read_data(data, here);
        data
    }

    /// The data, to write it.
    #[inline]
    pub(super) fn write(&mut self, here: Option<CallSite>) -> &mut G::Target
    where
        G: DerefMut,
    {
        let data = &mut **self.inner.as_mut().expect(HOLDS);
        self.lock.record.meta.lend_data(data, here)
    }

    /// Instrumented code has the guard in sight as long as it is there.
    pub(super) fn stays_in_sight(&mut self) {
        self.in_sight = true;
    }
}

impl<L: StdLock + ?Sized, W: WriterLock, G: Deref> Drop for ExclusiveGuard<'_, L, W, G> {
    fn drop(&mut self) {
        if self.inner.is_none() || rt::is_off() {
            return;
        }
        self.end_loan();
        let _expected = Releasing::expected(self.in_sight, self.here);
        let RecordedLock { record, inner } = self.lock;
        sched::point(Action::Unlock, record.key(), self.here);
        // As std does: a thread that began to panic while it held the lock poisons it.
        let poisons = !self.panicking && thread::panicking();
        if poisons && sched::is_leaving() {
            // The program did not panic, and the next run may use the same lock.
            self.inner = None;
            inner.clear_poison();
            return;
        }
        if poisons {
            record.meta.poisons(inner.is_poisoned(), self.here);
        }
        record.releasing(self.here);
    }
}

/// A lock that instrumented code has in sight is given back, which decides nothing.
struct Releasing(Expected);

impl Releasing {
    /// From here on, if the guard is one in sight; that a panic ends it is a decision.
    fn expected(in_sight: bool, here: Option<CallSite>) -> Option<Self> {
        let place = here.filter(|_| in_sight && !thread::panicking())?;
        rt::with(|log| Self(log.expect(Expected::At(place))))
    }
}

impl Drop for Releasing {
    fn drop(&mut self) {
        rt::with(|log| log.expect(self.0));
    }
}

/// Holds a lock shared.
pub(super) struct SharedGuard<'a, L: ?Sized, G> {
    lock: &'a RecordedLock<L, LockMeta>,
    inner: G,
    /// Where the lock was taken.
    here: Option<CallSite>,
    /// As of an [`ExclusiveGuard`].
    in_sight: bool,
}

impl<'a, L: ?Sized, G> SharedGuard<'a, L, G> {
    /// A guard of a thread whose taking of the lock is recorded.
    pub(super) fn new(
        lock: &'a RecordedLock<L, LockMeta>,
        inner: G,
        here: Option<CallSite>,
    ) -> Self {
        Self { lock, inner, here, in_sight: false }
    }

    /// Instrumented code has the guard in sight as long as it is there.
    pub(super) fn stays_in_sight(&mut self) {
        self.in_sight = true;
    }
}

impl<L: ?Sized, G: Deref> SharedGuard<'_, L, G> {
    /// The data; that it is reached is not recorded.
    pub(super) fn peek(&self) -> &G::Target {
        &self.inner
    }

    /// The data, to read it.
    #[inline]
    pub(super) fn read(&self, here: Option<CallSite>) -> &G::Target {
        let data = self.peek();
        self.lock.record.meta.read_data(data, here);
        data
    }
}

impl<L: ?Sized, G> Drop for SharedGuard<'_, L, G> {
    fn drop(&mut self) {
        if rt::is_off() {
            return;
        }
        let _expected = Releasing::expected(self.in_sight, self.here);
        sched::point(Action::ReadUnlock, self.lock.record.key(), self.here);
        self.lock.record.read_releasing(self.here);
    }
}

/// What [`Mutex`](super::Mutex) and [`RwLock`](super::RwLock) have in common. `$Lock` is a
/// [`RecordedLock`] and nothing else.
macro_rules! lock_items {
    ($Lock:ident) => {
        impl<T> $Lock<T> {
            #[doc = concat!("As [`std::sync::", stringify!($Lock), "::new`].")]
            pub const fn new(value: T) -> Self {
                Self(RecordedLock::new(std::sync::$Lock::new(value)))
            }

            #[doc = concat!("As [`std::sync::", stringify!($Lock), "::into_inner`].")]
            pub fn into_inner(self) -> LockResult<T> {
                self.0.inner.into_inner()
            }
        }

        impl<T: ?Sized> $Lock<T> {
            #[doc = concat!("As [`std::sync::", stringify!($Lock), "::is_poisoned`].")]
            #[track_caller]
            pub fn is_poisoned(&self) -> bool {
                self.0.is_poisoned(Some(CallSite::caller()))
            }

            #[doc = concat!("As [`std::sync::", stringify!($Lock), "::clear_poison`].")]
            #[track_caller]
            pub fn clear_poison(&self) {
                self.0.clear_poison(Some(CallSite::caller()));
            }

            #[doc = concat!("As [`std::sync::", stringify!($Lock), "::get_mut`].")]
            #[track_caller]
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                let here = Some(CallSite::caller());
                let data = self.0.inner.get_mut();
                self.0.record.meta.exclusive_data(data_of(&data), here);
                data
            }
        }

        impl<T> From<T> for $Lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: Default> Default for $Lock<T> {
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $Lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // What a debugger prints is not what the program does: nothing is recorded.
                self.0.inner.fmt(f)
            }
        }
    };
}

/// The data of a lock, poisoned or not.
pub(super) fn data_of<'d, T: ?Sized>(data: &'d LockResult<&mut T>) -> &'d T {
    match data {
        Ok(data) => data,
        Err(poison) => poison.get_ref(),
    }
}

/// What all guards have in common. `$Guard` is one of this module's and nothing else.
macro_rules! guard_items {
    ($Guard:ident) => {
        // SAFETY: a shared guard gives access to a `&T` and to what the recorder knows of the lock,
        // which threads may share; never to the lock itself, which would ask for `T: Send`.
        unsafe impl<T: ?Sized + Sync> Sync for $Guard<'_, T> {}

        impl<T: ?Sized> $Guard<'_, T> {
            /// Instrumented code has it in sight as long as it is there.
            pub(crate) fn stays_in_sight(guard: &mut Self) {
                guard.0.stays_in_sight();
            }
        }

        impl<T: ?Sized> Deref for $Guard<'_, T> {
            type Target = T;

            #[track_caller]
            fn deref(&self) -> &T {
                self.0.read(Some(CallSite::caller()))
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.peek().fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.peek().fmt(f)
            }
        }
    };
    (mut $Guard:ident) => {
        guard_items!($Guard);

        impl<T: ?Sized> DerefMut for $Guard<'_, T> {
            #[track_caller]
            fn deref_mut(&mut self) -> &mut T {
                self.0.write(Some(CallSite::caller()))
            }
        }
    };
}

pub(super) use {guard_items, lock_items};
