//! Mirror of [`std::sync::OnceLock`].

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

#[cfg(std_since = "1.86")]
use super::once_value::{AwaitedCell, awaited_items};
use super::once_value::{InnerCell, InnerPlace, MADE, OnceValue, inner_cell, once_cell_items};
use crate::rt::CallSite;

/// A cell that is written once, as [`std::sync::OnceLock`].
///
/// What it holds is opaque to the trace.
pub struct OnceLock<T>(OnceValue<std::sync::OnceLock<T>>);

inner_cell!(std::sync::OnceLock<T>);
once_cell_items!(OnceLock, "std::sync::OnceLock");
#[cfg(std_since = "1.86")]
awaited_items!(#[clippy::msrv = "1.86"] OnceLock of std::sync::OnceLock<T>, "std::sync::OnceLock");

impl<T> OnceLock<T> {
    /// As [`std::sync::OnceLock::new`].
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceValue::new(std::sync::OnceLock::new()))
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let lock = OnceValue::new(value.into());
        lock.record.made(MADE, Some(CallSite::caller()));
        Self(lock)
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self.get() {
            Some(value) => Self::from(value.clone()),
            None => Self::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    macro_rules! same_for {
        ($($name:ident: $($sync:tt)::+;)*) => {$(
            mod $name {
                use std::cell::Cell;
                use std::panic::catch_unwind;
                use std::sync::Barrier;
                use std::sync::atomic::{AtomicUsize, Ordering};
                use std::thread;

                use $($sync)::+::OnceLock;

                #[test]
                fn the_first_value_stays() {
                    static LOCK: OnceLock<String> = OnceLock::new();
                    assert_eq!(LOCK.get(), None);
                    assert_eq!(LOCK.set("one".to_owned()), Ok(()));
                    assert_eq!(LOCK.set("two".to_owned()), Err("two".to_owned()));
                    assert_eq!(LOCK.get().map(String::as_str), Some("one"));
                    assert_eq!(LOCK.get_or_init(|| unreachable!()), "one");
                    #[cfg(std_since = "1.86")]
                    assert_eq!(LOCK.wait(), "one");
                }

                #[test]
                fn who_has_it_alone_may_change_it() {
                    let mut lock = OnceLock::new();
                    assert_eq!(lock.get_mut(), None);
                    assert_eq!(lock.take(), None);
                    assert_eq!(*lock.get_or_init(|| 1), 1);
                    *lock.get_mut().expect("it is set") += 1;
                    assert_eq!(lock.get(), Some(&2));
                    assert_eq!(lock.take(), Some(2));
                    assert_eq!(lock.get(), None);
                    assert_eq!(lock.set(3), Ok(()));
                    assert_eq!(lock.into_inner(), Some(3));
                    assert_eq!(OnceLock::<u8>::new().into_inner(), None);
                }

                #[test]
                fn traits_look_at_the_contents() {
                    let empty = OnceLock::<i32>::default();
                    let full = OnceLock::from(5);
                    assert_ne!(empty, full);
                    assert_eq!(empty, empty.clone());
                    assert_eq!(full, full.clone());
                    assert_eq!(format!("{empty:?} {full:?}"), "OnceLock(<uninit>) OnceLock(5)");
                }

                #[test]
                fn a_panic_leaves_it_empty() {
                    let lock = OnceLock::<i32>::new();
                    assert!(catch_unwind(|| *lock.get_or_init(|| panic!("mine"))).is_err());
                    assert_eq!(lock.get(), None);
                    assert!(catch_unwind(|| *lock.get_or_init(|| panic!("again"))).is_err());
                    assert_eq!(*lock.get_or_init(|| 4), 4);
                    assert_eq!(lock.get(), Some(&4));
                }

                #[test]
                fn the_contents_may_borrow_what_goes_at_the_same_time() {
                    struct Node<'a>(OnceLock<&'a Node<'a>>);
                    let (one, two) = (Node(OnceLock::new()), Node(OnceLock::new()));
                    assert!(one.0.set(&two).is_ok() && two.0.set(&one).is_ok());
                }

                #[test]
                fn the_contents_need_not_be_sync() {
                    let mut lock = OnceLock::from(Cell::new(1));
                    lock = thread::spawn(move || lock).join().expect("nothing panics");
                    assert_eq!(lock.into_inner().map(Cell::into_inner), Some(1));
                }

                #[test]
                fn of_many_threads_one_sets_it() {
                    const THREADS: usize = 8;
                    let (lock, runs) = (OnceLock::new(), AtomicUsize::new(0));
                    let barrier = Barrier::new(THREADS);
                    thread::scope(|scope| {
                        for thread in 0..THREADS {
                            let (lock, runs, barrier) = (&lock, &runs, &barrier);
                            scope.spawn(move || {
                                barrier.wait();
                                let early = lock.get().copied();
                                let value = match thread {
                                    #[cfg(std_since = "1.86")]
                                    0 => *lock.wait(),
                                    1 => match lock.set(thread) {
                                        Ok(()) => runs.fetch_add(1, Ordering::Relaxed) + thread,
                                        Err(_) => *lock.get().expect("another thread has set it"),
                                    },
                                    _ => *lock.get_or_init(|| {
                                        runs.fetch_add(1, Ordering::Relaxed);
                                        thread
                                    }),
                                };
                                assert!(early.is_none_or(|early| early == value));
                                assert_eq!(lock.get(), Some(&value));
                            });
                        }
                    });
                    assert_eq!(runs.into_inner(), 1);
                }
            }
        )*};
    }

    same_for! {
        ours: crate::sync;
        theirs: std::sync;
    }
}
