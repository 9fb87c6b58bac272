//! Functions of `std::ptr`, `std::slice` and `std::alloc`, and the like, that instrumented code
//! calls: each is handed the function that the program named, says what that will access, and calls
//! it.

use std::alloc::Layout;

use super::known::Seen;
use super::{Hooks, branch};
use crate::contract::marker::Marker;
use crate::rt::{CallSite, borrow, raw};

/// A read by `ptr::read`, or what is called so.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_read<T>(read: unsafe fn(*const T) -> T, place: *const T) -> T {
    raw::begin_read(place, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the place.
    Hooks.made(unsafe { read(place) })
}

/// A write by `ptr::write`, or what is called so.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_write<T>(write: unsafe fn(*mut T, T), place: *mut T, value: T) {
    raw::begin_write(place, &value, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the place.
    unsafe { write(place, value) };
    raw::end();
}

/// `ptr::copy` and `ptr::copy_nonoverlapping`.
///
/// # Safety
///
/// As for these functions.
#[track_caller]
#[inline]
pub unsafe fn ptr_copy<T>(
    copy: unsafe fn(*const T, *mut T, usize),
    from: *const T,
    to: *mut T,
    count: usize,
) {
    copying(from, to, count, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the places.
    unsafe { copy(from, to, count) };
}

/// `ptr::swap`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_swap<T>(swap: unsafe fn(*mut T, *mut T), one: *mut T, other: *mut T) {
    swapping(one, other, 1, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the places.
    unsafe { swap(one, other) };
}

/// `ptr::swap_nonoverlapping`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_swap_many<T>(
    swap: unsafe fn(*mut T, *mut T, usize),
    one: *mut T,
    other: *mut T,
    count: usize,
) {
    swapping(one, other, count, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the places.
    unsafe { swap(one, other, count) };
}

/// `ptr::replace`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_replace<T>(replace: unsafe fn(*mut T, T) -> T, place: *mut T, value: T) -> T {
    replacing(place, &value, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the place.
    Hooks.made(unsafe { replace(place, value) })
}

/// `ptr::write_bytes`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_write_bytes<T>(
    write: unsafe fn(*mut T, u8, usize),
    place: *mut T,
    byte: u8,
    count: usize,
) {
    borrow::overwrite_many(place.cast_const(), count, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the places.
    unsafe { write(place, byte, count) };
}

/// `ptr::drop_in_place`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn ptr_drop<T: ?Sized>(drop: unsafe fn(*mut T), place: *mut T) {
    // SAFETY: the caller vouches for the place, which is dropped next by reference.
    let size = size_of_val(unsafe { &*place });
    borrow::overwrite_bytes(place.cast_const().addr(), size, Some(CallSite::caller()));
    // SAFETY: as above.
    unsafe { drop(place) };
}

/// `slice::from_raw_parts`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn slice_of<'a, T>(
    make: unsafe fn(*const T, usize) -> &'a [T],
    place: *const T,
    count: usize,
    seen: impl FnOnce(*const T) -> Seen,
) -> &'a [T] {
    let here = Some(CallSite::caller());
    match seen(place) {
        Seen::Read => {
            borrow::look_at_many(place, count, here);
            // Code that has the slice may go by its contents at any time.
            branch(here);
        }
        Seen::Unknown => borrow::unseen(Marker::RawReference, here),
        Seen::Nothing | Seen::Write => {}
    }
    // SAFETY: the caller vouches for the places.
    unsafe { make(place, count) }
}

/// `slice::from_raw_parts_mut`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn slice_of_mut<'a, T>(
    make: unsafe fn(*mut T, usize) -> &'a mut [T],
    place: *mut T,
    count: usize,
    seen: impl FnOnce(*const T) -> Seen,
) -> &'a mut [T] {
    let here = Some(CallSite::caller());
    if seen(place) != Seen::Nothing {
        borrow::lend_many(place.cast_const(), count, here);
    }
    // SAFETY: the caller vouches for the places.
    unsafe { make(place, count) }
}

/// `Box::from_raw`: who has the box has the memory alone, and will free it.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn box_of<T: ?Sized, B>(make: unsafe fn(*mut T) -> B, place: *mut T) -> B {
    // SAFETY: the caller vouches for the place, which is a box's.
    let size = size_of_val(unsafe { &*place });
    borrow::give_back(place.addr(), size, Some(CallSite::caller()));
    // SAFETY: as above.
    unsafe { make(place) }
}

/// `Vec::from_raw_parts` and `String::from_raw_parts`.
///
/// # Safety
///
/// As for these functions.
#[track_caller]
#[inline]
pub unsafe fn vec_of<T, V>(
    make: unsafe fn(*mut T, usize, usize) -> V,
    place: *mut T,
    length: usize,
    capacity: usize,
) -> V {
    let size = capacity.saturating_mul(size_of::<T>());
    borrow::give_back(place.addr(), size, Some(CallSite::caller()));
    // SAFETY: the caller vouches for the places.
    unsafe { make(place, length, capacity) }
}

/// `alloc::dealloc`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn memory_freed(free: unsafe fn(*mut u8, Layout), place: *mut u8, layout: Layout) {
    borrow::give_back(place.addr(), layout.size(), Some(CallSite::caller()));
    // SAFETY: the caller vouches for the memory.
    unsafe { free(place, layout) };
}

/// `alloc::realloc`.
///
/// # Safety
///
/// As for that function.
#[track_caller]
#[inline]
pub unsafe fn memory_moved(
    grow: unsafe fn(*mut u8, Layout, usize) -> *mut u8,
    place: *mut u8,
    layout: Layout,
    size: usize,
) -> *mut u8 {
    borrow::give_back(place.addr(), layout.size(), Some(CallSite::caller()));
    // SAFETY: the caller vouches for the memory.
    unsafe { grow(place, layout, size) }
}

/// So many places are copied next.
#[inline]
pub(super) fn copying<T>(from: *const T, to: *const T, count: usize, here: Option<CallSite>) {
    borrow::look_at_many(from, count, here);
    borrow::overwrite_many(to, count, here);
}

/// So many places and others change their contents next.
#[inline]
pub(super) fn swapping<T>(one: *const T, other: *const T, count: usize, here: Option<CallSite>) {
    borrow::look_at_many(one, count, here);
    borrow::look_at_many(other, count, here);
    borrow::overwrite_many(one, count, here);
    borrow::overwrite_many(other, count, here);
}

/// A place is read, and then the value is written to it.
#[inline]
pub(super) fn replacing<T, V>(place: *const T, value: &V, here: Option<CallSite>) {
    borrow::look(place, here);
    raw::begin_write(place, value, here);
}
