//! Mirror of [`std::sync::Weak`].

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use super::Arc;
use super::memory::Share;
use crate::rt::CallSite;

/// A pointer that does not keep the contents, as [`std::sync::Weak`], and that records how many
/// there are.
///
/// Only the memory stays as long as it does, and there the counts.
pub struct Weak<T: ?Sized> {
    pub(super) share: Share<T>,
}

impl<T> Weak<T> {
    /// As [`std::sync::Weak::new`].
    #[must_use]
    pub const fn new() -> Self {
        Self { share: Share::nowhere() }
    }
}

impl<T: ?Sized> Weak<T> {
    /// As [`std::sync::Weak::as_ptr`].
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.share.value()
    }

    /// As [`std::sync::Weak::into_raw`].
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(self) -> *const T {
        let this = ManuallyDrop::new(self);
        // The share is forgotten together with what it belongs to.
        this.share.value()
    }

    /// As [`std::sync::Weak::from_raw`].
    ///
    /// # Safety
    ///
    /// As of std's.
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: the caller has the pointer from `into_raw`, which forgot the share.
        Self { share: unsafe { Share::from_value(ptr) } }
    }

    /// As [`std::sync::Weak::upgrade`].
    #[must_use = "this returns a new `Arc`, without modifying the original weak pointer"]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let counts = self.share.counts()?;
        counts.upgraded(Some(CallSite::caller())).then(|| Arc { share: self.share.clone() })
    }

    /// As [`std::sync::Weak::strong_count`].
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        let here = Some(CallSite::caller());
        self.share.counts().map_or(0, |counts| counts.strong(here))
    }

    /// As [`std::sync::Weak::weak_count`].
    #[must_use]
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        let here = Some(CallSite::caller());
        self.share.counts().map_or(0, |counts| counts.weak_of_living(here))
    }

    /// As [`std::sync::Weak::ptr_eq`].
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.share.value(), other.share.value())
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        if let Some(counts) = self.share.counts() {
            counts.weak_cloned(Some(CallSite::caller()));
        }
        Self { share: self.share.clone() }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if let Some(counts) = self.share.counts() {
            counts.weak_dropped(None);
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
