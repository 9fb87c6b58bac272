//! Whose the memory is that a thread frees: the program's, or the recorder's own.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// Whose the memory is that a thread frees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Freed {
    /// The program's. What orders the free with the accesses of others is recorded, if anything
    /// does.
    Program,
    /// The program's, but what makes this thread the one that frees it is not recorded: the count
    /// of an `Arc` of std's within a type of ours.
    Unordered,
    /// The recorder's.
    Recorder,
}

thread_local! {
    static FREED: Cell<Freed> = const { Cell::new(Freed::Program) };
}

/// Puts back what was assumed before of the memory that a thread frees.
pub(crate) struct Frees(Freed);

impl Drop for Frees {
    fn drop(&mut self) {
        FREED.set(self.0);
    }
}

fn freeing(freed: Freed) -> Frees {
    let before = FREED.get();
    FREED.set(before.max(freed));
    Frees(before)
}

/// Until the result is dropped, what this thread frees is the recorder's own.
pub(in crate::rt) fn quiet() -> Frees {
    freeing(Freed::Recorder)
}

/// Until the result is dropped, what this thread frees is forgotten, and no more: it is not
/// recorded what makes this thread the one that frees it.
pub(crate) fn unordered_frees() -> Frees {
    freeing(Freed::Unordered)
}

/// Something that an `Arc` of std's within the recorder's types may own: which of its owners frees
/// it is not recorded.
pub(crate) struct Unordered<T>(ManuallyDrop<T>);

impl<T> Unordered<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, nor dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T> Deref for Unordered<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Unordered<T> {
    fn drop(&mut self) {
        let _unordered = unordered_frees();
        // SAFETY: it is dropped once, and not used after that.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

/// Whether what this thread frees is the recorder's own.
#[inline]
pub(in crate::rt) fn is_quiet() -> bool {
    FREED.get() == Freed::Recorder
}

/// Whether what this thread frees is the program's, and what orders the free is recorded.
pub(in crate::rt) fn is_ordered() -> bool {
    FREED.get() == Freed::Program
}
