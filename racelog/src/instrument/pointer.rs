//! Accesses through pointers by instrumented code.
//!
//! The expansion cannot know which pointers are raw; method resolution does. [`PointerProbe`] and
//! [`Pointer`] have inherent methods for raw pointers, which record, and the same methods by a
//! trait for everything else, which do not: inherent ones are found first.
//!
//! The functions here are not `unsafe`, for they must be called in both cases; the expansion calls
//! them only where the program itself makes the access next.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::following::Slot;
use super::functions;
use super::known::Seen;
use super::{Hooks, branch};
use crate::cell;
use crate::contract::marker::Marker;
use crate::rt::{CallSite, borrow, held, raw, with};

/// The type of a pointer that can be named again. The type can be had without moving the pointer.
#[derive(Debug)]
pub struct PointerProbe<P>(PhantomData<P>);

impl<P> PointerProbe<P> {
    /// The type of a variable.
    #[inline]
    pub fn of(_: impl FnOnce() -> *const P) -> Self {
        Self(PhantomData)
    }

    /// The type of a value.
    #[inline]
    pub fn by(_: impl FnOnce() -> P) -> Self {
        Self(PhantomData)
    }
}

/// What a place that is accessed next is named by, where that takes a call.
#[inline]
pub fn named<T: ?Sized>(place: impl FnOnce() -> *const T) -> *const T {
    cell::named(place)
}

/// A pointer that is the value of an expression, which can be evaluated only once.
#[derive(Debug)]
pub struct Pointer<P>(pub P);

/// An access that comes next, if it is one through a raw pointer.
#[derive(Debug)]
pub struct Next;

impl Next {
    /// The access is made, and this is its result.
    #[track_caller]
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        Hooks.made(result)
    }

    /// A value that is evaluated after what was said.
    #[inline]
    pub fn then<V>(self, value: V) -> V {
        value
    }
}

/// As [`Next`], of a `static mut` or a constant.
#[derive(Debug)]
pub struct NextStatic;

impl NextStatic {
    /// The access is made, and this is its result.
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        raw::end();
        result
    }
}

/// As [`Next`], of a call that says itself what it is if it is no raw pointer's method.
#[derive(Debug)]
pub struct NextCall {
    pub(super) raw: bool,
}

impl NextCall {
    /// The access is made, and this is its result.
    #[track_caller]
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        if self.raw { Hooks.made(result) } else { result }
    }
}

/// An update that is going on; over when it goes, by return or by panic.
#[derive(Debug)]
pub struct Updating;

impl Updating {
    /// The update is made.
    #[track_caller]
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        Hooks.made(result)
    }
}

impl Drop for Updating {
    #[inline]
    fn drop(&mut self) {
        raw::give_up();
        held::give_up();
    }
}

impl Hooks {
    /// The access that was begun is made, and this is its result.
    #[track_caller]
    #[inline]
    pub fn made<R>(self, result: R) -> R {
        let ours = raw::end() || held::end();
        with(crate::rt::ThreadLog::say_nothing);
        if !ours {
            // No raw pointer and no word that a lock guards, but perhaps a `Deref`, a destructor or
            // an operator of the program.
            branch(Some(CallSite::caller()));
        }
        result
    }

    /// An update by an operator, which may panic.
    #[inline]
    pub fn updating(self) -> Updating {
        Updating
    }

    /// A value is evaluated, and then something is said.
    #[inline]
    pub fn late<V>(self, value: V, say: impl FnOnce()) -> V {
        say();
        value
    }

    /// The last argument of a method was evaluated: its receiver is accessed next.
    #[track_caller]
    #[inline]
    pub fn fire<V>(self, value: V) -> V {
        borrow::fire(Some(CallSite::caller()));
        branch(Some(CallSite::caller()));
        value
    }

    /// There is a macro of this name here, with code that is not instrumented.
    #[track_caller]
    #[inline]
    pub fn code_within_macro(self, name: &str) -> Next {
        branch(Some(CallSite::caller()));
        borrow::unseen(Marker::Macro(name), Some(CallSite::caller()));
        Next
    }

    /// A reference is made next, of a type that is left to the compiler.
    #[track_caller]
    #[inline]
    pub fn raw_reference(self) -> Next {
        branch(Some(CallSite::caller()));
        borrow::unseen(Marker::RawReference, Some(CallSite::caller()));
        Next
    }

    /// A `static mut`, or something that looks like one, is read next, or a reference to it is
    /// made.
    #[track_caller]
    #[inline]
    pub fn using_static<T>(self, seen: Seen, place: *const T) -> Next {
        // A static that is not `mut` does not go out of sight.
        if seen != Seen::Unknown && !raw::is_constant_place(place) {
            used(seen, place, Some(CallSite::caller()));
        }
        Next
    }

    /// A `static mut`, or something that looks like one, is read next.
    #[track_caller]
    #[inline]
    pub fn reading_static<T>(self, place: *const T) -> NextStatic {
        raw::begin_read_static(place, Some(CallSite::caller()));
        NextStatic
    }

    /// A `static mut` is written next, once the value is evaluated.
    #[track_caller]
    #[inline]
    pub fn writing_static<T>(self, value: T, place: *mut T) -> T {
        raw::begin_write(place, &value, Some(CallSite::caller()));
        value
    }

    /// A `static mut` is updated next, once the operand is evaluated.
    #[track_caller]
    #[inline]
    pub fn updating_static<T, V>(self, operand: V, place: *mut T) -> V {
        raw::begin_update(place, Some(CallSite::caller()));
        operand
    }
}

/// A place is used next, through a reference.
#[inline]
fn used<T>(seen: Seen, place: *const T, here: Option<crate::rt::CallSite>) {
    match seen {
        Seen::Nothing => {}
        Seen::Read => {
            borrow::look(place, here);
            // Code that has the reference may go by what it refers to at any time.
            branch(here);
        }
        Seen::Write => borrow::lend(place, size_of::<T>(), here),
        Seen::Unknown => borrow::unseen(Marker::RawReference, here),
    }
}

macro_rules! raw_methods {
    ($([$($type:tt)*])*) => {$(
        #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "see the head of the file")]
        impl<P> PointerProbe<$($type)* P> {
            /// Whether what is done by it makes events of ours.
            #[inline]
            pub fn ours(self) -> bool {
                true
            }

            /// This is read next.
            #[track_caller]
            #[inline]
            pub fn reading<T>(self, place: impl FnOnce() -> *const T) -> Next {
                raw::begin_read(place(), Some(CallSite::caller()));
                Next
            }

            /// As `reading`, where the pointer may depend on what was read.
            #[track_caller]
            #[inline]
            pub fn decided_reading<T>(self, place: impl FnOnce() -> *const T) -> Next {
                branch(Some(CallSite::caller()));
                self.reading(place)
            }

            /// What this variable points to is read next, by a method.
            #[track_caller]
            #[inline]
            pub fn reading_it(self, pointer: *const $($type)* P) -> NextCall {
                branch(Some(CallSite::caller()));
                // SAFETY: it is the address of a variable that the program uses next.
                raw::begin_read(unsafe { *pointer }, Some(CallSite::caller()));
                NextCall { raw: true }
            }

            /// This is written next.
            #[track_caller]
            #[inline]
            pub fn writing<T>(self, value: T, place: impl FnOnce() -> *const T) -> T {
                raw::begin_write(place(), &value, Some(CallSite::caller()));
                value
            }

            /// What this variable points to is written next, by a method.
            #[track_caller]
            #[inline]
            pub fn writing_it<V>(self, value: V, pointer: *const $($type)* P) -> V {
                // SAFETY: it is the address of a variable that the program uses next.
                raw::begin_write(unsafe { *pointer }, &value, Some(CallSite::caller()));
                value
            }

            /// This is updated next.
            #[track_caller]
            #[inline]
            pub fn operand<T, V>(self, operand: V, place: impl FnOnce() -> *const T) -> V {
                raw::begin_update(place(), Some(CallSite::caller()));
                operand
            }

            /// A reference is made to this next.
            #[track_caller]
            #[inline]
            pub fn using<T>(self, seen: Seen, place: impl FnOnce() -> *const T) -> Next {
                used(seen, place(), Some(CallSite::caller()));
                Next
            }

            /// As `using`, by a method, once its arguments are evaluated.
            #[track_caller]
            #[inline]
            pub fn arming<T>(self, seen: Seen, place: impl FnOnce() -> *const T) -> Next {
                let here = Some(CallSite::caller());
                match seen {
                    Seen::Read => borrow::arm(place(), false, here),
                    Seen::Write => borrow::arm(place(), true, here),
                    Seen::Nothing | Seen::Unknown => used(seen, place(), here),
                }
                Next
            }

            /// What this variable points to is read and written next, by a method.
            #[track_caller]
            #[inline]
            pub fn replacing_it<V>(self, value: V, pointer: *const $($type)* P) -> V {
                branch(Some(CallSite::caller()));
                // SAFETY: it is the address of a variable that the program uses next.
                functions::replacing(unsafe { *pointer }, &value, Some(CallSite::caller()));
                value
            }

            /// What this variable points to and something else change places next, by a method.
            #[track_caller]
            #[inline]
            pub fn swapping_it<V: Points<Target = P>>(self, other: V, pointer: *const $($type)* P) -> V {
                branch(Some(CallSite::caller()));
                // SAFETY: it is the address of a variable that the program uses next.
                functions::swapping(unsafe { *pointer }, other.place(), 1, Some(CallSite::caller()));
                other
            }

            /// So many places from where this variable points to are copied there next.
            #[track_caller]
            #[inline]
            pub fn copying_to(
                self,
                pointer: *const $($type)* P,
                to: &impl Points<Target = P>,
                count: &usize,
            ) {
                // SAFETY: it is the address of a variable that the program uses next.
                let from: *const P = unsafe { *pointer };
                functions::copying(from, to.place(), *count, Some(CallSite::caller()));
            }

            /// So many places are copied to where this variable points to next.
            #[track_caller]
            #[inline]
            pub fn copying_from(
                self,
                pointer: *const $($type)* P,
                from: &impl Points<Target = P>,
                count: &usize,
            ) {
                // SAFETY: it is the address of a variable that the program uses next.
                let to: *const P = unsafe { *pointer };
                functions::copying(from.place(), to, *count, Some(CallSite::caller()));
            }

            /// So many places from where this variable points to are overwritten next.
            #[track_caller]
            #[inline]
            pub fn writing_bytes(self, pointer: *const $($type)* P, _: &u8, count: &usize) {
                // SAFETY: it is the address of a variable that the program uses next.
                let place: *const P = unsafe { *pointer };
                borrow::overwrite_many(place, *count, Some(CallSite::caller()));
            }

            /// What this variable points to is dropped next, by a method.
            #[track_caller]
            #[inline]
            pub fn dropping_it(self, pointer: *const $($type)* P) -> Next {
                branch(Some(CallSite::caller()));
                // SAFETY: it is the address of a variable that the program uses next.
                let place: *const P = unsafe { *pointer };
                borrow::overwrite_many(place, 1, Some(CallSite::caller()));
                Next
            }

            /// A reference to what this variable points to is made next, by a method.
            #[track_caller]
            #[inline]
            pub fn referring(
                self,
                pointer: *const $($type)* P,
                seen: impl FnOnce(*const P) -> Seen,
            ) -> Next {
                branch(Some(CallSite::caller()));
                // SAFETY: it is the address of a variable that the program uses next.
                let place: *const P = unsafe { *pointer };
                if !place.is_null() {
                    used(seen(place), place, Some(CallSite::caller()));
                }
                Next
            }
        }

        #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "see the head of the file")]
        impl<P> Pointer<$($type)* P> {
            /// What is found next gets a name.
            #[inline]
            pub fn naming(self, slot: &Slot, name: &'static str) -> Self {
                slot.begin(true, name);
                self
            }

            /// What comes next leaves what a slot has.
            #[inline]
            pub fn leaving(self, slot: &Slot) -> Self {
                Hooks.leaves(slot.take());
                self
            }

            /// This part of what it points to is read next.
            #[track_caller]
            #[inline]
            pub fn reading<T>(self, place: impl FnOnce($($type)* P) -> *const T) -> $($type)* P {
                raw::begin_read(place(self.0), Some(CallSite::caller()));
                self.0
            }

            /// This part of what it points to is written next.
            #[track_caller]
            #[inline]
            pub fn writing<T>(self, place: impl FnOnce($($type)* P) -> *const T) -> $($type)* P {
                raw::begin_write_later(place(self.0), Some(CallSite::caller()));
                self.0
            }

            /// This part of what it points to is updated next.
            #[track_caller]
            #[inline]
            pub fn updating<T>(self, place: impl FnOnce($($type)* P) -> *const T) -> $($type)* P {
                raw::begin_update(place(self.0), Some(CallSite::caller()));
                self.0
            }

            /// A reference to this part of what it points to is made next.
            #[track_caller]
            #[inline]
            pub fn using<T>(
                self,
                place: impl FnOnce($($type)* P) -> (*const T, Seen),
            ) -> $($type)* P {
                let (place, seen) = place(self.0);
                used(seen, place, Some(CallSite::caller()));
                self.0
            }
        }
    )*};
}

raw_methods! { [*const] [*mut] }

/// What can stand where a raw pointer is asked for.
pub trait Points {
    /// What it points to.
    type Target;

    /// Where.
    fn place(&self) -> *const Self::Target;
}

macro_rules! points {
    ($($type:ty)*) => {$(
        impl<P> Points for $type {
            type Target = P;

            #[inline]
            fn place(&self) -> *const P {
                &raw const **self
            }
        }
    )*};
}

points! { &P &mut P }

impl<P> Points for *const P {
    type Target = P;

    #[inline]
    fn place(&self) -> *const P {
        *self
    }
}

impl<P> Points for *mut P {
    type Target = P;

    #[inline]
    fn place(&self) -> *const P {
        self.cast_const()
    }
}

#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "see the head of the file")]
impl<P> PointerProbe<NonNull<P>> {
    /// As for raw pointers.
    #[track_caller]
    #[inline]
    pub fn referring(
        self,
        pointer: *const NonNull<P>,
        seen: impl FnOnce(*const P) -> Seen,
    ) -> Next {
        branch(Some(CallSite::caller()));
        // SAFETY: it is the address of a variable that the program uses next.
        let place = unsafe { *pointer }.as_ptr().cast_const();
        used(seen(place), place, Some(CallSite::caller()));
        Next
    }
}
