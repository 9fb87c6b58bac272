//! Mirror of [`std::sync::Once`].

use std::cell::Cell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::once_record::{COMPLETED, OnceRecord};
use crate::rt::CallSite;

/// Runs a closure once, as [`std::sync::Once`].
pub struct Once {
    record: OnceRecord,
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
        Self { record: OnceRecord::new(), inner: std::sync::Once::new() }
    }

    /// As [`std::sync::Once::call_once`].
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        self.record.call(COMPLETED, Some(CallSite::caller()), |call| {
            self.inner.call_once(|| call.run(Some(false), f));
        });
    }

    /// As [`std::sync::Once::call_once_force`].
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(&OnceState),
    {
        self.record.call(COMPLETED, Some(CallSite::caller()), |call| {
            self.inner.call_once_force(|state| {
                let poisoned = state.is_poisoned();
                call.run(Some(poisoned), || f(&OnceState { poisoned: Cell::new(poisoned) }));
            });
        });
    }

    /// As [`std::sync::Once::is_completed`].
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.record.look(COMPLETED, || self.inner.is_completed(), Some(CallSite::caller()))
    }

    /// As [`std::sync::Once::wait`].
    #[cfg(std_since = "1.86")]
    #[clippy::msrv = "1.86"]
    #[track_caller]
    pub fn wait(&self) {
        let is_done = || self.inner.is_completed();
        self.record.wait(COMPLETED, Some(CallSite::caller()), is_done, || self.inner.wait());
    }

    /// As [`std::sync::Once::wait_force`].
    #[cfg(std_since = "1.86")]
    #[clippy::msrv = "1.86"]
    #[track_caller]
    pub fn wait_force(&self) {
        let is_done = || self.inner.is_completed();
        self.record.wait(COMPLETED, Some(CallSite::caller()), is_done, || self.inner.wait_force());
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
                    #[cfg(std_since = "1.86")]
                    ONCE.wait();
                    #[cfg(std_since = "1.86")]
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
                    #[cfg(std_since = "1.86")]
                    {
                    let error = catch_unwind(|| once.wait());
                    assert_eq!(error.map_err(text), Err(poisoned));
                    }
                    let error = catch_unwind(|| once.call_once_force(|_| panic!("again")));
                    assert_eq!(error.map_err(text), Err("again".to_owned()));
                    once.call_once_force(|state| {
                        assert!(state.is_poisoned());
                        assert_eq!(format!("{state:?}"), "OnceState { poisoned: true }");
                    });
                    assert!(once.is_completed());
                    once.call_once(|| unreachable!());
                    #[cfg(std_since = "1.86")]
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
                                    #[cfg(std_since = "1.86")]
                                    0 => once.wait(),
                                    #[cfg(std_since = "1.86")]
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
