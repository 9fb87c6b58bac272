//! Mirror of [`std::sync::atomic::AtomicBool`].

use std::fmt;
use std::sync::atomic::Ordering;

use super::mark::{Mark, on_failure};
use super::methods::{fetches, methods};

/// A boolean that threads can share, as [`std::sync::atomic::AtomicBool`].
#[repr(C)]
pub struct AtomicBool {
    mark: Mark,
    inner: std::sync::atomic::AtomicBool,
}

impl AtomicBool {
    methods! {
        #[must_use]
        AtomicBool holds bool
    }

    fetches! { AtomicBool holds bool;
        fetch_and(value: bool) |old| old & value;
        fetch_nand(value: bool) |old| !(old & value);
        fetch_or(value: bool) |old| old | value;
        fetch_xor(value: bool) |old| old ^ value;
        fetch_not() |old| !old;
    }
}

impl Default for AtomicBool {
    #[inline]
    fn default() -> Self {
        Self::new(false)
    }
}

impl From<bool> for AtomicBool {
    #[inline]
    fn from(value: bool) -> Self {
        Self::new(value)
    }
}

impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is printed for a person is not what the program does: nothing is recorded.
        self.inner.fmt(f)
    }
}
