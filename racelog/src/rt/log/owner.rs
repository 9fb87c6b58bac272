//! Threads that cells can belong to: see `objects::ownership`.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A thread that cells can belong to. It is never freed, for a cell may outlive its owner.
#[repr(align(64))]
pub(in crate::rt) struct Owner {
    /// The address of what says to whom the cell belongs that the thread is busy with.
    pub(in crate::rt) busy: AtomicUsize,
    /// No event of the thread so far has a larger stamp.
    pub(in crate::rt) bound: AtomicU64,
    /// Whether no cell belongs to the thread any more, whatever the cells say.
    pub(in crate::rt) retired: AtomicBool,
    /// The log of the thread, which alone looks at it, while [`OWNER`] is this. Only
    /// `objects::ownership`, which stands above the log, knows its type.
    pub(in crate::rt) log: Cell<*const ()>,
}

// SAFETY: only one thread uses the pointer.
unsafe impl Sync for Owner {}

impl Owner {
    /// Makes the thread with this log one that cells can belong to.
    pub(in crate::rt) fn new(log: *const ()) -> &'static Self {
        Box::leak(Box::new(Self {
            busy: AtomicUsize::new(0),
            bound: AtomicU64::new(0),
            retired: AtomicBool::new(false),
            log: Cell::new(log),
        }))
    }

    /// Until this is called again the thread's stamps stay below this.
    pub(in crate::rt) fn will_reach(&self, stamp: u64) {
        self.bound.store(stamp, Ordering::Relaxed);
    }

    /// No cell belongs to the thread any more. After a fence everywhere, once it is not busy, it
    /// uses none without its lock.
    pub(in crate::rt) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    pub(in crate::rt) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) != 0
    }

    /// No event of the thread so far has a larger stamp.
    pub(in crate::rt) fn bound(&self) -> u64 {
        self.bound.load(Ordering::Relaxed)
    }
}

thread_local! {
    /// The owner that the calling thread is, null if none.
    static OWNER: Cell<*const Owner> = const { Cell::new(ptr::null()) };
}

/// The calling thread is this owner from now on, or none.
pub(in crate::rt) fn enter(owner: Option<&'static Owner>) {
    OWNER.set(owner.map_or(ptr::null(), ptr::from_ref));
}

/// The owner that the calling thread is, null if none.
#[inline]
pub(in crate::rt) fn current() -> *const Owner {
    OWNER.get()
}
