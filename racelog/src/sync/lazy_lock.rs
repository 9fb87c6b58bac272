//! Mirror of [`std::sync::LazyLock`].

use std::fmt;
use std::ops::Deref;
#[cfg(std_since = "1.89")]
use std::ops::DerefMut;
use std::panic::{RefUnwindSafe, UnwindSafe};

#[cfg(std_since = "1.94")]
use super::once_value::InnerPlace;
use super::once_value::{MADE, OnceValue, lazy_items};
use crate::rt::CallSite;

/// A value that is made when it is first needed, as [`std::sync::LazyLock`].
///
/// The value is opaque to the trace. Reaching it is a load, each time.
pub struct LazyLock<T, F = fn() -> T>(OnceValue<Inner<T, F>>);

/// A lock of std whose value is seen only once the end of its initialiser is recorded.
struct Inner<T, F> {
    /// Completed when the end of the initialiser is recorded. There is nowhere to record it inside
    /// of std's lock, so nothing looks into that before this is completed.
    once: std::sync::Once,
    lock: std::sync::LazyLock<T, F>,
}

#[cfg(std_since = "1.94")]
#[clippy::msrv = "1.94"]
impl<T, F> InnerPlace for Inner<T, F> {
    type Value = T;

    fn get(&self) -> Option<&T> {
        if self.once.is_completed() { std::sync::LazyLock::get(&self.lock) } else { None }
    }

    fn get_mut(&mut self) -> Option<&mut T> {
        std::sync::LazyLock::get_mut(&mut self.lock)
    }
}

impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// As [`std::sync::LazyLock::new`].
    pub const fn new(f: F) -> Self {
        let lock = std::sync::LazyLock::new(f);
        Self(OnceValue::new(Inner { once: std::sync::Once::new(), lock }))
    }

    /// As [`std::sync::LazyLock::force_mut`].
    #[cfg(std_since = "1.94")]
    #[clippy::msrv = "1.94"]
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        this.made_mut()
    }

    /// The value, which is made if need be.
    #[cfg(std_since = "1.89")]
    #[clippy::msrv = "1.89"]
    #[track_caller]
    fn made_mut(&mut self) -> &mut T {
        Self::force(self);
        self.0.record.exclusive(MADE, Some(CallSite::caller()));
        &mut self.0.inner.lock
    }

    /// As [`std::sync::LazyLock::force`].
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        let Inner { once, lock } = &this.0.inner;
        this.0.record.call(MADE, Some(CallSite::caller()), |call| {
            once.call_once_force(|state| {
                // After a panic there is nothing to run: std's lock is poisoned and panics below.
                if !state.is_poisoned() {
                    call.run(Some(false), || {
                        std::sync::LazyLock::force(lock);
                    });
                }
            });
            std::sync::LazyLock::force(lock)
        })
    }
}

#[cfg(std_since = "1.94")]
#[clippy::msrv = "1.94"]
impl<T, F> LazyLock<T, F> {
    /// As [`std::sync::LazyLock::get_mut`].
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.0.get_mut(Some(CallSite::caller()))
    }

    /// As [`std::sync::LazyLock::get`].
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        this.0.get(Some(CallSite::caller()))
    }
}

lazy_items!(LazyLock);
#[cfg(std_since = "1.89")]
lazy_items!(LazyLock, mutable by made_mut);

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a debugger prints is not what the program does: nothing is recorded.
        self.0.inner.lock.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    macro_rules! same_for {
        ($($name:ident: $($sync:tt)::+;)*) => {$(
            mod $name {
                use std::cell::Cell;
                use std::panic::{AssertUnwindSafe, catch_unwind};
                use std::sync::Barrier;
                use std::sync::atomic::{AtomicUsize, Ordering};
                use std::thread;

                use $($sync)::+::LazyLock;

                #[test]
                fn the_value_is_made_when_needed() {
                    static RUNS: AtomicUsize = AtomicUsize::new(0);
                    static LAZY: LazyLock<String> = LazyLock::new(|| {
                        RUNS.fetch_add(1, Ordering::Relaxed);
                        "made".to_owned()
                    });
                    #[cfg(std_since = "1.94")]
                    assert_eq!(LazyLock::get(&LAZY), None);
                    assert_eq!(format!("{LAZY:?}"), "LazyLock(<uninit>)");
                    assert_eq!(RUNS.load(Ordering::Relaxed), 0);
                    assert_eq!(LAZY.len(), 4);
                    assert_eq!(LazyLock::force(&LAZY), "made");
                    #[cfg(std_since = "1.94")]
                    assert_eq!(LazyLock::get(&LAZY).map(String::as_str), Some("made"));
                    assert_eq!(format!("{LAZY:?}"), "LazyLock(\"made\")");
                    assert_eq!(RUNS.load(Ordering::Relaxed), 1);
                }

                #[cfg(std_since = "1.94")]
                #[test]
                fn who_has_it_alone_may_change_it() {
                    let start = 1;
                    let mut lazy = LazyLock::new(|| start);
                    assert_eq!(LazyLock::get_mut(&mut lazy), None);
                    *LazyLock::force_mut(&mut lazy) += 1;
                    *lazy += 1;
                    *LazyLock::get_mut(&mut lazy).expect("it is made") += 1;
                    assert_eq!((*lazy, LazyLock::get(&lazy)), (4, Some(&4)));
                    assert_eq!(*LazyLock::<u8>::default(), 0);
                }

                #[test]
                fn a_panic_poisons_for_good() {
                    type Lazy = LazyLock<i32>;
                    let text = |error: Box<dyn std::any::Any + Send>| {
                        (*error.downcast::<&str>().expect("a literal message")).to_owned()
                    };
                    let uses: &[fn(&mut Lazy) -> i32] = &[
                        |lazy| *Lazy::force(lazy),
                        |lazy| **lazy,
                        #[cfg(std_since = "1.94")]
                        |lazy| *Lazy::force_mut(lazy),
                        |lazy| *Lazy::force(lazy),
                    ];
                    for first in 0..uses.len() {
                        let mut lazy: Lazy = LazyLock::new(|| panic!("mine"));
                        let error = catch_unwind(AssertUnwindSafe(|| uses[first](&mut lazy)));
                        assert_eq!(error.map_err(text), Err("mine".to_owned()));
                        for again in uses {
                            let error = catch_unwind(AssertUnwindSafe(|| again(&mut lazy)));
                            // Before Rust 1.91 std calls it a `Once`.
                            let said = error.map_err(text).expect_err("it is poisoned");
                            assert!(said.ends_with("instance has previously been poisoned"), "{said}");
                            #[cfg(std_since = "1.94")]
                            assert_eq!(LazyLock::get(&lazy), None);
                            #[cfg(std_since = "1.94")]
                            assert_eq!(LazyLock::get_mut(&mut lazy), None);
                        }
                        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
                    }
                }

                #[test]
                fn it_is_as_safe_to_share_as_its_parts() {
                    fn check<T: Send + Sync + std::panic::UnwindSafe>(_: &T) {}
                    let in_cell = Cell::new(1);
                    // The closure need not be `Sync`, for only one thread ever reaches it.
                    let lazy = LazyLock::new(move || in_cell.replace(0));
                    check(&lazy);
                    assert!(catch_unwind(|| *lazy).is_ok_and(|value| value == 1));
                }

                #[test]
                fn the_closure_or_the_value_is_dropped_once() {
                    struct Count<'a>(&'a AtomicUsize);
                    impl Drop for Count<'_> {
                        fn drop(&mut self) {
                            self.0.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    let drops = AtomicUsize::new(0);
                    let count = Count(&drops);
                    drop(LazyLock::new(move || count));
                    assert_eq!(drops.load(Ordering::Relaxed), 1);
                    let count = Count(&drops);
                    let lazy = LazyLock::new(move || count);
                    LazyLock::force(&lazy);
                    assert_eq!(drops.load(Ordering::Relaxed), 1);
                    drop(lazy);
                    assert_eq!(drops.load(Ordering::Relaxed), 2);
                }

                #[test]
                fn of_many_threads_one_makes_it() {
                    const THREADS: usize = 8;
                    let (runs, barrier) = (AtomicUsize::new(0), Barrier::new(THREADS));
                    let lazy = LazyLock::new(|| runs.fetch_add(1, Ordering::Relaxed) + 7);
                    thread::scope(|scope| {
                        for _ in 0..THREADS {
                            scope.spawn(|| {
                                barrier.wait();
                                #[cfg(std_since = "1.94")]
                                assert!(LazyLock::get(&lazy).is_none_or(|value| *value == 7));
                                assert_eq!(*lazy, 7);
                                #[cfg(std_since = "1.94")]
                                assert_eq!(LazyLock::get(&lazy), Some(&7));
                            });
                        }
                    });
                    assert_eq!(runs.load(Ordering::Relaxed), 1);
                }

                #[test]
                fn of_many_threads_all_see_that_it_failed() {
                    const THREADS: usize = 4;
                    let barrier = Barrier::new(THREADS);
                    let lazy: LazyLock<i32> = LazyLock::new(|| panic!("mine"));
                    thread::scope(|scope| {
                        for _ in 0..THREADS {
                            scope.spawn(|| {
                                barrier.wait();
                                assert!(catch_unwind(|| *lazy).is_err());
                                #[cfg(std_since = "1.94")]
                                assert_eq!(LazyLock::get(&lazy), None);
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
