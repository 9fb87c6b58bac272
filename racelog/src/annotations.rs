//! Annotations by which a program tells the recorder of branches, checks, and accesses of memory
//! that has no type of ours.

#[cfg(feature = "record")]
pub use recording::{atomic, branch, checked, read, write};

#[cfg(not(feature = "record"))]
pub use silent::{TestSession, atomic, branch, checked, explore, explore_test, read, write};

use std::fmt::Debug;

/// A type that a test can return.
pub trait TestReturn {
    /// Panics if the test has failed.
    fn check(self);
}

impl TestReturn for () {
    fn check(self) {}
}

impl<T, E: Debug> TestReturn for Result<T, E> {
    #[track_caller]
    fn check(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}

/// Reads a place that other threads may write: a `static mut`, or what a raw pointer points to.
/// The type must be `Copy`.
///
/// It is as unsafe as the read that it stands for; while recording is compiled in, reads and
/// writes by these macros never overlap.
///
/// ```
/// static mut COUNTER: u32 = 7;
/// // SAFETY: there is only one thread.
/// assert_eq!(unsafe { racelog::read!(COUNTER) }, 7);
/// ```
#[macro_export]
macro_rules! read {
    ($place:expr) => {
        $crate::__private::read(&raw const $place)
    };
}

/// Writes a place that other threads may read or write: a `static mut`, or what a raw pointer
/// points to. The type must be `Copy`.
///
/// ```
/// static mut COUNTER: u32 = 7;
/// // SAFETY: there is only one thread.
/// unsafe { racelog::write!(COUNTER, racelog::read!(COUNTER) + 1) };
/// ```
#[macro_export]
macro_rules! write {
    ($place:expr, $value:expr) => {
        $crate::__private::write(&raw mut $place, $value)
    };
}

/// Asserts a condition, as `assert!` does, and records that it held.
///
/// ```
/// let sum = 3;
/// racelog::check!(sum == 3, "the sum is right");
/// ```
#[macro_export]
macro_rules! check {
    ($condition:expr $(,)?) => {
        $crate::check!($condition, ::core::stringify!($condition))
    };
    ($condition:expr, $text:expr $(,)?) => {
        if $condition {
            $crate::__private::checked($text);
        } else {
            ::core::panic!("{}{}", $crate::contract::marker::CHECK_FAILED, $text);
        }
    };
}

#[cfg(feature = "record")]
mod recording {

    use crate::rt::{self, Access, CallSite, Kind, with, word_of};
    use crate::sched::Action;
    use crate::trace::{Op, Value};

    /// Says that what this thread does from here on depends on what it has read.
    #[track_caller]
    pub fn branch() {
        // Within the closure it would be the closure's.
        let here = Some(CallSite::caller());
        with(|log| log.branch(here));
    }

    /// Runs a body in which no other thread is meant to come in between: if one may, in a way that
    /// shows, the analyser says so. It takes no lock, and changes nothing of how the body runs.
    ///
    /// ```
    /// # use racelog::cell::Shared;
    /// # let balance = Shared::new(7);
    /// let before = racelog::atomic(|| {
    ///     let before = balance.get();
    ///     balance.set(before + 1);
    ///     before
    /// });
    /// # assert_eq!(before, 7);
    /// ```
    #[track_caller]
    pub fn atomic<R>(body: impl FnOnce() -> R) -> R {
        struct End(Option<CallSite>);

        impl Drop for End {
            fn drop(&mut self) {
                with(|log| log.emit_alone(Op::AtomicEnd, self.0));
            }
        }

        let here = Some(CallSite::caller());
        with(|log| log.emit_alone(Op::AtomicBegin(None), here));
        let _end = End(here);
        body()
    }

    /// Records that a checked property held.
    #[track_caller]
    pub fn checked(text: &str) {
        let here = Some(CallSite::caller());
        with(|log| log.emit_assert(text, here));
    }

    /// Later events stay after an access where it is not known whether they are of the same object.
    fn stay_in_order(access: &mut Access<'_>, address: usize, value: Value) {
        if rt::keeps_order(address) {
            access.emit(Op::Exclusive { var: access.var(), value });
        }
    }

    /// # Safety
    ///
    /// As [`std::ptr::read`]; recorded accesses of one place do not overlap.
    #[track_caller]
    pub unsafe fn read<T: Copy>(place: *const T) -> T {
        let here = Some(CallSite::caller());
        rt::access(place.addr(), Kind::Plain, Some(Action::Read), here, |mut access| {
            // SAFETY: the caller vouches for the place.
            let value = unsafe { place.read() };
            let word = word_of(&value);
            access.found(word);
            access.emit(Op::Read { var: access.var(), value: word });
            stay_in_order(&mut access, place.addr(), word);
            value
        })
        // SAFETY: the caller vouches for the place.
        .unwrap_or_else(|| unsafe { place.read() })
    }

    /// # Safety
    ///
    /// As [`std::ptr::write`]; recorded accesses of one place do not overlap.
    #[track_caller]
    pub unsafe fn write<T: Copy>(place: *mut T, value: T) {
        let here = Some(CallSite::caller());
        rt::access(place.addr(), Kind::Plain, Some(Action::Write), here, |mut access| {
            let word = word_of(&value);
            // What is there is not read: it may be uninitialised.
            access.found_anything();
            access.emit(Op::Write { var: access.var(), value: word });
            access.left(word);
            stay_in_order(&mut access, place.addr(), word);
            // SAFETY: the caller vouches for the place.
            unsafe { place.write(value) };
        })
        // SAFETY: the caller vouches for the place.
        .unwrap_or_else(|| unsafe { place.write(value) });
    }
}

#[cfg(not(feature = "record"))]
mod silent {
    /// Says that what this thread does from here on depends on what it has read.
    #[inline]
    pub fn branch() {}

    /// Runs a body in which no other thread is meant to come in between.
    #[inline]
    pub fn atomic<R>(body: impl FnOnce() -> R) -> R {
        body()
    }

    /// Records that a checked property held.
    #[inline]
    pub fn checked(_: &str) {}

    /// # Safety
    ///
    /// As [`std::ptr::read`].
    #[inline]
    pub unsafe fn read<T: Copy>(place: *const T) -> T {
        // SAFETY: the caller vouches for the place.
        unsafe { place.read() }
    }

    /// # Safety
    ///
    /// As [`std::ptr::write`].
    #[inline]
    pub unsafe fn write<T: Copy>(place: *mut T, value: T) {
        // SAFETY: the caller vouches for the place.
        unsafe { place.write(value) };
    }

    /// Runs the body once: without the feature `record` its schedule is the system's.
    pub fn explore(body: impl Fn()) {
        body();
    }

    /// Runs a test once.
    pub fn explore_test(
        _package: &str,
        _name: &str,
        _schedules: usize,
        _strategy: &str,
        _seed: u64,
        body: impl Fn(),
    ) {
        body();
    }

    /// A session that records nothing.
    #[derive(Debug)]
    pub struct TestSession;

    impl TestSession {
        /// Starts to record nothing.
        #[inline]
        pub fn start(_package: &str, _name: &str) -> Self {
            Self
        }
    }
}

#[cfg(all(test, feature = "record"))]
mod tests {
    use std::mem::MaybeUninit;

    use crate::child_trace::{events, in_child};

    /// Miri sees whether more is read than the program reads.
    #[test]
    fn what_is_written_first_may_be_uninitialised() {
        #[derive(Clone, Copy)]
        struct Padded(u8, u32);
        if in_child() {
            let (mut word, mut padded) = (MaybeUninit::<u64>::uninit(), MaybeUninit::uninit());
            let (word, padded) = (word.as_mut_ptr(), padded.as_mut_ptr());
            // SAFETY: the places are there, and are written before they are read.
            unsafe {
                crate::write!(*word, 7);
                assert_eq!(crate::read!(*word), 7);
                crate::write!(*padded, Padded(1, 2));
                let Padded(first, second) = crate::read!(*padded);
                assert_eq!((first, second), (1, 2));
            }
            return;
        }
        let events = events("annotations::tests::what_is_written_first_may_be_uninitialised");
        let words: Vec<&str> = events.iter().map(|event| event.op.keyword()).collect();
        assert_eq!(words, ["write", "read", "write", "read"]);
    }
}
