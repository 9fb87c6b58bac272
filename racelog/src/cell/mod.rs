//! Cells: mirror of [`std::cell::UnsafeCell`], and [`Shared`]. All other cells are std's: they are
//! not shared between threads.

mod shared;
mod unsafe_cell;

pub use shared::Shared;
pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};
pub use unsafe_cell::UnsafeCell;

/// `with` and `with_mut` on std's [`UnsafeCell`](std::cell::UnsafeCell), for builds without
/// recording; in builds with it they are methods of [`UnsafeCell`] itself.
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
