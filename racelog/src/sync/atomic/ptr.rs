//! Mirror of [`std::sync::atomic::AtomicPtr`].

use std::fmt;
use std::ptr;
use std::sync::atomic::Ordering;

use super::mark::{Mark, on_failure};
#[cfg(std_since = "1.91")]
use super::methods::fetches;
use super::methods::methods;

/// A raw pointer that threads can share, as [`std::sync::atomic::AtomicPtr`].
#[repr(C)]
pub struct AtomicPtr<T> {
    mark: Mark,
    inner: std::sync::atomic::AtomicPtr<T>,
}

impl<T> AtomicPtr<T> {
    methods! { AtomicPtr holds *mut T }
}

#[cfg(std_since = "1.91")]
#[clippy::msrv = "1.91"]
impl<T> AtomicPtr<T> {
    fetches! { AtomicPtr holds *mut T;
        fetch_ptr_add(count: usize) |old| old.wrapping_byte_add(count.wrapping_mul(size_of::<T>()));
        fetch_ptr_sub(count: usize) |old| old.wrapping_byte_sub(count.wrapping_mul(size_of::<T>()));
        fetch_byte_add(bytes: usize) |old| old.wrapping_byte_add(bytes);
        fetch_byte_sub(bytes: usize) |old| old.wrapping_byte_sub(bytes);
        fetch_or(bits: usize) |old| old.map_addr(|address| address | bits);
        fetch_and(bits: usize) |old| old.map_addr(|address| address & bits);
        fetch_xor(bits: usize) |old| old.map_addr(|address| address ^ bits);
    }
}

impl<T> Default for AtomicPtr<T> {
    #[inline]
    fn default() -> Self {
        Self::new(ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[inline]
    fn from(value: *mut T) -> Self {
        Self::new(value)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is printed for a person is not what the program does: nothing is recorded.
        fmt::Debug::fmt(&self.inner, f)
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.inner, f)
    }
}
