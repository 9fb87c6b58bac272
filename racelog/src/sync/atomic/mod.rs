//! Mirror of [`std::sync::atomic`].
//!
//! The types have the size and layout of std's. What the recorder knows of an atomic stands in a
//! table by its address; `mark.rs` is where operations meet that table.

mod bool;
mod fence;
mod int;
mod mark;
mod methods;
mod ptr;

pub use std::sync::atomic::{Ordering, compiler_fence};

pub use self::bool::AtomicBool;
pub use fence::fence;
pub use int::{
    AtomicI8, AtomicI16, AtomicI32, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicUsize,
};
#[cfg(target_has_atomic = "64")]
pub use int::{AtomicI64, AtomicU64};
pub use ptr::AtomicPtr;

/// As [`std::sync::atomic::ATOMIC_BOOL_INIT`].
#[deprecated(since = "0.1.0", note = "the `new` function is now preferred")]
#[allow(clippy::declare_interior_mutable_const, reason = "std has it as a constant")]
pub const ATOMIC_BOOL_INIT: AtomicBool = AtomicBool::new(false);

/// As [`std::sync::atomic::ATOMIC_ISIZE_INIT`].
#[deprecated(since = "0.1.0", note = "the `new` function is now preferred")]
#[allow(clippy::declare_interior_mutable_const, reason = "std has it as a constant")]
pub const ATOMIC_ISIZE_INIT: AtomicIsize = AtomicIsize::new(0);

/// As [`std::sync::atomic::ATOMIC_USIZE_INIT`].
#[deprecated(since = "0.1.0", note = "the `new` function is now preferred")]
#[allow(clippy::declare_interior_mutable_const, reason = "std has it as a constant")]
pub const ATOMIC_USIZE_INIT: AtomicUsize = AtomicUsize::new(0);

/// As [`std::sync::atomic::spin_loop_hint`].
#[deprecated(since = "0.1.0", note = "use hint::spin_loop instead")]
#[track_caller]
#[inline]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

#[cfg(test)]
mod looks_tests;
#[cfg(test)]
mod tests;
