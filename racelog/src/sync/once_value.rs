//! The engine of cells and lazy values: a value that is made once, and what is recorded of it.
//!
//! The value is opaque to the trace. See [`once_record`](super::once_record).

use super::once_record::{EMPTY, OnceRecord};
use crate::rt::CallSite;
use crate::trace::Value;

/// What the variable holds once the value is made.
pub(crate) const MADE: Value = Value::Opaque;

/// A value that is made once: the cell of std or of another crate, and what is recorded of it.
pub(crate) struct OnceValue<C> {
    pub(crate) record: OnceRecord,
    pub(crate) inner: C,
}

/// The place of a value that is made once.
pub(crate) trait InnerPlace {
    /// The value.
    type Value;

    /// The value, if it is made.
    fn get(&self) -> Option<&Self::Value>;

    /// The value, if it is made.
    fn get_mut(&mut self) -> Option<&mut Self::Value>;
}

/// A cell that can be waited for.
pub(crate) trait AwaitedCell: InnerPlace {
    /// Waits until the value is made.
    fn wait(&self) -> &Self::Value;
}

/// A cell that is written once.
pub(crate) trait InnerCell: InnerPlace {
    /// The value, which `make` makes if it is not there yet.
    fn get_or_init(&self, make: impl FnOnce() -> Self::Value) -> &Self::Value;

    /// Takes the value out, if it is made.
    fn take(&mut self) -> Option<Self::Value>;
}

/// Implements the traits above for a cell of another crate, which has methods of the same names.
macro_rules! inner_cell {
    ($Cell:ty) => {
        impl<T> InnerPlace for $Cell {
            type Value = T;

            #[inline]
            fn get(&self) -> Option<&T> {
                self.get()
            }

            fn get_mut(&mut self) -> Option<&mut T> {
                self.get_mut()
            }
        }

        impl<T> InnerCell for $Cell {
            #[inline]
            fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
                self.get_or_init(make)
            }

            fn take(&mut self) -> Option<T> {
                self.take()
            }
        }
    };
}

impl<C> OnceValue<C> {
    /// A value that is not made yet.
    pub(crate) const fn new(inner: C) -> Self {
        Self { record: OnceRecord::new(), inner }
    }
}

impl<C: InnerPlace> OnceValue<C> {
    /// The value, if it is made.
    pub(crate) fn get(&self, here: Option<CallSite>) -> Option<&C::Value> {
        let is_made = self.record.look(MADE, || self.inner.get().is_some(), here);
        if is_made { self.inner.get() } else { None }
    }

    /// The value, if it is made.
    pub(crate) fn get_mut(&mut self, here: Option<CallSite>) -> Option<&mut C::Value> {
        let value = if self.inner.get().is_some() { MADE } else { EMPTY };
        self.record.exclusive(value, here);
        self.inner.get_mut()
    }
}

impl<C: AwaitedCell> OnceValue<C> {
    /// Waits until the value is made.
    pub(crate) fn wait(&self, here: Option<CallSite>) -> &C::Value {
        self.record.wait(MADE, here, || self.inner.get().is_some(), || self.inner.wait())
    }
}

impl<C: InnerCell> OnceValue<C> {
    /// The value, which `make` makes if it is not there yet.
    pub(crate) fn get_or_init(
        &self,
        make: impl FnOnce() -> C::Value,
        here: Option<CallSite>,
    ) -> &C::Value {
        self.record.call(MADE, here, |call| self.inner.get_or_init(|| call.run(None, make)))
    }

    /// Puts a value in. If one is there already, that one and the new one.
    pub(crate) fn try_insert(
        &self,
        value: C::Value,
        here: Option<CallSite>,
    ) -> Result<&C::Value, (&C::Value, C::Value)> {
        let mut value = Some(value);
        let held = self.get_or_init(|| value.take().expect("it runs at most once"), here);
        match value {
            None => Ok(held),
            Some(value) => Err((held, value)),
        }
    }

    /// Takes the value out, if it is made.
    pub(crate) fn take(&mut self, here: Option<CallSite>) -> Option<C::Value> {
        self.record.exclusive(EMPTY, here);
        self.inner.take()
    }
}

/// What all cells that are written once have in common. `$Cell` is an [`OnceValue`] and nothing
/// else; `$mirrored` is the type that it mirrors.
macro_rules! once_cell_items {
    ($Cell:ident, $mirrored:literal) => {
        impl<T: UnwindSafe> UnwindSafe for $Cell<T> {}
        impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for $Cell<T> {}

        impl<T> $Cell<T> {
            #[doc = concat!("As [`", $mirrored, "::get`].")]
            #[track_caller]
            pub fn get(&self) -> Option<&T> {
                self.0.get(Some(CallSite::caller()))
            }

            #[doc = concat!("As [`", $mirrored, "::get_mut`].")]
            #[track_caller]
            pub fn get_mut(&mut self) -> Option<&mut T> {
                self.0.get_mut(Some(CallSite::caller()))
            }

            #[doc = concat!("As [`", $mirrored, "::set`].")]
            #[track_caller]
            pub fn set(&self, value: T) -> Result<(), T> {
                match self.0.try_insert(value, Some(CallSite::caller())) {
                    Ok(_) => Ok(()),
                    Err((_, value)) => Err(value),
                }
            }

            #[doc = concat!("As [`", $mirrored, "::get_or_init`].")]
            #[track_caller]
            pub fn get_or_init<F>(&self, f: F) -> &T
            where
                F: FnOnce() -> T,
            {
                self.0.get_or_init(f, Some(CallSite::caller()))
            }

            #[doc = concat!("As [`", $mirrored, "::take`].")]
            #[track_caller]
            pub fn take(&mut self) -> Option<T> {
                self.0.take(Some(CallSite::caller()))
            }

            #[doc = concat!("As [`", $mirrored, "::into_inner`].")]
            #[track_caller]
            pub fn into_inner(mut self) -> Option<T> {
                self.0.take(Some(CallSite::caller()))
            }
        }

        impl<T> Default for $Cell<T> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<T: PartialEq> PartialEq for $Cell<T> {
            #[track_caller]
            fn eq(&self, other: &Self) -> bool {
                self.get() == other.get()
            }
        }

        impl<T: Eq> Eq for $Cell<T> {}

        impl<T: fmt::Debug> fmt::Debug for $Cell<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // What a debugger prints is not what the program does: nothing is recorded.
                self.0.inner.fmt(f)
            }
        }
    };
}

/// What cells have that can be waited for: `$Cell` is an [`OnceValue`] of `$inner`, which mirrors
/// `$mirrored`.
#[cfg(any(std_since = "1.86", feature = "once_cell"))]
macro_rules! awaited_items {
    ($(#[$msrv:meta])* $Cell:ident of $inner:ty, $mirrored:literal) => {
        $(#[$msrv])*
        impl<T> AwaitedCell for $inner {
            fn wait(&self) -> &T {
                self.wait()
            }
        }

        impl<T> $Cell<T> {
            #[doc = concat!("As [`", $mirrored, "::wait`].")]
            #[track_caller]
            pub fn wait(&self) -> &T {
                self.0.wait(Some(CallSite::caller()))
            }
        }
    };
}

/// What all lazy values have in common: `$Lazy` is one. Some can be changed, by that method.
macro_rules! lazy_items {
    ($Lazy:ident) => {
        impl<T, F: FnOnce() -> T> Deref for $Lazy<T, F> {
            type Target = T;

            #[track_caller]
            fn deref(&self) -> &T {
                Self::force(self)
            }
        }

        impl<T: Default> Default for $Lazy<T> {
            fn default() -> Self {
                Self::new(T::default)
            }
        }
    };
    ($Lazy:ident, mutable by $method:ident) => {
        impl<T, F: FnOnce() -> T> DerefMut for $Lazy<T, F> {
            #[track_caller]
            fn deref_mut(&mut self) -> &mut T {
                Self::$method(self)
            }
        }
    };
}

#[cfg(any(std_since = "1.86", feature = "once_cell"))]
pub(crate) use awaited_items;
pub(crate) use {inner_cell, lazy_items, once_cell_items};
