//! Mirror of [`std::sync::Condvar`].
//!
//! Our own, not a wrapper: the trace says who was notified, so it must be we who choose. Whoever
//! waits has an entry in the condvar's list from its `wait` to its `wake` event, and a notification
//! goes to one of those entries. There are no spurious wake-ups.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, LockResult, PoisonError};
use std::time::{Duration, Instant};

use super::mutex::{Mutex, MutexGuard};
use crate::rt::{Here, NumberedId, counters, with};
use crate::trace::{CondvarId, Op, ThreadId, Woken};

/// A condition variable, as [`std::sync::Condvar`].
pub struct Condvar {
    id: NumberedId,
    state: std::sync::Mutex<State>,
}

/// Whether a wait timed out, as [`std::sync::WaitTimeoutResult`].
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// As [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

struct State {
    clock: u64,
    next_key: u64,
    /// In the order in which they came.
    waiters: Vec<Waiter>,
}

/// A thread that waits.
struct Waiter {
    key: u64,
    /// Its session and thread, if it is recorded.
    recorded: Option<(u32, ThreadId)>,
    bell: Arc<Bell>,
    notified: bool,
    /// Whether its trace says that it is notified. It does not if somebody notified it who is not
    /// in that trace.
    notified_in_trace: bool,
}

/// What wakes one waiter.
#[derive(Default)]
struct Bell {
    rung: std::sync::Mutex<bool>,
    condvar: std::sync::Condvar,
}

impl Bell {
    fn ring(&self) {
        *ignore_poison(self.rung.lock()) = true;
        self.condvar.notify_one();
    }

    /// Waits until it rings or the deadline passes.
    fn wait(&self, deadline: Option<Instant>) {
        let mut rung = ignore_poison(self.rung.lock());
        while !*rung {
            rung = match deadline {
                None => ignore_poison(self.condvar.wait(rung)),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return;
                    }
                    ignore_poison(self.condvar.wait_timeout(rung, left)).0
                }
            };
        }
    }
}

fn ignore_poison<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

impl Condvar {
    /// As [`std::sync::Condvar::new`].
    #[must_use]
    pub const fn new() -> Self {
        let state = State { clock: 0, next_key: 0, waiters: Vec::new() };
        Self { id: NumberedId::new(), state: std::sync::Mutex::new(state) }
    }

    /// As [`std::sync::Condvar::wait`].
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let here = Some(Location::caller());
        match self.wait_until(guard, None, here) {
            Ok((guard, _)) => Ok(guard),
            Err(poison) => Err(PoisonError::new(poison.into_inner().0)),
        }
    }

    /// As [`std::sync::Condvar::wait_while`].
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`std::sync::Condvar::wait_timeout_ms`].
    #[deprecated(since = "1.6.0", note = "replaced by `std::sync::Condvar::wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(poison) => {
                let (guard, result) = poison.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// As [`std::sync::Condvar::wait_timeout`].
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        // A time that no clock reaches is no deadline.
        let deadline = Instant::now().checked_add(dur);
        self.wait_until(guard, deadline, Some(Location::caller()))
    }

    /// As [`std::sync::Condvar::wait_timeout_while`].
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = dur.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// As [`std::sync::Condvar::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) {
        let here = Some(Location::caller());
        let mut state = ignore_poison(self.state.lock());
        let recorded = with(|log| {
            let state = &mut *state;
            let session = log.session_number();
            let chosen = state.choose(Some(session));
            let woken = match chosen.and_then(|at| state.waiters[at].recorded) {
                Some((in_session, thread)) if in_session == session => Woken::Thread(thread),
                _ => Woken::Nobody,
            };
            state.clock = log.tick(state.clock);
            log.emit(state.clock, Op::NotifyOne { condvar: self.id(), woken }, here);
            if let Some(at) = chosen {
                let waiter = &mut state.waiters[at];
                waiter.notified_in_trace |= matches!(woken, Woken::Thread(_));
                waiter.notify();
            }
        });
        if recorded.is_none()
            && let Some(at) = state.choose(None)
        {
            state.waiters[at].notify();
        }
    }

    /// As [`std::sync::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) {
        let here = Some(Location::caller());
        let mut state = ignore_poison(self.state.lock());
        let state = &mut *state;
        with(|log| {
            let session = log.session_number();
            state.clock = log.tick(state.clock);
            log.emit(state.clock, Op::NotifyAll(self.id()), here);
            for waiter in &mut state.waiters {
                waiter.notified_in_trace |= waiter.recorded.is_some_and(|(own, _)| own == session);
            }
        });
        for waiter in &mut state.waiters {
            waiter.notify();
        }
    }

    fn id(&self) -> CondvarId {
        CondvarId::new(self.id.get(&counters::CONDVARS))
    }

    fn wait_until<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        deadline: Option<Instant>,
        here: Here,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let mutex = guard.lock;
        let bell = Arc::new(Bell::default());
        let key = self.begin_wait(mutex, bell.clone(), here);
        // The guard knows that it has nothing to give back any more.
        drop(guard.inner.take());
        drop(guard);
        bell.wait(deadline);
        let (inner, poisoned) = match mutex.inner.lock() {
            Ok(inner) => (inner, false),
            Err(poison) => (poison.into_inner(), true),
        };
        let notified = self.end_wait(mutex, key, here);
        let result = WaitTimeoutResult(!notified);
        let guard = mutex.guard(inner, here);
        if poisoned {
            mutex.meta.saw_poison(true, here);
            Err(PoisonError::new((guard, result)))
        } else {
            Ok((guard, result))
        }
    }

    /// Enters the list of waiters, while the mutex is held.
    fn begin_wait<T: ?Sized>(&self, mutex: &Mutex<T>, bell: Arc<Bell>, here: Here) -> u64 {
        let mut state = ignore_poison(self.state.lock());
        let state = &mut *state;
        let recorded = with(|log| {
            state.clock = mutex.meta.lock.waiting(log, state.clock);
            let (condvar, lock) = (self.id(), mutex.meta.lock.id());
            log.emit(state.clock, Op::Wait { condvar, lock }, here);
            (log.session_number(), log.thread())
        });
        let key = state.next_key;
        state.next_key += 1;
        state.waiters.push(Waiter {
            key,
            recorded,
            bell,
            notified: false,
            notified_in_trace: false,
        });
        key
    }

    /// Leaves the list of waiters, while the mutex is held again; says whether it was notified.
    /// Whoever timed out may still have been notified up to here.
    fn end_wait<T: ?Sized>(&self, mutex: &Mutex<T>, key: u64, here: Here) -> bool {
        let mut state = ignore_poison(self.state.lock());
        let state = &mut *state;
        let at = state.waiters.iter().position(|waiter| waiter.key == key);
        let waiter = state.waiters.remove(at.expect("a waiter is in the list until here"));
        with(|log| {
            state.clock = mutex.meta.lock.woken(log, state.clock);
            let (condvar, lock) = (self.id(), mutex.meta.lock.id());
            let op = if waiter.notified_in_trace {
                Op::Wake { condvar, lock }
            } else {
                Op::WakeTimeout { condvar, lock }
            };
            log.emit(state.clock, op, here);
        });
        waiter.notified
    }
}

impl State {
    /// Whom to notify: for a recorded thread somebody whom its trace knows to wait, if there is
    /// one; the one that waits longest.
    fn choose(&self, session: Option<u32>) -> Option<usize> {
        let waiters = || self.waiters.iter().enumerate();
        let known = |waiter: &Waiter| {
            waiter.recorded.is_some_and(|(own, _)| Some(own) == session)
                && !waiter.notified_in_trace
        };
        let best = waiters()
            .find(|(_, waiter)| known(waiter) && !waiter.notified)
            .or_else(|| waiters().find(|(_, waiter)| known(waiter)))
            .or_else(|| waiters().find(|(_, waiter)| !waiter.notified));
        best.map(|(at, _)| at)
    }
}

impl Waiter {
    fn notify(&mut self) {
        self.notified = true;
        self.bell.ring();
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
