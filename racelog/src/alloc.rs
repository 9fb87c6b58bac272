//! What the recorder has to know of the heap: when memory is given back.
//!
//! Memory that is reached through raw pointers is known by its address, and addresses are used
//! again. With the feature `allocator`, which is on by default, [`Recorded`] is the program's
//! allocator, so that two objects at one address are two objects. A program that has an allocator
//! of its own turns that feature off, and wraps it:
//!
//! ```
//! # #[cfg(not(all(feature = "record", feature = "allocator")))]
//! # mod allocator {
//! use racelog::alloc::Recorded;
//! # use std::alloc::System as TheirAllocator;
//!
//! #[global_allocator]
//! static ALLOCATOR: Recorded<TheirAllocator> = Recorded(TheirAllocator);
//! # }
//! ```
//!
//! If it does not, the recorder notices, and keeps the order of all accesses of memory that could
//! be freed: it finds no races there. Without the feature `record` all this does nothing.
//!
//! With the feature `recorded-arc` a free is recorded, too, as a write of all that was accessed in
//! the memory: one that nothing orders with an access is a race.

use std::alloc::{GlobalAlloc, Layout, System};

/// An allocator that tells the recorder what is freed, and leaves the rest to another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded<A = System>(pub A);

// SAFETY: it does what `A` does.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Recorded<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        free(place, layout.size());
        // SAFETY: as above.
        unsafe { self.0.dealloc(place, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Before, for after it the memory may be another thread's. If it stays where it is, it is
        // another object all the same: nobody else can be using it now.
        free(place, layout.size());
        // SAFETY: as above.
        unsafe { self.0.realloc(place, layout, new_size) }
    }
}

/// So many bytes are about to be freed.
#[inline]
fn free(place: *const u8, size: usize) {
    #[cfg(feature = "record")]
    crate::rt::free_memory(place.addr(), size);
    #[cfg(not(feature = "record"))]
    let _ = (place, size);
}

/// So many bytes at a place are about to be used for something else: what was recorded of them is
/// forgotten. For memory that does not go back to the allocator, such as that of pools and
/// mappings of the program's own.
#[inline]
pub fn forget(place: *const u8, size: usize) {
    #[cfg(feature = "record")]
    crate::rt::forget_memory(place.addr(), size);
    #[cfg(not(feature = "record"))]
    let _ = (place, size);
}

#[cfg(all(feature = "record", feature = "allocator", not(own_allocator)))]
#[global_allocator]
static ALLOCATOR: Recorded = Recorded(System);
