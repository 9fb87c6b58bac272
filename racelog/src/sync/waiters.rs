//! Those who wait on a condition variable: what the mirrors of condvars have in common.
//!
//! The trace says which thread was notified, so this chooses it. A waiting thread has an entry in
//! the condvar's list from its `wait` to its `wake` event, and a notification goes to one of those
//! entries.

use crate::rt::{CallSite, LockMeta, NumberedId, counters, with};
use crate::sched::{self, Action, Deadline, Intent};
use crate::trace::{CondvarId, Op, Patience, ThreadId, Woken};
use std::sync::{Arc, Condvar, LockResult, Mutex, PoisonError};

/// A condition variable but for its mutex.
pub(crate) struct Waiters {
    id: NumberedId,
    state: Mutex<State>,
}

/// What the mirrors of condvars are; `$of` is the module of the mirrored one. Each of them adds how
/// its guards wait, and what it shows.
macro_rules! condvar_items {
    ($of:literal) => {
        #[doc = concat!("A condition variable, as [`", $of, "::Condvar`].")]
        pub struct Condvar {
            waiters: $crate::sync::waiters::Waiters,
        }

        #[doc = concat!("Whether a wait timed out, as [`", $of, "::WaitTimeoutResult`].")]
        #[derive(Debug, PartialEq, Eq, Copy, Clone)]
        pub struct WaitTimeoutResult(bool);

        impl std::panic::UnwindSafe for Condvar {}
        impl std::panic::RefUnwindSafe for Condvar {}

        impl Condvar {
            #[doc = concat!("As [`", $of, "::Condvar::new`].")]
            #[must_use]
            pub const fn new() -> Self {
                Self { waiters: $crate::sync::waiters::Waiters::new() }
            }
        }

        impl Default for Condvar {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

pub(crate) use condvar_items;

/// The entry of one thread in the list.
#[must_use = "who begins to wait also ends it"]
pub(crate) struct Wait {
    key: u64,
    bell: Arc<Bell>,
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
    /// The address of the lock that it gave back.
    #[cfg(feature = "parking_lot")]
    lock: usize,
    /// Its session and thread, if it is recorded.
    recorded: Option<(u32, ThreadId)>,
    /// What it is known by, if it is under control.
    number: Option<usize>,
    bell: Arc<Bell>,
    notified: bool,
    /// Whether its trace says that it is notified. It does not if a thread notified it that is not
    /// in that trace.
    notified_in_trace: bool,
}

/// What wakes one waiter.
#[derive(Default)]
pub(crate) struct Bell {
    rung: Mutex<Rung>,
    condvar: Condvar,
}

#[derive(Default)]
struct Rung {
    rung: bool,
    /// Whether the waiter sleeps, and has to be woken.
    sleeps: bool,
}

impl Bell {
    pub(crate) fn ring(&self) {
        let mut state = ignore_poison(self.rung.lock());
        state.rung = true;
        if state.sleeps {
            self.condvar.notify_one();
        }
    }

    /// Waits until it rings or the deadline passes.
    pub(crate) fn wait(&self, deadline: Option<Deadline>) {
        let mut rung = ignore_poison(self.rung.lock());
        rung.sleeps = true;
        while !rung.rung {
            rung = match deadline {
                None => ignore_poison(self.condvar.wait(rung)),
                Some(deadline) => {
                    let left = deadline.left();
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

/// Takes a thread off the list that is sent away while it waits.
struct Removal<'a> {
    waiters: &'a Waiters,
    key: u64,
}

impl Drop for Removal<'_> {
    fn drop(&mut self) {
        let mut state = ignore_poison(self.waiters.state.lock());
        state.waiters.retain(|waiter| waiter.key != self.key);
    }
}

impl Waiters {
    pub(crate) const fn new() -> Self {
        let state = State { clock: 0, next_key: 0, waiters: Vec::new() };
        Self { id: NumberedId::new(), state: Mutex::new(state) }
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The calling thread is about to wait.
    pub(crate) fn about_to_wait(&self, lock: &LockMeta, here: Option<CallSite>) {
        let intent = || Intent::new(Action::Wait, self.key(), here).with_second(lock.key());
        sched::block(intent, None, &|_| true);
    }

    /// Waits, without the lock, until a notification or the deadline; under control, also until the
    /// lock `is_free`. Then takes the lock again by `relock`. Returns what that returns, and
    /// whether the thread was notified.
    pub(crate) fn wait<G>(
        &self,
        wait: Wait,
        lock: &LockMeta,
        (deadline, here): (Option<Deadline>, Option<CallSite>),
        is_free: &dyn Fn() -> bool,
        relock: impl FnOnce() -> G,
    ) -> (G, bool) {
        with(|log| {
            let op = Op::Wake { condvar: self.id(), lock: lock.id() };
            log.request(op, Deadline::patience(deadline), here);
        });
        let removal = Removal { waiters: self, key: wait.key };
        let intent = || Intent::new(Action::Wake, self.key(), here).with_second(lock.key());
        let ready = |late| (late || ignore_poison(wait.bell.rung.lock()).rung) && is_free();
        if !sched::block(intent, deadline, &ready) {
            wait.bell.wait(deadline);
        }
        std::mem::forget(removal);
        let held = relock();
        (held, self.end(wait, lock, here))
    }

    fn id(&self) -> CondvarId {
        CondvarId::new(self.id.get(&counters::CONDVARS))
    }

    /// Enters the list of waiters, while the lock is held, to wait that long.
    pub(crate) fn begin(
        &self,
        lock: &LockMeta,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Wait {
        let mut state = ignore_poison(self.state.lock());
        self.enter(&mut state, lock, patience, here)
    }

    /// As [`Self::begin`], unless a thread waits that gave back another lock.
    #[cfg(feature = "parking_lot")]
    pub(crate) fn begin_with_one_lock(
        &self,
        lock: &LockMeta,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Option<Wait> {
        let mut state = ignore_poison(self.state.lock());
        let address = std::ptr::from_ref(lock).addr();
        let mut waiting = state.waiters.iter().filter(|waiter| !waiter.notified);
        let alone = waiting.all(|waiter| waiter.lock == address);
        alone.then(|| self.enter(&mut state, lock, patience, here))
    }

    fn enter(
        &self,
        state: &mut State,
        lock: &LockMeta,
        patience: Patience,
        here: Option<CallSite>,
    ) -> Wait {
        let recorded = with(|log| {
            let op = Op::Wait { condvar: self.id(), lock: lock.id() };
            state.clock = lock.waiting(log, state.clock, (op, patience), here);
            (log.session_number(), log.thread())
        });
        let (key, bell) = (state.next_key, Arc::new(Bell::default()));
        state.next_key += 1;
        state.waiters.push(Waiter {
            key,
            #[cfg(feature = "parking_lot")]
            lock: std::ptr::from_ref(lock).addr(),
            recorded,
            number: sched::number(),
            bell: bell.clone(),
            notified: false,
            notified_in_trace: false,
        });
        Wait { key, bell }
    }

    /// Leaves the list of waiters, while the lock is held again; says whether it was notified. A
    /// thread that timed out may still have been notified up to here.
    #[expect(clippy::needless_pass_by_value, reason = "a wait ends once")]
    fn end(&self, wait: Wait, lock: &LockMeta, here: Option<CallSite>) -> bool {
        let mut state = ignore_poison(self.state.lock());
        let state = &mut *state;
        let at = state.waiters.iter().position(|waiter| waiter.key == wait.key);
        let waiter = state.waiters.remove(at.expect("a waiter is in the list until here"));
        with(|log| {
            if waiter.recorded != Some((log.session_number(), log.thread())) {
                // This trace does not know that the thread has waited.
                return lock.acquired(log, Patience::Forever, here);
            }
            let (condvar, id) = (self.id(), lock.id());
            let op = if waiter.notified_in_trace {
                Op::Wake { condvar, lock: id }
            } else {
                Op::WakeTimeout { condvar, lock: id }
            };
            state.clock = lock.woken(log, state.clock, op, here);
        });
        waiter.notified
    }

    /// Notifies one waiter; says whether there was one who was not notified yet.
    pub(crate) fn notify_one(&self, here: Option<CallSite>) -> bool {
        sched::point(Action::Notify, self.key(), here);
        let wanted = sched::whom_to_wake();
        let mut state = ignore_poison(self.state.lock());
        let recorded = with(|log| {
            let state = &mut *state;
            let session = log.session_number();
            let chosen = state.choose(Some(session), wanted);
            let woken = match chosen.and_then(|at| state.waiters[at].recorded) {
                Some((in_session, thread)) if in_session == session => Woken::Thread(thread),
                _ => Woken::Nobody,
            };
            state.clock = log.tick(state.clock);
            log.emit(state.clock, Op::NotifyOne { condvar: self.id(), woken }, here);
            chosen.is_some_and(|at| {
                let waiter = &mut state.waiters[at];
                waiter.notified_in_trace |= matches!(woken, Woken::Thread(_));
                waiter.notify()
            })
        });
        recorded.unwrap_or_else(|| {
            let chosen = state.choose(None, wanted);
            chosen.is_some_and(|at| state.waiters[at].notify())
        })
    }

    /// Notifies all waiters; says how many of them were not notified yet.
    pub(crate) fn notify_all(&self, here: Option<CallSite>) -> usize {
        sched::point(Action::Notify, self.key(), here);
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
        state.waiters.iter_mut().map(Waiter::notify).filter(|woken| *woken).count()
    }
}

impl State {
    /// The thread to notify: the wanted one, if it waits; else for a recorded thread one that
    /// its trace knows to wait, if there is one; the one that waits longest.
    fn choose(&self, session: Option<u32>, wanted: Option<usize>) -> Option<usize> {
        let waiters = || self.waiters.iter().enumerate();
        let known = |waiter: &Waiter| {
            waiter.recorded.is_some_and(|(own, _)| Some(own) == session)
                && !waiter.notified_in_trace
        };
        let is_wanted = |waiter: &Waiter| wanted.is_some() && waiter.number == wanted;
        let best = waiters()
            .find(|(_, waiter)| is_wanted(waiter) && !waiter.notified)
            .or_else(|| waiters().find(|(_, waiter)| known(waiter) && !waiter.notified))
            .or_else(|| waiters().find(|(_, waiter)| known(waiter)))
            .or_else(|| waiters().find(|(_, waiter)| !waiter.notified));
        best.map(|(at, _)| at)
    }
}

impl Waiter {
    /// Notifies it; says whether it was not before.
    fn notify(&mut self) -> bool {
        self.bell.ring();
        !std::mem::replace(&mut self.notified, true)
    }
}
