//! Uses of what locks guard, by their guards, in instrumented code.
//!
//! A `*` in the program may be that of a guard of ours around a word. The expansion cannot know;
//! method resolution does, as for raw pointers ([`pointer`](super::pointer)): [`PointerProbe`] and
//! [`Pointer`] have inherent methods for these guards as well.
//!
//! What such a use does is known: a word is copied out, or compared, or written, or updated by an
//! operator. So its event is expected at the place of the `*`. References that go elsewhere are
//! not: who has one may go by the word at any time, and a `&mut` may be written through at any
//! time.

use super::following::Slot;
use super::pointer::{Next, Pointer, PointerProbe};
use super::{HOOKS, branch};
use crate::rt::{CallSite, HeldUse, PlainWord, held};
use crate::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// A guard of ours of a lock around a word.
pub trait WordGuard {
    /// Instrumented code has it in sight as long as it is there: it is the value of an expression,
    /// and goes at the end of the statement, or of the block.
    fn stays_in_sight(&mut self);
}

macro_rules! word_guards {
    ($($Guard:ident)*) => {$(
        impl<T: PlainWord> WordGuard for $Guard<'_, T> {
            #[inline]
            fn stays_in_sight(&mut self) {
                $Guard::stays_in_sight(self);
            }
        }
    )*};
}

word_guards! { MutexGuard RwLockReadGuard RwLockWriteGuard }

/// A use that comes next, of which it is said when it is over.
#[derive(Debug)]
pub struct NextHeld;

impl NextHeld {
    /// The use is made, and this is its result.
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        result
    }
}

impl Drop for NextHeld {
    #[inline]
    fn drop(&mut self) {
        held::give_up();
    }
}

impl<G: WordGuard> PointerProbe<G> {
    /// Whether what is done by it makes events of ours.
    #[inline]
    pub fn ours(self) -> bool {
        true
    }

    /// The word is read next.
    #[track_caller]
    #[inline]
    pub fn reading<T: ?Sized>(self, _: impl FnOnce() -> *const T) -> NextHeld {
        held::begin(HeldUse::Read, CallSite::caller());
        NextHeld
    }

    /// As `reading`, where the guard may depend on what was read.
    #[track_caller]
    #[inline]
    pub fn decided_reading<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> NextHeld {
        branch(Some(CallSite::caller()));
        self.reading(place)
    }

    /// The word is compared next.
    #[track_caller]
    #[inline]
    pub fn looking(self) -> Next {
        held::begin(HeldUse::Look, CallSite::caller());
        Next
    }

    /// The word is written next.
    #[track_caller]
    #[inline]
    pub fn writing<T>(self, value: T, _: impl FnOnce() -> *const T) -> T {
        held::begin(HeldUse::Write, CallSite::caller());
        value
    }

    /// The word is updated next.
    #[track_caller]
    #[inline]
    pub fn operand<T, V>(self, operand: V, _: impl FnOnce() -> *const T) -> V {
        held::begin(HeldUse::Update, CallSite::caller());
        operand
    }
}

impl<G: WordGuard> Pointer<G> {
    /// What is found next gets a name.
    #[inline]
    pub fn naming(self, slot: &Slot, name: &'static str) -> Self {
        slot.begin(true, name);
        self
    }

    /// What comes next leaves what a slot has.
    #[inline]
    pub fn leaving(self, slot: &Slot) -> Self {
        HOOKS.leaves(slot.take());
        self
    }

    fn about_to(mut self, used: HeldUse, here: CallSite) -> G {
        self.0.stays_in_sight();
        held::begin(used, here);
        self.0
    }

    /// The word is read next.
    #[track_caller]
    #[inline]
    pub fn reading<T: ?Sized>(self, _: impl FnOnce(G) -> *const T) -> G {
        self.about_to(HeldUse::Read, CallSite::caller())
    }

    /// The word is compared next.
    #[track_caller]
    #[inline]
    pub fn looking(self) -> G {
        self.about_to(HeldUse::Look, CallSite::caller())
    }

    /// The word is written next.
    #[track_caller]
    #[inline]
    pub fn writing<T: ?Sized>(self, _: impl FnOnce(G) -> *const T) -> G {
        self.about_to(HeldUse::Write, CallSite::caller())
    }

    /// The word is updated next.
    #[track_caller]
    #[inline]
    pub fn updating<T: ?Sized>(self, _: impl FnOnce(G) -> *const T) -> G {
        self.about_to(HeldUse::Update, CallSite::caller())
    }
}
