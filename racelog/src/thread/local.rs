//! Mirror of [`std::thread_local!`] and [`std::thread::LocalKey`].
//!
//! A thread of the system has its values in std's thread-locals. A fiber, which shares those with
//! the other fibers of its thread, has values of its own ([`sched::fiber_local`]).

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;

use crate::sched::{self, Access};

/// A thread-local storage key which owns its contents, as [`std::thread::LocalKey`].
pub struct LocalKey<T: 'static> {
    inner: &'static std::thread::LocalKey<T>,
    /// Its address is the key's, for fibers.
    key: &'static u8,
    init: fn() -> T,
}

/// An error returned by [`LocalKey::try_with`], as [`std::thread::AccessError`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

impl<T: 'static> LocalKey<T> {
    /// For the expansion of `thread_local!` only.
    #[doc(hidden)]
    pub const fn new(
        inner: &'static std::thread::LocalKey<T>,
        key: &'static u8,
        init: fn() -> T,
    ) -> Self {
        Self { inner, key, init }
    }

    /// As [`std::thread::LocalKey::with`].
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => destroyed(error),
        }
    }

    /// As [`std::thread::LocalKey::try_with`].
    #[inline]
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match sched::fiber_local(self.key, self.init) {
            Access::OfThread => self.inner.try_with(f).map_err(|_| AccessError),
            // SAFETY: the value stays where it is until the fiber is past its closure, which calls
            // this; or until its destructors run, of which none calls this with that value alive.
            Access::There(value) => Ok(f(unsafe { value.as_ref() })),
            Access::Destroyed => Err(AccessError),
        }
    }

    /// Makes this the first value, if there is none, instead of what `init` gives; says whether it
    /// is too late for that, and gives the value back.
    #[track_caller]
    fn initialise(&'static self, value: T) -> Option<T> {
        let mut value = Some(value);
        let take = || value.take().expect("it is taken once");
        match sched::fiber_local(self.key, take) {
            Access::OfThread | Access::There(_) => value,
            Access::Destroyed => destroyed(AccessError),
        }
    }
}

#[cold]
#[track_caller]
fn destroyed(error: AccessError) -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {error:?}",)
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// As [`std::thread::LocalKey::set`].
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if !sched::is_fiber() {
            return self.inner.set(value);
        }
        if let Some(value) = self.initialise(Cell::new(value)) {
            self.with(|cell| cell.set(value.into_inner()));
        }
    }

    /// As [`std::thread::LocalKey::get`].
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// As [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// As [`std::thread::LocalKey::replace`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// As [`std::thread::LocalKey::with_borrow`].
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// As [`std::thread::LocalKey::with_borrow_mut`].
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// As [`std::thread::LocalKey::set`].
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if !sched::is_fiber() {
            return self.inner.set(value);
        }
        if let Some(value) = self.initialise(RefCell::new(value)) {
            self.with(|cell| *cell.borrow_mut() = value.into_inner());
        }
    }

    /// As [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// As [`std::thread::LocalKey::replace`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

/// Declares thread-locals, as [`std::thread_local!`].
#[macro_export]
macro_rules! thread_local {
    () => {};

    (
        $(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block;
        $($rest:tt)*
    ) => {
        $crate::thread_local!(@key [$(#[$attribute])* $vis] $name, $type, const $init, $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block) => {
        $crate::thread_local!(@key [$(#[$attribute])* $vis] $name, $type, const $init, $init);
    };

    (
        $(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr;
        $($rest:tt)*
    ) => {
        $crate::thread_local!(
            @key [$(#[$attribute])* $vis] $name, $type, __racelog_initial(), $init
        );
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr) => {
        $crate::thread_local!(
            @key [$(#[$attribute])* $vis] $name, $type, __racelog_initial(), $init
        );
    };

    (
        @key [$(#[$attribute:meta])* $vis:vis] $name:ident, $type:ty, const $given:block, $init:expr
    ) => {
        $crate::thread_local!(
            @item [$(#[$attribute])* $vis] $name, $type, [const $given], $init
        );
    };
    (
        @key [$(#[$attribute:meta])* $vis:vis] $name:ident, $type:ty, $given:expr, $init:expr
    ) => {
        $crate::thread_local!(@item [$(#[$attribute])* $vis] $name, $type, [$given], $init);
    };
    (
        @item [$(#[$attribute:meta])* $vis:vis] $name:ident, $type:ty, [$($given:tt)*], $init:expr
    ) => {
        $(#[$attribute])*
        $vis const $name: $crate::thread::LocalKey<$type> = {
            fn __racelog_initial() -> $type {
                $init
            }
            ::std::thread_local! {
                static __RACELOG_INNER: $type = $($given)*;
            }
            static __RACELOG_KEY: u8 = 0;
            $crate::thread::LocalKey::new(&__RACELOG_INNER, &__RACELOG_KEY, __racelog_initial)
        };
    };
}
