//! Accesses of bare memory that a thread has begun and not ended: data that stands in its log.

use crate::rt::base::call_site::CallSite;
use crate::rt::base::spin::SpinGuard;
use crate::rt::memory::plain_words::Peek;
use crate::rt::memory::table::Cells;
use crate::trace::Value;

/// Keeps an address locked while the program makes the access that is recorded already.
pub(in crate::rt) type LockedMemory = SpinGuard<'static, Cells>;

/// An access that the program is about to make and that is recorded after it, with the address
/// locked.
pub(in crate::rt) struct OpenAccess {
    pub(in crate::rt) memory: Memory,
    pub(in crate::rt) cells: LockedMemory,
    pub(in crate::rt) here: Option<CallSite>,
    /// Whether it is an update, and no mere write.
    pub(in crate::rt) updates: bool,
    /// What the memory holds.
    pub(in crate::rt) peek: unsafe fn(usize) -> Value,
}

/// A change of what a lock guards that the program is in the middle of, by instrumented code.
#[derive(Clone, Copy)]
pub(in crate::rt) struct OpenHeld {
    /// What is known of the lock, which is held until the change is made.
    pub(in crate::rt) lock: *const (),
    /// Records the change, after which there is this.
    pub(in crate::rt) written: unsafe fn(*const (), Value),
    /// The data.
    pub(in crate::rt) data: *const (),
    pub(in crate::rt) peek: Peek,
    /// Whether it is an update, and no mere write.
    pub(in crate::rt) updates: bool,
    /// What was there before.
    pub(in crate::rt) found: Value,
    pub(in crate::rt) here: Option<CallSite>,
}

// SAFETY: the pointers are used by the thread alone that the log is of, in the middle of a change.
unsafe impl Send for OpenHeld {}

/// A place, by address and size.
#[derive(Clone, Copy)]
pub(in crate::rt) struct Memory {
    pub(in crate::rt) address: usize,
    pub(in crate::rt) size: u32,
}

/// An access that is made once other things are evaluated.
pub(in crate::rt) struct Armed {
    pub(in crate::rt) here: Option<CallSite>,
    pub(in crate::rt) address: usize,
    pub(in crate::rt) record: fn(usize, Option<CallSite>),
}
