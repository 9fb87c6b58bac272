//! The engine of all that is initialised once: what is recorded of it.
//!
//! Such an object is one atomic variable of the trace: [`EMPTY`], then [`POISONED`] each time that
//! an initialiser panics or fails, and in the end the value that says that it is done. A thread
//! that runs an initialiser loads the variable before and stores to it after. So the initialisers
//! of an object come one after the other, and before all threads that see the object done.
//!
//! A thread that runs an initialiser holds a lock of the object's own from before that load to
//! after that store: others may have to wait for it, which a variable cannot say. Who may have
//! waited records that it found the lock free, right before its load. That is done once by each
//! thread of the first 64, for it never has to wait again; and only if the trace has an
//! initialiser.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::rt::{CallSite, NumberedId, Spin, ThreadLog, counters, wait_a_little, with};
use crate::sched::{self, Action};
use crate::trace::{LockId, MemoryOrdering, Op, Patience, ThreadId, Value, VarId};

/// No initialiser has run.
pub(crate) const EMPTY: Value = Value::Nat(0);

/// The last initialiser panicked or failed.
const POISONED: Value = Value::Nat(1);

/// The closure of a `Once` has run.
pub(crate) const COMPLETED: Value = Value::Nat(2);

/// How often a thread looks again whether an object is done whose end is recorded.
const MOST_TRIES: u32 = 1 << 20;

/// A value of [`State::known_to`]: no use was recorded yet, so the value is the initial one.
const NOT_USED: u32 = 0;

/// A value of [`State::known_to`]: the value came about without an event.
const NO_SESSION: u32 = u32::MAX;

/// Identity and clock of an object that is initialised once, and what the trace says of it.
pub(crate) struct OnceRecord {
    var: NumberedId,
    /// Held by the thread that runs an initialiser.
    lock: NumberedId,
    state: Spin<State>,
    /// Whether an initialiser runs.
    running: AtomicBool,
}

struct State {
    clock: u64,
    /// The last value that was recorded, by any session.
    value: Value,
    /// The session whose trace explains the value; or [`NOT_USED`], or [`NO_SESSION`].
    known_to: u32,
    /// The session whose trace has an initialiser; 0 for none.
    initialised_in: u32,
    /// The threads of that session that do not have to wait any more: a bit each.
    without_wait: u64,
}

/// The bit of a thread, if it has one.
fn bit(thread: ThreadId) -> u64 {
    1u64.checked_shl(thread.get()).unwrap_or(0)
}

impl State {
    fn stamp(&mut self, log: &ThreadLog) -> u64 {
        self.clock = log.tick(self.clock);
        self.clock
    }

    /// Makes sure that the trace explains that the variable holds `value`. It does not if the value
    /// comes from a thread that is not recorded, or is recorded in another session.
    fn explain(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Option<CallSite>) {
        let session = log.session_number();
        let known = self.known_to == session || self.known_to == NOT_USED;
        if self.known_to == NOT_USED && self.value == value && value != EMPTY {
            log.emit_init(self.stamp(log), var, value);
        } else if !known || self.value != value {
            log.emit(self.stamp(log), Op::Exclusive { var, value }, here);
            self.value = value;
        }
        self.known_to = session;
    }

    /// The thread found `value`, and goes by it.
    fn load(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Option<CallSite>) {
        self.explain(log, var, value, here);
        let ordering = Some(MemoryOrdering::Acquire);
        log.emit_decision(self.stamp(log), Op::Load { var, value, ordering }, here);
    }

    /// The thread found the object not done, and goes by that.
    fn load_unless(&mut self, done: Value, log: &ThreadLog, var: VarId, here: Option<CallSite>) {
        // If the end of the initialiser is recorded already, it is about to return. The thread
        // came before that and can no longer say so: in this moment nothing is recorded.
        if self.value != done {
            self.load(log, var, self.value, here);
        }
    }
}

impl OnceRecord {
    pub(crate) const fn new() -> Self {
        Self::holding(EMPTY)
    }

    /// Of an object that starts with this value.
    pub(crate) const fn holding(value: Value) -> Self {
        let state =
            State { clock: 0, value, known_to: NOT_USED, initialised_in: 0, without_wait: 0 };
        let running = AtomicBool::new(false);
        Self { var: NumberedId::new(), lock: NumberedId::new(), state: Spin::new(state), running }
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn var(&self) -> VarId {
        VarId::new(self.var.get(&counters::VARS))
    }

    fn lock(&self) -> LockId {
        LockId::new(self.lock.get(&counters::LOCKS))
    }

    /// A thread that has found the object done would have waited for an initialiser.
    #[inline]
    fn waited(&self, state: &mut State, log: &ThreadLog, here: Option<CallSite>) {
        if state.initialised_in == log.session_number()
            && state.without_wait & bit(log.thread()) == 0
        {
            state.without_wait |= bit(log.thread());
            log.emit(state.stamp(log), Op::OnceWait(self.lock()), here);
        }
    }

    /// Looks whether the object is done, which `is_done` knows without running any code of the
    /// program. `done` is what the variable then holds.
    pub(crate) fn look(
        &self,
        done: Value,
        is_done: impl Fn() -> bool,
        here: Option<CallSite>,
    ) -> bool {
        sched::point(Action::Look, self.key(), here);
        with(|log| {
            let mut state = self.state.lock();
            let mut found = is_done();
            // If the end of the initialiser is recorded already, std is about to let other threads
            // see it. A thread that looked too early looks again: it is too late to record that the
            // object was not done.
            let mut tries = 0;
            while !found && state.value == done && tries < MOST_TRIES {
                wait_a_little(&mut tries);
                found = is_done();
            }
            if found {
                state.load(log, self.var(), done, here);
            } else {
                state.load_unless(done, log, self.var(), here);
            }
            found
        })
        .unwrap_or_else(is_done)
    }

    /// Makes a call that may run the initialiser, and returns once the object is done. `make` makes
    /// it, and has the initialiser run by [`Call::run`] or [`Call::try_run`].
    #[inline]
    pub(crate) fn call<R>(
        &self,
        done: Value,
        here: Option<CallSite>,
        make: impl FnOnce(&Call<'_>) -> R,
    ) -> R {
        let call = self.begin(done, here, || !self.running.load(Ordering::Acquire));
        let result = make(&call);
        call.returned();
        result
    }

    /// As [`Self::call`], of a call that may fail: then the object is not done.
    #[cfg(feature = "once_cell")]
    pub(crate) fn try_call<R, E>(
        &self,
        done: Value,
        here: Option<CallSite>,
        make: impl FnOnce(&Call<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let call = self.begin(done, here, || !self.running.load(Ordering::Acquire));
        let value = make(&call)?;
        call.returned();
        Ok(value)
    }

    /// Makes a call that waits until the object is done, as `is_done` says.
    pub(crate) fn wait<R>(
        &self,
        done: Value,
        here: Option<CallSite>,
        is_done: impl Fn() -> bool,
        wait: impl FnOnce() -> R,
    ) -> R {
        let call = self.begin(done, here, is_done);
        let result = wait();
        call.returned();
        result
    }

    /// A call that is about to be made; under control, once it `is_ready`.
    fn begin(&self, done: Value, here: Option<CallSite>, is_ready: impl Fn() -> bool) -> Call<'_> {
        if !is_ready() {
            with(|log| log.request(Op::OnceWait(self.lock()), Patience::Forever, here));
        }
        sched::block_on(Action::Once, self.key(), here, is_ready);
        Call { record: self, done, here, recorded: Cell::new(false) }
    }

    /// The object was made with a value in it.
    pub(crate) fn made(&self, value: Value, here: Option<CallSite>) {
        with(|log| self.state.lock().explain(log, self.var(), value, here));
    }

    /// The object is looked at or changed through the only reference to it. It holds `value` then.
    pub(crate) fn exclusive(&mut self, value: Value, here: Option<CallSite>) {
        if self.var.is_given() {
            let var = self.var();
            let state = self.state.get_mut();
            // Also if the thread is not recorded: the next that is will have to explain it.
            state.value = value;
            state.known_to = NO_SESSION;
            with(|log| state.explain(log, var, value, here));
        } else {
            // No thread has seen another value, so this is the initial one.
            self.state.get_mut().value = value;
        }
    }

    /// An initialiser ends, and leaves this value. Its beginning is in the trace of `session`.
    fn store(&self, value: Value, session: Option<u32>, here: Option<CallSite>) {
        with(|log| {
            let (var, ordering) = (self.var(), Some(MemoryOrdering::Release));
            let mut state = self.state.lock();
            log.emit(state.stamp(log), Op::Store { var, value, ordering }, here);
            state.value = value;
            state.known_to = log.session_number();
            if session == Some(log.session_number()) {
                log.emit(state.stamp(log), Op::OnceEnd(self.lock()), here);
            }
        });
    }
}

/// A call that returns when the object is done. If instead it panics and has not run the
/// initialiser, it found the object poisoned.
pub(crate) struct Call<'a> {
    record: &'a OnceRecord,
    done: Value,
    here: Option<CallSite>,
    /// What the call found is recorded.
    recorded: Cell<bool>,
}

impl Call<'_> {
    /// Runs the initialiser, as the one thread that std lets do that now. `poisoned` says whether
    /// one has panicked before, if that is known.
    pub(crate) fn run<R>(&self, poisoned: Option<bool>, initialise: impl FnOnce() -> R) -> R {
        let mut end = self.begin(poisoned);
        let result = initialise();
        end.value = self.done;
        result
    }

    /// Runs an initialiser that may fail, which is recorded as a panic is: it leaves the object as
    /// it was, and comes before the next.
    #[cfg(feature = "once_cell")]
    pub(crate) fn try_run<R, E>(&self, initialise: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        let mut end = self.begin(None);
        let result = initialise();
        if result.is_ok() {
            end.value = self.done;
        }
        result
    }

    fn begin(&self, poisoned: Option<bool>) -> End<'_> {
        self.recorded.set(true);
        self.record.running.store(true, Ordering::Release);
        sched::took(self.record.key(), false, self.here);
        let session = with(|log| {
            let mut state = self.record.state.lock();
            (state.initialised_in, state.without_wait) = (log.session_number(), bit(log.thread()));
            log.emit(state.stamp(log), Op::OnceBegin(self.record.lock()), self.here);
            match poisoned {
                Some(true) => state.load(log, self.record.var(), POISONED, self.here),
                Some(false) => state.load(log, self.record.var(), EMPTY, self.here),
                None => state.load_unless(self.done, log, self.record.var(), self.here),
            }
            log.session_number()
        });
        End { call: self, value: POISONED, session }
    }

    /// The call returns.
    fn returned(self) {
        if !self.recorded.replace(true) {
            with(|log| {
                let mut state = self.record.state.lock();
                self.record.waited(&mut state, log, self.here);
                state.load(log, self.record.var(), self.done, self.here);
            });
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.recorded.get() {
            with(|log| {
                let mut state = self.record.state.lock();
                state.load_unless(self.done, log, self.record.var(), self.here);
            });
        }
    }
}

/// Records the end of an initialiser, by return or by panic, before other threads can see it.
struct End<'a> {
    call: &'a Call<'a>,
    value: Value,
    /// The session whose trace has the beginning.
    session: Option<u32>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.call.record.store(self.value, self.session, self.call.here);
        self.call.record.running.store(false, Ordering::Release);
        sched::gave_back(self.call.record.key());
    }
}
