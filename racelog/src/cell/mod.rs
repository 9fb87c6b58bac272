//! Cells: mirror of [`std::cell::UnsafeCell`], and [`Shared`]. All other cells are std's: they are
//! not shared between threads. Without the feature `record` [`UnsafeCell`] is std's, too.

#[cfg(feature = "record")]
mod shared;
#[cfg(feature = "record")]
mod unsafe_cell;

#[cfg(not(feature = "record"))]
#[path = "../off/shared.rs"]
mod shared;

use std::fmt;

pub use shared::Shared;
#[cfg(not(feature = "record"))]
pub use std::cell::UnsafeCell;
pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};
#[cfg(feature = "record")]
pub use unsafe_cell::UnsafeCell;
#[cfg(feature = "record")]
pub(crate) use unsafe_cell::named;

/// `with` and `with_mut` on std's [`UnsafeCell`](std::cell::UnsafeCell), for builds without
/// recording; in builds with it they are methods of racelog's own.
pub trait UnsafeCellExt<T: ?Sized> {
    /// Runs `f` with a pointer to read from.
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R;

    /// Runs `f` with a pointer to write to.
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R;
}

impl<T: ?Sized> UnsafeCellExt<T> for std::cell::UnsafeCell<T> {
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.get())
    }

    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.get())
    }
}

impl<T: Copy + Default> Default for Shared<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Copy> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Copy> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
