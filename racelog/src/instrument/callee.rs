//! Functions that instrumented code calls by a name that a function of `std::ptr`, `std::slice` or
//! `std::alloc` has, without saying that it is this one: the `use` that says so stands where the
//! expansion does not see it.
//!
//! Method resolution knows the function's signature. If it is that of std's, the name of its type
//! says whether it is std's itself; functions of the program may look the same and do something
//! else. All others are called as they are.

use std::alloc::Layout;
use std::any::type_name;
use std::{alloc, ptr, slice};

use super::known::Seen;
use super::{branch, functions};
use crate::rt::CallSite;

/// A function, as a pointer, and the name of the function's own type.
#[derive(Debug)]
pub struct Callee<F> {
    function: F,
    name: &'static str,
}

impl<F> Callee<F> {
    /// The function that is called so.
    #[inline]
    pub fn of<N>(named: N, pointer: impl FnOnce(N) -> F) -> Self {
        Self { function: pointer(named), name: type_name::<N>() }
    }
}

fn name<N>(_: N) -> &'static str {
    type_name::<N>()
}

/// What is called if the function is std's, by its signature.
macro_rules! of_std {
    ($(
        [$($generics:tt)*] $function:ty,
        $method:ident($($argument:ident: $type:ty),*; $($seen:ident: $closure:ty)?) $(-> $returned:ty)?,
        $($std:expr),+;
    )*) => {$(
        impl<$($generics)*> Callee<$function> {
            /// As the function of ours that has this name, if it is std's that is called.
            ///
            /// # Safety
            ///
            /// As for the function that is called.
            #[track_caller]
            #[inline]
            pub unsafe fn $method(
                self,
                $($argument: $type,)*
                $($seen: $closure)?
            ) $(-> $returned)? {
                if [$(name($std)),+].contains(&self.name) {
                    // SAFETY: the caller vouches for what the function is called with.
                    unsafe { functions::$method(self.function, $($argument,)* $($seen)?) }
                } else {
                    branch(Some(CallSite::caller()));
                    // SAFETY: as above.
                    unsafe { (self.function)($($argument),*) }
                }
            }
        }
    )*};
}

of_std! {
    [T] unsafe fn(*const T) -> T, ptr_read(place: *const T;) -> T,
        ptr::read_volatile::<T>, ptr::read_unaligned::<T>;
    [T] unsafe fn(*mut T, T), ptr_write(place: *mut T, value: T;),
        ptr::write_volatile::<T>, ptr::write_unaligned::<T>;
    [T] unsafe fn(*const T, *mut T, usize), ptr_copy(from: *const T, to: *mut T, count: usize;),
        ptr::copy::<T>, ptr::copy_nonoverlapping::<T>;
    [T] unsafe fn(*mut T, *mut T), ptr_swap(one: *mut T, other: *mut T;), ptr::swap::<T>;
    [T] unsafe fn(*mut T, *mut T, usize),
        ptr_swap_many(one: *mut T, other: *mut T, count: usize;),
        ptr::swap_nonoverlapping::<T>;
    [T] unsafe fn(*mut T, T) -> T, ptr_replace(place: *mut T, value: T;) -> T, ptr::replace::<T>;
    [T] unsafe fn(*mut T, u8, usize), ptr_write_bytes(place: *mut T, byte: u8, count: usize;),
        ptr::write_bytes::<T>;
    [T: ?Sized] unsafe fn(*mut T), ptr_drop(place: *mut T;), ptr::drop_in_place::<T>;
    ['a, T] unsafe fn(*const T, usize) -> &'a [T],
        slice_of(place: *const T, count: usize; seen: impl FnOnce(*const T) -> Seen) -> &'a [T],
        slice::from_raw_parts::<'a, T>;
    ['a, T] unsafe fn(*mut T, usize) -> &'a mut [T],
        slice_of_mut(place: *mut T, count: usize; seen: impl FnOnce(*const T) -> Seen)
            -> &'a mut [T],
        slice::from_raw_parts_mut::<'a, T>;
    [] unsafe fn(*mut u8, Layout), memory_freed(place: *mut u8, layout: Layout;), alloc::dealloc;
    [] unsafe fn(*mut u8, Layout, usize) -> *mut u8,
        memory_moved(place: *mut u8, layout: Layout, size: usize;) -> *mut u8, alloc::realloc;
}

/// One of these methods for functions of all other signatures: they are called.
macro_rules! called {
    ($method:ident($($argument:ident: $Part:ident),*) $(, $seen:ty)?) => {
        /// Calls the function.
        ///
        /// # Safety
        ///
        /// As for that function.
        #[track_caller]
        #[inline]
        unsafe fn $method(self, $($argument: $Part,)* $(_: impl FnOnce(*const $seen) -> Seen)?) -> R {
            branch(Some(CallSite::caller()));
            // SAFETY: the caller vouches for what the function is called with.
            unsafe { self.call($($argument),*) }
        }
    };
}

/// As [`called`], of the call itself.
macro_rules! call {
    ($($argument:ident: $Part:ident),*) => {
        #[inline]
        unsafe fn call(self, $($argument: $Part),*) -> R {
            // SAFETY: the caller vouches for what the function is called with.
            unsafe { (self.function)($($argument),*) }
        }
    };
}

/// [`Callee`] for functions that look like none of std's.
pub trait OtherCallee1<A, R>: Sized {
    /// Calls the function.
    ///
    /// # Safety
    ///
    /// As for that function.
    unsafe fn call(self, a: A) -> R;

    called! { ptr_read(a: A) }
    called! { ptr_drop(a: A) }
}

/// As [`OtherCallee1`], with two arguments.
pub trait OtherCallee2<A, B, R>: Sized {
    /// Calls the function.
    ///
    /// # Safety
    ///
    /// As for that function.
    unsafe fn call(self, a: A, b: B) -> R;

    called! { ptr_write(a: A, b: B) }
    called! { ptr_swap(a: A, b: B) }
    called! { ptr_replace(a: A, b: B) }
    called! { memory_freed(a: A, b: B) }
    called! { slice_of(a: A, b: B), () }
    called! { slice_of_mut(a: A, b: B), () }
}

/// As [`OtherCallee1`], with three arguments.
pub trait OtherCallee3<A, B, C, R>: Sized {
    /// Calls the function.
    ///
    /// # Safety
    ///
    /// As for that function.
    unsafe fn call(self, a: A, b: B, c: C) -> R;

    called! { ptr_copy(a: A, b: B, c: C) }
    called! { ptr_swap_many(a: A, b: B, c: C) }
    called! { ptr_write_bytes(a: A, b: B, c: C) }
    called! { memory_moved(a: A, b: B, c: C) }
}

impl<A, R> OtherCallee1<A, R> for Callee<unsafe fn(A) -> R> {
    call! { a: A }
}

impl<A, B, R> OtherCallee2<A, B, R> for Callee<unsafe fn(A, B) -> R> {
    call! { a: A, b: B }
}

impl<A, B, C, R> OtherCallee3<A, B, C, R> for Callee<unsafe fn(A, B, C) -> R> {
    call! { a: A, b: B, c: C }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_std_are_known_by_whatever_name() {
        use std::ptr::copy as moved;

        unsafe fn copy<T>(_: *const T, _: *mut T, _: usize) {}

        let std = Callee::of(moved, |f| f as unsafe fn(*const u8, *mut u8, usize));
        assert_eq!(std.name, name(ptr::copy::<u8>));
        assert_ne!(std.name, name(ptr::copy::<u16>));
        let own = Callee::of(copy, |f| f as unsafe fn(*const u8, *mut u8, usize));
        assert_ne!(own.name, std.name);
    }
}
