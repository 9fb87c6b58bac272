//! Mirrors of [`std::sync::Arc`] and [`std::sync::Weak`] that record their counts.
//!
//! Each change of a count is a read-modify-write of a variable of the trace, with the orderings
//! that std uses, so what `Arc` alone keeps in order is in the trace: [`Arc::get_mut`],
//! [`Arc::try_unwrap`], [`Arc::into_inner`], [`Arc::make_mut`] and the drop of the contents come
//! after whatever the other owners did before they let go.

mod convert;
mod counts;
mod memory;
mod traits;
mod uninit;
mod weak;

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr;

use crate::rt::CallSite;
use counts::{Claim, Counts};
use memory::Share;
pub use weak::Weak;

/// A shared owner, as [`std::sync::Arc`], that records how many there are.
///
/// The contents are no variable of the trace: what is recorded of them is up to their types.
///
/// What std's can do by means that only std has is absent:
/// - the coercion of an `Arc<T>` to an `Arc<dyn Trait>` or `Arc<[T]>`; [`from_raw`](Self::from_raw)
///   has an example of what to write instead;
/// - methods that take `self: Arc<Self>` or `self: Pin<Arc<Self>>`, and with them
///   [`Wake`](std::task::Wake);
/// - `From<Box<T>>` for a `T` that is unsized and neither a slice nor a `str`, and conversions to
///   `Arc`s of `OsStr`, `Path` and `CStr`;
/// - `make_mut` for slices and `str`;
/// - the traits of [`std::io`] and [`std::os`];
/// - the leave to have references in the contents that end before the `Arc` is dropped.
pub struct Arc<T: ?Sized> {
    share: Share<T>,
}

impl<T> Arc<T> {
    /// As [`std::sync::Arc::new`].
    pub fn new(data: T) -> Self {
        Self { share: Share::new(data, Counts::new(1, 0)) }
    }

    /// As [`std::sync::Arc::new_cyclic`].
    #[track_caller]
    pub fn new_cyclic<F>(data_fn: F) -> Self
    where
        F: FnOnce(&Weak<T>) -> T,
    {
        let here = Some(CallSite::caller());
        let room = Share::new(MaybeUninit::<T>::uninit(), Counts::new(0, 1));
        // SAFETY: the share is forgotten for this one. What is there is not taken for a value
        // before the strong count says that it is one.
        let share = unsafe { Share::from_value(room.into_value().cast::<T>()) };
        let weak = Weak { share };
        let data = data_fn(&weak);
        let share = weak.share.clone();
        // SAFETY: the strong count is 0, so no other thread touches the contents.
        unsafe { share.value().write(data) };
        let this = Self { share };
        this.counts().published(here);
        this
    }

    /// As [`std::sync::Arc::pin`].
    pub fn pin(data: T) -> Pin<Self> {
        // SAFETY: the contents never move while they are owned through a `Pin`.
        unsafe { Pin::new_unchecked(Self::new(data)) }
    }

    /// As [`std::sync::Arc::try_unwrap`].
    ///
    /// # Errors
    ///
    /// The `Arc`, if there is another.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        if this.counts().taken(Some(CallSite::caller())) {
            // SAFETY: this was the only `Arc`, and the strong count is now 0.
            Ok(unsafe { this.move_out() })
        } else {
            Err(this)
        }
    }

    /// As [`std::sync::Arc::into_inner`].
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        if this.counts().dropped(Some(CallSite::caller())) {
            // SAFETY: this was the last `Arc`, and the strong count is now 0.
            Some(unsafe { this.move_out() })
        } else {
            drop(this.into_share());
            None
        }
    }

    /// The contents of an `Arc` that no longer counts.
    ///
    /// # Safety
    ///
    /// The caller made the strong count 0, for this one.
    unsafe fn move_out(self) -> T {
        let share = self.into_share();
        // SAFETY: with the strong count at 0, no other thread reads, moves or drops the contents.
        let data = unsafe { share.value().read() };
        share.give_back(size_of::<T>());
        data
    }
}

impl<T: Clone> Arc<T> {
    /// As [`std::sync::Arc::make_mut`].
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        match this.counts().claim(Some(CallSite::caller())) {
            Claim::Granted => {}
            Claim::Refused => {
                let data = T::clone(this);
                Self::release(mem::replace(this, Self::new(data)), Some(CallSite::caller()));
            }
            Claim::Taken => {
                // SAFETY: the strong count is 0, so the contents are this thread's, which leaves
                // the old place at once. Nothing in between panics.
                let data = unsafe { this.share.value().read() };
                this.share.give_back(size_of::<T>());
                drop(mem::replace(this, Self::new(data)).into_share());
            }
        }
        // SAFETY: there is no other `Arc` or `Weak` of these contents: either the counts say so, or
        // they are new.
        unsafe { &mut *this.share.value() }
    }

    /// As [`std::sync::Arc::unwrap_or_clone`].
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T {
        match Self::try_unwrap(this) {
            Ok(data) => data,
            Err(this) => T::clone(&this),
        }
    }
}

impl<T: ?Sized> Arc<T> {
    /// As [`std::sync::Arc::from_raw`].
    ///
    /// With it an `Arc` comes to have an unsized type:
    ///
    /// ```
    /// use std::fmt::Display;
    /// # use racelog::sync::Arc;
    ///
    /// let number = Arc::new(5);
    /// let raw = Arc::into_raw(number) as *const dyn Display;
    /// // SAFETY: it is the pointer that `into_raw` gave, coerced to an unsized type.
    /// let shown = unsafe { Arc::from_raw(raw) };
    /// assert_eq!(shown.to_string(), "5");
    /// ```
    ///
    /// # Safety
    ///
    /// As of std's.
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: the caller has the pointer from `into_raw`, which forgot the share.
        Self { share: unsafe { Share::from_value(ptr) } }
    }

    /// As [`std::sync::Arc::into_raw`].
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(this: Self) -> *const T {
        this.into_share().into_value()
    }

    /// As [`std::sync::Arc::increment_strong_count`].
    ///
    /// # Safety
    ///
    /// As of std's.
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: the caller has the pointer from `into_raw`. What it stands for is not dropped.
        let this = ManuallyDrop::new(unsafe { Self::from_raw(ptr) });
        let _more = ManuallyDrop::new(Self::clone(&this));
    }

    /// As [`std::sync::Arc::decrement_strong_count`].
    ///
    /// # Safety
    ///
    /// As of std's.
    #[track_caller]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: the caller has the pointer from `into_raw`, and gives it up.
        Self::release(unsafe { Self::from_raw(ptr) }, Some(CallSite::caller()));
    }

    /// As [`std::sync::Arc::as_ptr`].
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        this.share.value()
    }

    /// As [`std::sync::Arc::downgrade`].
    #[must_use = "this returns a new `Weak` pointer, without modifying the original `Arc`"]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.counts().downgraded(Some(CallSite::caller()));
        Weak { share: this.share.clone() }
    }

    /// As [`std::sync::Arc::weak_count`].
    #[must_use]
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        this.counts().weak(Some(CallSite::caller()))
    }

    /// As [`std::sync::Arc::strong_count`].
    #[must_use]
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.counts().strong(Some(CallSite::caller()))
    }

    /// As [`std::sync::Arc::ptr_eq`].
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.share.value(), other.share.value())
    }

    /// As [`std::sync::Arc::get_mut`].
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        // SAFETY: there is no other `Arc` or `Weak` of these contents, and none can be made while
        // this one is borrowed.
        this.counts().unique(Some(CallSite::caller())).then(|| unsafe { &mut *this.share.value() })
    }

    fn counts(&self) -> &Counts {
        self.share.counts().expect("an `Arc` has contents")
    }

    /// The share, which no longer counts as an `Arc`.
    fn into_share(self) -> Share<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, nor dropped.
        unsafe { ptr::read(&raw const this.share) }
    }

    /// Drops an `Arc`, where it is known who does.
    fn release(this: Self, here: Option<CallSite>) {
        let last = this.counts().dropped(here);
        // Frees the memory also if the contents panic.
        let share = this.into_share();
        if last {
            // SAFETY: the strong count became 0 here.
            unsafe { Self::drop_contents(&share) };
        }
    }

    /// Drops the contents.
    ///
    /// # Safety
    ///
    /// The caller made the strong count 0, so the contents are this thread's to drop.
    unsafe fn drop_contents(share: &Share<T>) {
        let contents = share.value();
        // SAFETY: the contents are there until they are dropped.
        let size = size_of_val(unsafe { &*contents });
        // SAFETY: as the caller promises.
        unsafe { ptr::drop_in_place(contents) };
        share.give_back(size);
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// As [`std::sync::Arc::downcast`].
    ///
    /// # Errors
    ///
    /// The `Arc`, if its contents are of another type.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        if (*self).is::<T>() {
            // SAFETY: the pointer is from `into_raw`, and the contents are of that type.
            Ok(unsafe { Arc::from_raw(Self::into_raw(self).cast::<T>()) })
        } else {
            Err(self)
        }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.counts().cloned(Some(CallSite::caller()));
        Self { share: self.share.clone() }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        if self.counts().dropped(None) {
            // SAFETY: the strong count became 0 here. The share, and with it the memory, is dropped
            // after this, also if the contents panic.
            unsafe { Self::drop_contents(&self.share) };
        }
    }
}
