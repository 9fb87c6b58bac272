//! A plain memory cell to race for. Recording is compiled out.

use std::cell::UnsafeCell;
use std::panic::RefUnwindSafe;

/// A plain memory cell that threads share: what a field or a `static mut` is in a program that
/// does not synchronise. It is for finding races in builds that record; in this build, without
/// recording, racy use is undefined behaviour, as it is of what it stands for.
pub struct Shared<T: Copy>(UnsafeCell<T>);

// SAFETY: none. That is the point of it: the type stands for memory that threads share without
// synchronisation, and what they do to it is for racelog to find out.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}

impl<T: Copy> RefUnwindSafe for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Reads the cell.
    pub fn get(&self) -> T {
        // SAFETY: the value is copied; whether another thread writes it meanwhile is the program's
        // affair.
        unsafe { *self.0.get() }
    }

    /// Writes the cell.
    pub fn set(&self, value: T) {
        // SAFETY: the value is copied; whether another thread reads it meanwhile is the program's
        // affair.
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
