//! Uses after free, through raw pointers. Who reads freed memory finds something else there, as a
//! rule: the allocator's own.

use std::ptr;

use super::sync::Mutex;
use super::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use super::{both, keep_if, look, nap, thread};

/// What is in the memory as long as it is there.
const ALIVE: u64 = 0xa11f_e5ed;

/// A pointer that threads hand to each other.
#[derive(Clone, Copy)]
struct Shared(*mut u64);

// SAFETY: that is for those to see to who use it.
unsafe impl Send for Shared {}

/// Memory of its own.
fn made() -> *mut u64 {
    Box::into_raw(Box::new(ALIVE))
}

/// Reads what must be there.
fn read(place: *mut u64) {
    // SAFETY: it is there, if the program is right.
    assert_eq!(unsafe { look(place) }, ALIVE, "it was freed");
}

/// Gives back what [`made`] made.
fn free(place: *mut u64) {
    // SAFETY: it was made by `made`, and is freed once.
    drop(unsafe { Box::from_raw(place) });
}

pub(crate) fn reader_that_says_so_too_late(right: bool) {
    let (node, readers) = (AtomicPtr::new(made()), AtomicU32::new(0));
    both(
        || {
            if right {
                readers.fetch_add(1, Ordering::SeqCst);
            }
            let found = node.load(Ordering::SeqCst);
            nap();
            if !right {
                readers.fetch_add(1, Ordering::SeqCst);
            }
            if !found.is_null() {
                read(found);
            }
            readers.fetch_sub(1, Ordering::SeqCst);
        },
        || {
            let old = node.swap(ptr::null_mut(), Ordering::SeqCst);
            while readers.load(Ordering::SeqCst) != 0 {
                thread::yield_now();
            }
            free(old);
        },
    );
}

pub(crate) fn list_that_is_cleared(right: bool) {
    let list = Mutex::new(Some(Shared(made())));
    both(
        || {
            let guard = list.lock().unwrap();
            let first = *guard;
            let kept = keep_if(right, guard);
            nap();
            if let Some(Shared(first)) = first {
                read(first);
            }
            drop(kept);
        },
        || {
            let first = list.lock().unwrap().take();
            if let Some(Shared(first)) = first {
                free(first);
            }
        },
    );
}
