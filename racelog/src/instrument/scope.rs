//! The ends of blocks: where destructors run.

use std::cell::Cell;
use std::mem::needs_drop;

use super::{Hooks, branch};
use crate::rt::{CallSite, Expected, with};

impl Hooks {
    /// For the body of a function or a closure: a branch now, and one when it is left.
    #[track_caller]
    #[inline]
    pub fn body(self) -> Body {
        let here = Some(CallSite::caller());
        branch(here);
        Body { here }
    }

    /// For a block with variables of its own: it is made first, so it goes last.
    #[track_caller]
    #[inline]
    pub fn block(self) -> Block {
        Block { here: Some(CallSite::caller()), drops: Cell::new(false) }
    }

    /// Made just before a guard of ours, so it goes just after it.
    #[inline]
    pub fn released(self) -> Released {
        Released
    }
}

/// The body of a function. What it has read without a branch, its caller must not find without one:
/// it may be code that does not record its own.
#[derive(Debug)]
pub struct Body {
    here: Option<CallSite>,
}

impl Drop for Body {
    #[inline]
    fn drop(&mut self) {
        branch(self.here);
    }
}

/// A block. If one of its variables has a destructor, that may have gone by what was read before.
#[derive(Debug)]
pub struct Block {
    here: Option<CallSite>,
    drops: Cell<bool>,
}

impl Block {
    /// There is such a variable.
    #[inline]
    pub fn has<T>(&self, _: *const T) {
        self.drops(needs_drop::<T>());
    }

    /// There is a variable with a destructor, if this says so.
    #[inline]
    pub fn drops(&self, drops: bool) {
        if drops {
            self.drops.set(true);
        }
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        if self.drops.get() {
            branch(self.here);
        }
    }
}

/// Ends what [`Releasing`] has begun.
#[derive(Debug)]
pub struct Released;

impl Drop for Released {
    #[inline]
    fn drop(&mut self) {
        with(|log| log.expect(Expected::Nothing));
    }
}

/// Made just after a guard of ours, so it goes just before it: that the guard lets go of its lock
/// at the end of its block is no decision of the program.
#[derive(Debug)]
pub struct Releasing {
    /// Where the lock was taken; `None` if it is no guard of ours.
    pub(super) here: Option<CallSite>,
}

impl Drop for Releasing {
    #[inline]
    fn drop(&mut self) {
        // That a panic ends the block is one.
        if let Some(here) = self.here.filter(|_| !std::thread::panicking()) {
            with(|log| log.expect(Expected::At(here)));
        }
    }
}
