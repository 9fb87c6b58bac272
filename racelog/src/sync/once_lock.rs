//! Mirror of [`std::sync::OnceLock`].

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::once::{Call, EMPTY, OnceMeta};
use crate::trace::Value;

/// A cell that is written once, as [`std::sync::OnceLock`].
///
/// What it holds is opaque to the trace.
pub struct OnceLock<T> {
    meta: OnceMeta,
    inner: std::sync::OnceLock<T>,
}

impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// As [`std::sync::OnceLock::new`].
    #[must_use]
    pub const fn new() -> Self {
        Self { meta: OnceMeta::new(), inner: std::sync::OnceLock::new() }
    }

    /// As [`std::sync::OnceLock::get`].
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let here = Some(Location::caller());
        let is_set = self.meta.look(Value::Opaque, || self.inner.get().is_some(), here);
        if is_set { self.inner.get() } else { None }
    }

    /// As [`std::sync::OnceLock::get_mut`].
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.meta.exclusive(value_of(&self.inner), Some(Location::caller()));
        self.inner.get_mut()
    }

    /// As [`std::sync::OnceLock::wait`].
    #[track_caller]
    pub fn wait(&self) -> &T {
        let here = Some(Location::caller());
        let is_set = || self.inner.get().is_some();
        let call = Call::waiting(&self.meta, Value::Opaque, here, is_set);
        let value = self.inner.wait();
        call.returned();
        value
    }

    /// As [`std::sync::OnceLock::set`].
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it runs at most once"));
        value.map_or(Ok(()), Err)
    }

    /// As [`std::sync::OnceLock::get_or_init`].
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        let call = Call::new(&self.meta, Value::Opaque, Some(Location::caller()));
        let value = self.inner.get_or_init(|| call.run(None, f));
        call.returned();
        value
    }

    /// As [`std::sync::OnceLock::into_inner`].
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take_at(Location::caller())
    }

    /// As [`std::sync::OnceLock::take`].
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        self.take_at(Location::caller())
    }

    fn take_at(&mut self, here: &'static Location<'static>) -> Option<T> {
        self.meta.exclusive(EMPTY, Some(here));
        self.inner.take()
    }
}

/// What the variable of a lock holds that nobody else can reach.
fn value_of<T>(lock: &std::sync::OnceLock<T>) -> Value {
    if lock.get().is_some() { Value::Opaque } else { EMPTY }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let lock = Self { meta: OnceMeta::new(), inner: value.into() };
        lock.meta.made(Value::Opaque, Some(Location::caller()));
        lock
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

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a debugger prints is not what the program does: nothing is recorded.
        self.inner.fmt(f)
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
                                    0 => *lock.wait(),
                                    1 => match lock.set(thread) {
                                        Ok(()) => runs.fetch_add(1, Ordering::Relaxed) + thread,
                                        Err(_) => *lock.wait(),
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
