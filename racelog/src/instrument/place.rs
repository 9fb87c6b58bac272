//! Accesses through pointers by instrumented code.
//!
//! The expansion cannot know which pointers are raw; method resolution does. [`Place`] and [`Pointee`]
//! have inherent methods for raw pointers, which record, and the same methods by a trait for
//! everything else, which do not: inherent ones are found first.
//!
//! The functions here are not `unsafe`, for they must be called in both cases; the expansion calls
//! them only where the program itself makes the access next.

use std::marker::PhantomData;
use std::panic::Location;

use super::{Here, branch};
use crate::rt::raw;

/// A pointer that can be named again: its type, for that can be had without moving it.
#[derive(Debug)]
pub struct Place<P>(PhantomData<P>);

impl<P> Place<P> {
    /// That of a variable.
    #[inline]
    pub fn of(_: impl FnOnce() -> *const P) -> Self {
        Self(PhantomData)
    }

    /// That of a value.
    #[inline]
    pub fn by(_: impl FnOnce() -> P) -> Self {
        Self(PhantomData)
    }
}

/// A pointer that a call has returned.
#[derive(Debug)]
pub struct Pointee<P>(pub P);

/// An access that comes next, if it is one through a raw pointer.
#[derive(Debug)]
pub struct Next;

impl Next {
    /// The access is made, and this is its result.
    #[track_caller]
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        Here.made(result)
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
    raw: bool,
}

impl NextCall {
    /// The access is made, and this is its result.
    #[track_caller]
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        if self.raw { Here.made(result) } else { result }
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
        Here.made(result)
    }
}

impl Drop for Updating {
    #[inline]
    fn drop(&mut self) {
        raw::give_up();
    }
}

impl Here {
    /// The access that was begun is made, and this is its result.
    #[track_caller]
    #[inline]
    pub fn made<R>(self, result: R) -> R {
        if !raw::end() {
            // No raw pointer, but perhaps somebody's `Deref`, destructor or operator.
            branch(Some(Location::caller()));
        }
        result
    }

    /// An update by an operator, which may panic.
    #[inline]
    pub fn updating(self) -> Updating {
        Updating
    }

    /// A `static mut`, or something that looks like one, is read next.
    #[track_caller]
    #[inline]
    pub fn reading_static<T>(self, place: *const T) -> NextStatic {
        raw::begin_read_static(place, Some(Location::caller()));
        NextStatic
    }

    /// A `static mut` is written next, once the value is evaluated.
    #[track_caller]
    #[inline]
    pub fn writing_static<T>(self, value: T, place: *mut T) -> T {
        raw::begin_write(place, &value, Some(Location::caller()));
        value
    }

    /// A `static mut` is updated next, once the operand is evaluated.
    #[track_caller]
    #[inline]
    pub fn updating_static<T, V>(self, operand: V, place: *mut T) -> V {
        raw::begin_update(place, Some(Location::caller()));
        operand
    }
}

macro_rules! raw_methods {
    ($([$($type:tt)*])*) => {$(
        #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "see the head of the file")]
        impl<P> Place<$($type)* P> {
            /// This is read next.
            #[track_caller]
            #[inline]
            pub fn reading<T>(self, place: impl FnOnce() -> *const T) -> Next {
                raw::begin_read(place(), Some(Location::caller()));
                Next
            }

            /// As `reading`, where the pointer may depend on what was read.
            #[track_caller]
            #[inline]
            pub fn decided_reading<T>(self, place: impl FnOnce() -> *const T) -> Next {
                branch(Some(Location::caller()));
                self.reading(place)
            }

            /// What this variable points to is read next, by a method.
            #[track_caller]
            #[inline]
            pub fn reading_it(self, pointer: *const $($type)* P) -> NextCall {
                branch(Some(Location::caller()));
                // SAFETY: it is the address of a variable that the program uses next.
                raw::begin_read(unsafe { *pointer }, Some(Location::caller()));
                NextCall { raw: true }
            }

            /// This is written next.
            #[track_caller]
            #[inline]
            pub fn writing<T>(self, value: T, place: impl FnOnce() -> *const T) -> T {
                raw::begin_write(place(), &value, Some(Location::caller()));
                value
            }

            /// What this variable points to is written next, by a method.
            #[track_caller]
            #[inline]
            pub fn writing_it<V>(self, value: V, pointer: *const $($type)* P) -> V {
                // SAFETY: it is the address of a variable that the program uses next.
                raw::begin_write(unsafe { *pointer }, &value, Some(Location::caller()));
                value
            }

            /// This is updated next.
            #[track_caller]
            #[inline]
            pub fn operand<T, V>(self, operand: V, place: impl FnOnce() -> *const T) -> V {
                raw::begin_update(place(), Some(Location::caller()));
                operand
            }

            /// This is used next, in a way that nobody knows.
            #[track_caller]
            #[inline]
            pub fn using<T>(self, is_shim: bool, place: impl FnOnce() -> *const T) -> Next {
                if !is_shim {
                    raw::used(place(), Some(Location::caller()));
                }
                Next
            }
        }

        impl<P> Pointee<$($type)* P> {
            /// What it points to is read next.
            #[track_caller]
            #[inline]
            pub fn reading(self) -> $($type)* P {
                raw::begin_read(self.0, Some(Location::caller()));
                self.0
            }

            /// What it points to is written next.
            #[track_caller]
            #[inline]
            pub fn writing(self) -> $($type)* P {
                raw::begin_write_later(self.0, Some(Location::caller()));
                self.0
            }

            /// What it points to is updated next.
            #[track_caller]
            #[inline]
            pub fn updating(self) -> $($type)* P {
                raw::begin_update(self.0, Some(Location::caller()));
                self.0
            }

            /// What it points to is used next, in a way that nobody knows.
            #[track_caller]
            #[inline]
            pub fn using(self) -> $($type)* P {
                raw::used(self.0, Some(Location::caller()));
                self.0
            }
        }
    )*};
}

raw_methods! { [*const] [*mut] }

/// [`Place`] for everything that is no raw pointer.
pub trait PlaceFallback: Sized {
    /// What was looked at.
    type Pointer;

    /// See [`Place`].
    #[inline]
    fn reading<T: ?Sized>(self, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`Place`].
    #[inline]
    fn decided_reading<T: ?Sized>(self, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`Place`].
    #[inline]
    fn reading_it(self, _: *const Self::Pointer) -> NextCall {
        NextCall { raw: false }
    }

    /// See [`Place`].
    #[inline]
    fn writing<T>(self, value: T, _: impl FnOnce() -> *const T) -> T {
        value
    }

    /// See [`Place`].
    #[inline]
    fn writing_it<V>(self, value: V, _: *const Self::Pointer) -> V {
        value
    }

    /// See [`Place`].
    #[inline]
    fn operand<T, V>(self, operand: V, _: impl FnOnce() -> *const T) -> V {
        operand
    }

    /// See [`Place`].
    #[inline]
    fn using<T: ?Sized>(self, _: bool, _: impl FnOnce() -> *const T) -> Next {
        Next
    }
}

impl<P> PlaceFallback for Place<P> {
    type Pointer = P;
}

/// [`Pointee`] for everything that is no raw pointer.
pub trait PointeeFallback: Sized {
    /// What was wrapped.
    type Pointer;

    /// See [`Pointee`].
    fn reading(self) -> Self::Pointer;

    /// See [`Pointee`].
    fn writing(self) -> Self::Pointer;

    /// See [`Pointee`].
    fn updating(self) -> Self::Pointer;

    /// See [`Pointee`].
    fn using(self) -> Self::Pointer;
}

impl<P> PointeeFallback for Pointee<P> {
    type Pointer = P;

    #[inline]
    fn reading(self) -> P {
        self.0
    }

    #[inline]
    fn writing(self) -> P {
        self.0
    }

    #[inline]
    fn updating(self) -> P {
        self.0
    }

    #[inline]
    fn using(self) -> P {
        self.0
    }
}

/// A read by `ptr::read`, or what is called so.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_read<T>(read: unsafe fn(*const T) -> T, place: *const T) -> T {
    raw::begin_read(place, Some(Location::caller()));
    // SAFETY: the caller vouches for the place.
    Here.made(unsafe { read(place) })
}

/// A write by `ptr::write`, or what is called so.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_write<T>(write: unsafe fn(*mut T, T), place: *mut T, value: T) {
    raw::begin_write(place, &value, Some(Location::caller()));
    // SAFETY: the caller vouches for the place.
    unsafe { write(place, value) };
    raw::end();
}
