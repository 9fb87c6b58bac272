//! `Arc`s whose contents are still to be written.

use std::mem::MaybeUninit;

use super::Arc;
use super::counts::Counts;
use super::memory::Share;

impl<T> Arc<T> {
    /// As [`std::sync::Arc::new_uninit`].
    #[must_use]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::uninit())
    }

    /// As [`std::sync::Arc::new_zeroed`].
    #[cfg(std_since = "1.92")]
    #[must_use]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::zeroed())
    }
}

impl<T> Arc<[T]> {
    /// As [`std::sync::Arc::new_uninit_slice`].
    #[must_use]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        Arc { share: Share::slice(len, Counts::new(1, 0)) }
    }

    /// As [`std::sync::Arc::new_zeroed_slice`].
    #[cfg(std_since = "1.92")]
    #[must_use]
    pub fn new_zeroed_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        let slice = Self::new_uninit_slice(len);
        // SAFETY: the slice has that length, and no other thread has it yet.
        unsafe { slice.share.value().cast::<MaybeUninit<T>>().write_bytes(0, len) };
        slice
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// As [`std::sync::Arc::assume_init`].
    ///
    /// # Safety
    ///
    /// As of std's.
    #[must_use = "`self` will be dropped if the result is not used"]
    pub unsafe fn assume_init(self) -> Arc<T> {
        // SAFETY: the pointer is from `into_raw`; the caller says that there is a value.
        unsafe { Arc::from_raw(Self::into_raw(self).cast::<T>()) }
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// As [`std::sync::Arc::assume_init`].
    ///
    /// # Safety
    ///
    /// As of std's.
    #[must_use = "`self` will be dropped if the result is not used"]
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        // SAFETY: the pointer is from `into_raw`; the caller says that there are values.
        unsafe { Arc::from_raw(Self::into_raw(self) as *const [T]) }
    }
}
