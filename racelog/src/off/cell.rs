//! Cells: std's, and [`Shared`]. Recording is compiled out.

use std::fmt;

pub use std::cell::{
    BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut, UnsafeCell,
};

/// `with` and `with_mut` on std's [`UnsafeCell`], which are methods of racelog's own in builds that
/// record.
pub trait UnsafeCellExt<T: ?Sized> {
    /// Runs `f` with a pointer to read from.
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R;

    /// Runs `f` with a pointer to write to.
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R;
}

impl<T: ?Sized> UnsafeCellExt<T> for UnsafeCell<T> {
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.get())
    }

    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.get())
    }
}

/// A plain memory cell that threads share: what a field or a `static mut` is in a program that
/// does not synchronise. It is for finding races in builds that record; in this build, without
/// recording, racy use is undefined behaviour, as it is of what it stands for.
pub struct Shared<T: Copy>(UnsafeCell<T>);

// SAFETY: none. That is the point of it: the type stands for memory that threads share without
// synchronisation, and what they do to it is for racelog to find out.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}

impl<T: Copy> std::panic::RefUnwindSafe for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Reads the cell.
    pub fn get(&self) -> T {
        // SAFETY: the value is copied; whether somebody writes it meanwhile is the program's affair.
        unsafe { *self.0.get() }
    }

    /// Writes the cell.
    pub fn set(&self, value: T) {
        // SAFETY: the value is copied; whether somebody reads it meanwhile is the program's affair.
        unsafe { *self.0.get() = value };
    }

    /// The value, by a reference that is known to be the only one.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
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
