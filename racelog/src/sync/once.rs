//! Mirror of [`std::sync::Once`], and what all that is initialised once records.
//!
//! Such an object is one atomic variable of the trace: [`EMPTY`], then [`POISONED`] each time that
//! an initialiser panics or fails, and in the end the value that says that it is done. Whoever runs an
//! initialiser loads the variable before and stores to it after, so that the initialisers of an
//! object come one after the other, and before all that see the object done.

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::rt::{Here, NumberedId, Spin, ThreadLog, counters, wait_a_little, with};
use crate::sched::{self, Action};
use crate::trace::{MemoryOrdering, Op, Value, VarId};

/// No initialiser has run.
pub(crate) const EMPTY: Value = Value::Nat(0);

/// The last initialiser panicked or failed.
const POISONED: Value = Value::Nat(1);

/// The closure of a [`Once`] has run.
pub(crate) const COMPLETED: Value = Value::Nat(2);

/// How often somebody looks again whether an object is done whose end is recorded.
const MOST_TRIES: u32 = 1 << 20;

/// A value of [`Record::known_to`]: no use was recorded yet, so the value is the initial one.
const NOT_USED: u32 = 0;

/// A value of [`Record::known_to`]: the value came about without an event.
const NOBODY: u32 = u32::MAX;

/// Runs a closure once, as [`std::sync::Once`].
pub struct Once {
    meta: OnceMeta,
    inner: std::sync::Once,
}

/// What a closure given to [`Once::call_once_force`] is told, as [`std::sync::OnceState`].
pub struct OnceState {
    /// In a cell, so that the auto traits are std's.
    poisoned: Cell<bool>,
}

/// Initial value of a static [`Once`], as [`std::sync::ONCE_INIT`].
#[deprecated(since = "1.38.0", note = "the `Once::new()` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "it is std's, and meant to be copied")]
pub const ONCE_INIT: Once = Once::new();

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl Once {
    /// As [`std::sync::Once::new`].
    #[must_use]
    #[expect(clippy::new_without_default, reason = "std's has no default either")]
    pub const fn new() -> Self {
        Self { meta: OnceMeta::new(), inner: std::sync::Once::new() }
    }

    /// As [`std::sync::Once::call_once`].
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        let call = Call::new(&self.meta, COMPLETED, Some(Location::caller()));
        self.inner.call_once(|| call.run(Some(false), f));
        call.returned();
    }

    /// As [`std::sync::Once::call_once_force`].
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(&OnceState),
    {
        let call = Call::new(&self.meta, COMPLETED, Some(Location::caller()));
        self.inner.call_once_force(|state| {
            let poisoned = state.is_poisoned();
            call.run(Some(poisoned), || f(&OnceState { poisoned: Cell::new(poisoned) }));
        });
        call.returned();
    }

    /// As [`std::sync::Once::is_completed`].
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        let here = Some(Location::caller());
        self.meta.look(COMPLETED, || self.inner.is_completed(), here)
    }

    /// As [`std::sync::Once::wait`].
    #[track_caller]
    pub fn wait(&self) {
        let here = Some(Location::caller());
        let call = Call::waiting(&self.meta, COMPLETED, here, || self.inner.is_completed());
        self.inner.wait();
        call.returned();
    }

    /// As [`std::sync::Once::wait_force`].
    #[track_caller]
    pub fn wait_force(&self) {
        let here = Some(Location::caller());
        let call = Call::waiting(&self.meta, COMPLETED, here, || self.inner.is_completed());
        self.inner.wait_force();
        call.returned();
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl OnceState {
    /// As [`std::sync::OnceState::is_poisoned`].
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.get()
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned()).finish()
    }
}

/// Identity and clock of an object that is initialised once, and what the trace says of it.
pub(crate) struct OnceMeta {
    var: NumberedId,
    record: Spin<Record>,
    /// Whether an initialiser runs.
    running: AtomicBool,
}

struct Record {
    clock: u64,
    /// The last value that was recorded, by whatever session.
    value: Value,
    /// The session whose trace explains the value; or [`NOT_USED`], or [`NOBODY`].
    known_to: u32,
}

impl Record {
    fn stamp(&mut self, log: &ThreadLog) -> u64 {
        self.clock = log.tick(self.clock);
        self.clock
    }

    /// Makes sure that the trace explains that the variable holds `value`. It does not if a thread
    /// brought that about that is not recorded, or is recorded elsewhere.
    fn explain(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Here) {
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
    fn load(&mut self, log: &ThreadLog, var: VarId, value: Value, here: Here) {
        self.explain(log, var, value, here);
        let ordering = Some(MemoryOrdering::Acquire);
        log.emit_decision(self.stamp(log), Op::Load { var, value, ordering }, here);
    }

    /// The thread found the object not done, and goes by that.
    fn load_unless(&mut self, done: Value, log: &ThreadLog, var: VarId, here: Here) {
        // If the end of the initialiser is recorded already, it is about to return. The thread
        // came before that and can no longer say so: in this moment nothing is recorded.
        if self.value != done {
            self.load(log, var, self.value, here);
        }
    }
}

impl OnceMeta {
    pub(crate) const fn new() -> Self {
        Self::holding(EMPTY)
    }

    /// Of an object that starts with this value.
    pub(crate) const fn holding(value: Value) -> Self {
        let record = Record { clock: 0, value, known_to: NOT_USED };
        let running = AtomicBool::new(false);
        Self { var: NumberedId::new(), record: Spin::new(record), running }
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn var(&self) -> VarId {
        VarId::new(self.var.get(&counters::VARS))
    }

    /// Looks whether the object is done, which `is_done` knows without running any code of the
    /// program. `done` is what the variable then holds.
    pub(crate) fn look(&self, done: Value, is_done: impl Fn() -> bool, here: Here) -> bool {
        sched::point(Action::Look, self.key(), here);
        with(|log| {
            let mut record = self.record.lock();
            let mut found = is_done();
            // If the end of the initialiser is recorded already, all that is left is for std to let others see
            // it. Whoever has looked too early looks again: that it was not done could not be said any more.
            let mut tries = 0;
            while !found && record.value == done && tries < MOST_TRIES {
                wait_a_little(&mut tries);
                found = is_done();
            }
            if found {
                record.load(log, self.var(), done, here);
            } else {
                record.load_unless(done, log, self.var(), here);
            }
            found
        })
        .unwrap_or_else(is_done)
    }

    /// The object was made with a value in it.
    pub(crate) fn made(&self, value: Value, here: Here) {
        with(|log| self.record.lock().explain(log, self.var(), value, here));
    }

    /// Somebody who has the object alone looks at it or changes it; it holds `value` after that.
    pub(crate) fn exclusive(&mut self, value: Value, here: Here) {
        if self.var.is_given() {
            let var = self.var();
            let record = self.record.get_mut();
            // Also if the thread is not recorded: the next that is will have to explain it.
            record.value = value;
            record.known_to = NOBODY;
            with(|log| record.explain(log, var, value, here));
        } else {
            // Nobody has seen another value, so this is the initial one.
            self.record.get_mut().value = value;
        }
    }

    fn store(&self, value: Value, here: Here) {
        with(|log| {
            let (var, ordering) = (self.var(), Some(MemoryOrdering::Release));
            let mut record = self.record.lock();
            log.emit(record.stamp(log), Op::Store { var, value, ordering }, here);
            record.value = value;
            record.known_to = log.session_number();
        });
    }
}

/// A call that returns when the object is done. If instead it panics and has not run the
/// initialiser, it found the object poisoned.
pub(crate) struct Call<'a> {
    meta: &'a OnceMeta,
    done: Value,
    here: Here,
    /// What the call found is recorded.
    recorded: Cell<bool>,
}

impl<'a> Call<'a> {
    /// A call that may run the initialiser.
    pub(crate) fn new(meta: &'a OnceMeta, done: Value, here: Here) -> Self {
        Self::waiting(meta, done, here, || !meta.running.load(Ordering::Acquire))
    }

    /// A call that waits for others to be done, as `is_ready` says.
    pub(crate) fn waiting(
        meta: &'a OnceMeta,
        done: Value,
        here: Here,
        is_ready: impl Fn() -> bool,
    ) -> Self {
        sched::block_on(Action::Once, meta.key(), here, is_ready);
        Self { meta, done, here, recorded: Cell::new(false) }
    }

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
        self.meta.running.store(true, Ordering::Release);
        with(|log| {
            let mut record = self.meta.record.lock();
            match poisoned {
                Some(true) => record.load(log, self.meta.var(), POISONED, self.here),
                Some(false) => record.load(log, self.meta.var(), EMPTY, self.here),
                None => record.load_unless(self.done, log, self.meta.var(), self.here),
            }
        });
        End { call: self, value: POISONED }
    }

    /// The call returns.
    pub(crate) fn returned(self) {
        if !self.recorded.replace(true) {
            with(|log| {
                let mut record = self.meta.record.lock();
                record.load(log, self.meta.var(), self.done, self.here);
            });
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.recorded.get() {
            with(|log| {
                let mut record = self.meta.record.lock();
                record.load_unless(self.done, log, self.meta.var(), self.here);
            });
        }
    }
}

/// Records the end of an initialiser, whether it returns or panics, before std lets anybody see it.
struct End<'a> {
    call: &'a Call<'a>,
    value: Value,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.call.meta.store(self.value, self.call.here);
        self.call.meta.running.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    macro_rules! same_for {
        ($($name:ident: $($sync:tt)::+;)*) => {$(
            mod $name {
                use std::panic::catch_unwind;
                use std::sync::Barrier;
                use std::sync::atomic::{AtomicUsize, Ordering};
                use std::thread;

                use $($sync)::+::{Once, OnceState};

                #[test]
                fn the_closure_runs_once() {
                    static ONCE: Once = Once::new();
                    let mut runs = 0;
                    assert!(!ONCE.is_completed());
                    ONCE.call_once(|| {
                        assert!(!ONCE.is_completed());
                        runs += 1;
                    });
                    assert!(ONCE.is_completed());
                    ONCE.call_once(|| runs += 1);
                    ONCE.call_once_force(|_| runs += 1);
                    ONCE.wait();
                    ONCE.wait_force();
                    assert_eq!(runs, 1);
                    assert_eq!(format!("{ONCE:?}"), "Once { .. }");
                }

                #[test]
                #[expect(deprecated, reason = "std has it")]
                fn the_old_constant_is_there() {
                    static ONCE: Once = $($sync)::+::ONCE_INIT;
                    ONCE.call_once_force(|state: &OnceState| {
                        assert!(!state.is_poisoned());
                        assert_eq!(format!("{state:?}"), "OnceState { poisoned: false }");
                    });
                    assert!(ONCE.is_completed());
                }

                #[test]
                fn a_panic_poisons_until_forced() {
                    let once = Once::new();
                    let text = |error: Box<dyn std::any::Any + Send>| {
                        (*error.downcast::<&str>().expect("a literal message")).to_owned()
                    };
                    let error = catch_unwind(|| once.call_once(|| panic!("mine")));
                    assert_eq!(error.map_err(text), Err("mine".to_owned()));
                    assert!(!once.is_completed());
                    let poisoned = "Once instance has previously been poisoned".to_owned();
                    let error = catch_unwind(|| once.call_once(|| unreachable!()));
                    assert_eq!(error.map_err(text), Err(poisoned.clone()));
                    let error = catch_unwind(|| once.wait());
                    assert_eq!(error.map_err(text), Err(poisoned));
                    let error = catch_unwind(|| once.call_once_force(|_| panic!("again")));
                    assert_eq!(error.map_err(text), Err("again".to_owned()));
                    once.call_once_force(|state| {
                        assert!(state.is_poisoned());
                        assert_eq!(format!("{state:?}"), "OnceState { poisoned: true }");
                    });
                    assert!(once.is_completed());
                    once.call_once(|| unreachable!());
                    once.wait();
                }

                #[test]
                fn of_many_threads_one_runs_the_closure() {
                    const THREADS: usize = 8;
                    let (once, runs) = (Once::new(), AtomicUsize::new(0));
                    let barrier = Barrier::new(THREADS);
                    thread::scope(|scope| {
                        for thread in 0..THREADS {
                            let (once, runs, barrier) = (&once, &runs, &barrier);
                            scope.spawn(move || {
                                barrier.wait();
                                match thread {
                                    0 => once.wait(),
                                    1 => once.wait_force(),
                                    _ => once.call_once(|| {
                                        runs.fetch_add(1, Ordering::Relaxed);
                                    }),
                                }
                                assert!(once.is_completed());
                                assert_eq!(runs.load(Ordering::Relaxed), 1);
                            });
                        }
                    });
                }
            }
        )*};
    }

    same_for! {
        ours: crate::sync;
        theirs: std::sync;
    }
}
