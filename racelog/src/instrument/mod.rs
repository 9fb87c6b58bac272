//! The functions that code under `#[racelog::instrument]` calls.
//!
//! The model is that of Huang, Meredith and Roşu, PLDI 2014: a branch event says that what its
//! thread does from here on depends on what it has read. Code that records all its branches needs
//! no implicit ones after its reads.
//!
//! What is guaranteed: a read counts as one of instrumented code only if it is an operation of ours
//! that such code calls itself ([`shim`]), or an access of bare memory that it makes itself
//! ([`pointer`]); and between such a read and anything that may go by its value there is a branch.
//! Everything else that runs, on whatever occasion, is code that was not instrumented: its reads
//! are followed by implicit branches, and its events by themselves bring the branch that is owed
//! for earlier reads.
//!
//! What deviates from the paper: a branch is recorded only where something was read since the last
//! one, for others would say nothing new.
//!
//! What is missed: see `docs/ARCHITECTURE.md`, "Recorded code".

mod arithmetic;
mod callee;
mod data;
mod fallback;
mod following;
mod functions;
mod guards;
mod known;
mod length;
mod pointer;
mod scope;
mod shim;

use std::mem::needs_drop;

pub use callee::{Callee, OtherCallee1, OtherCallee2, OtherCallee3};
pub use data::{Naming, Origin};
pub use fallback::{PointerFallback, PointerProbeFallback};
pub use following::{Followed, Slot, Slots};
pub use functions::{
    box_of, memory_freed, memory_moved, ptr_copy, ptr_drop, ptr_read, ptr_replace, ptr_swap,
    ptr_swap_many, ptr_write, ptr_write_bytes, slice_of, slice_of_mut, vec_of,
};
pub use known::{For, IsKnown, IsRecorded, IsUnknown, Seen};
pub use length::{HasLength, HasNoLength};
pub use pointer::{Pointer, PointerProbe, named};
pub use shim::{IsOther, IsOtherGuard, IsShim, IsShimGuard, Probe};

use crate::rt::{CallSite, with};
use pointer::Next;

/// What the expansion calls. It puts each call where the program's own code is, so that events have
/// the location of that code.
#[derive(Clone, Copy, Debug)]
pub struct Hooks;

/// The value that the methods of `Hooks` are called on.
pub const HOOKS: Hooks = Hooks;

impl Hooks {
    /// A branch, if something was read since the last one.
    #[track_caller]
    #[inline]
    pub fn branch(self) {
        branch(Some(CallSite::caller()));
    }

    /// The value, and a branch after it was made.
    #[track_caller]
    #[inline]
    pub fn after<T>(self, value: T) -> T {
        branch(Some(CallSite::caller()));
        value
    }

    /// A branch now, before what is evaluated next.
    #[track_caller]
    #[inline]
    pub fn before(self) -> Next {
        branch(Some(CallSite::caller()));
        Next
    }

    /// A branch, and true: for the middle of a chain of conditions.
    #[track_caller]
    #[inline]
    pub fn decided(self) -> bool {
        branch(Some(CallSite::caller()));
        true
    }

    /// A value of this type was just overwritten: its destructor may have gone by what was read.
    #[track_caller]
    #[inline]
    pub fn overwritten<T>(self, _: *const T) {
        if needs_drop::<T>() {
            branch(Some(CallSite::caller()));
        }
    }
}

/// A branch, if something was read since the last one.
#[inline]
fn branch(here: Option<CallSite>) {
    with(|log| {
        if log.is_pending() {
            log.branch(here);
        }
    });
}

/// Whether something was read that no branch has followed yet: for tests of the expansion.
#[doc(hidden)]
pub fn owes_branch() -> bool {
    with(crate::rt::ThreadLog::is_pending).unwrap_or(false)
}
