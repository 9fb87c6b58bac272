//! Where the contents of an `Arc` live.
//!
//! The memory is an allocation of std's `Arc`, of which each of our `Arc`s and `Weak`s has a share.
//! It only frees the memory: when the contents go is a matter of our own [`Counts`], because it the
//! thread that recorded the last drop must be the one that drops them. So a thread that has
//! recorded its drop may still have a share while another frees the contents, and all is well.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::counts::Counts;
use crate::rt;

/// What is in the allocation. The counts go first, for what comes last may be unsized.
#[repr(C)]
struct Inner<T: ?Sized> {
    counts: Counts,
    /// Dropped, or moved out, when the strong count becomes 0.
    value: ManuallyDrop<T>,
}

/// What std's `Arc` holds. The cell says that the contents change while there are references to
/// the whole, which std's `Arc` makes for its own purposes.
type Held<T> = UnsafeCell<Inner<T>>;

/// A share of the allocation, or of none: a `Weak` that never had an `Arc`.
///
/// It is a pointer, rather than std's `Arc`, so that it is covariant in spite of the cell, and so
/// that a share of none can be one of an unsized type.
pub(super) struct Share<T: ?Sized>(NonNull<Inner<T>>);

// SAFETY: shares give access to the contents from every thread that has one, and the last one,
// whichever thread has it, drops them: that is what std asks for its `Arc`, too.
unsafe impl<T: ?Sized + Send + Sync> Send for Share<T> {}
// SAFETY: as above; a reference to a share is as good as a share, which can be cloned.
unsafe impl<T: ?Sized + Send + Sync> Sync for Share<T> {}

/// The address that a share of none has. No allocation reaches it.
const NOWHERE: usize = usize::MAX;

impl<T> Share<T> {
    pub(super) fn new(value: T, counts: Counts) -> Self {
        let inner = Inner { counts, value: ManuallyDrop::new(value) };
        Self::from_std(Arc::new(UnsafeCell::new(inner)))
    }

    pub(super) const fn nowhere() -> Self {
        // SAFETY: the address is not null.
        Self(unsafe { NonNull::new_unchecked(ptr::without_provenance_mut(NOWHERE)) })
    }
}

impl<T> Share<[MaybeUninit<T>]> {
    /// Room for a slice.
    pub(super) fn slice(len: usize, counts: Counts) -> Self {
        let layout = Layout::array::<T>(len)
            .and_then(|slice| Layout::new::<Counts>().extend(slice))
            .expect("the slice fits into memory")
            .0
            .pad_to_align();
        // SAFETY: there are the counts, so the size is not 0.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let inner = ptr::slice_from_raw_parts_mut(memory.cast::<MaybeUninit<T>>(), len)
            as *mut Held<[MaybeUninit<T>]>;
        // SAFETY: the memory is new, and has the layout of an `Inner`, which is `repr(C)`; its
        // counts are written here, and its value may be uninitialised. The cell is transparent.
        let boxed = unsafe {
            (&raw mut (*(inner as *mut Inner<[MaybeUninit<T>]>)).counts).write(counts);
            Box::from_raw(inner)
        };
        Self::from_std(Arc::from(boxed))
    }
}

impl<T: ?Sized> Share<T> {
    fn from_std(held: Arc<Held<T>>) -> Self {
        let pointer = Arc::into_raw(held).cast_mut() as *mut Inner<T>;
        // SAFETY: it points into an allocation.
        Self(unsafe { NonNull::new_unchecked(pointer) })
    }

    /// The counts; of a share of none there are none.
    pub(super) fn counts(&self) -> Option<&Counts> {
        // SAFETY: this is a share of the allocation, so it is there. The reference is to the counts
        // alone: another owner may have the value at the moment.
        (!self.is_nowhere()).then(|| unsafe { &(*self.0.as_ptr()).counts })
    }

    /// Where the contents are, or were; somewhere for a share of none.
    pub(super) fn value(&self) -> *mut T {
        let inner = self.0.as_ptr();
        if self.is_nowhere() {
            return inner as *mut T;
        }
        // SAFETY: this is a share of the allocation, so it is there.
        unsafe { &raw mut (*inner).value as *mut T }
    }

    /// The contents, which were so large, are gone, by the thread that made the strong count 0: to
    /// others that is as if their memory were freed, whichever thread frees it in the end.
    pub(super) fn give_back(&self, size: usize) {
        rt::free_memory(self.value().addr(), size);
    }

    /// A share, given the pointer that [`value`](Self::value) gave for one.
    ///
    /// # Safety
    ///
    /// There is such a share, it was forgotten for this one, and the types have the same layout.
    pub(super) unsafe fn from_value(value: *const T) -> Self {
        let inner = if value.addr() == NOWHERE {
            value as *mut Inner<T>
        } else {
            // SAFETY: it points to a value, or to where one was, in memory that is allocated. The
            // cell says that nothing is read, and that others may be writing.
            let align = align_of_val(unsafe { &*(value as *const UnsafeCell<ManuallyDrop<T>>) });
            let offset = size_of::<Counts>().next_multiple_of(align);
            // SAFETY: in an `Inner`, which is `repr(C)`, the value is that far from the start.
            unsafe { value.byte_sub(offset) as *mut Inner<T> }
        };
        // SAFETY: it points into an allocation, or nowhere, which is not null.
        Self(unsafe { NonNull::new_unchecked(inner) })
    }

    /// Forgets the share; [`from_value`](Self::from_value) has it again.
    pub(super) fn into_value(self) -> *mut T {
        ManuallyDrop::new(self).value()
    }

    fn is_nowhere(&self) -> bool {
        self.0.addr().get() == NOWHERE
    }

    /// The pointer that std's `Arc` gave.
    fn held(&self) -> *const Held<T> {
        self.0.as_ptr() as *const Held<T>
    }
}

impl<T: ?Sized> Clone for Share<T> {
    fn clone(&self) -> Self {
        if !self.is_nowhere() {
            // SAFETY: the pointer is from std's `Arc`, and this share holds one of its counts.
            unsafe { Arc::increment_strong_count(self.held()) };
        }
        Self(self.0)
    }
}

impl<T: ?Sized> Drop for Share<T> {
    fn drop(&mut self) {
        if !self.is_nowhere() {
            // Who has the last share is not recorded. What was in the contents is given back
            // before.
            let _unordered = rt::unordered_frees();
            // SAFETY: the pointer is from std's `Arc`, and this share holds one of its counts.
            unsafe { Arc::decrement_strong_count(self.held()) };
        }
    }
}
