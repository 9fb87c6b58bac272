//! The same accesses as in other twins, in other words.

use std::ptr::{copy_nonoverlapping, swap as exchange_places, write_volatile};
use std::{ptr as memory, slice as views};

use crate::{Twin, pair};

/// They are no part of the thirty.
pub(crate) const VARIANTS: &[Twin] = &[
    ("imported-copy", |racy| pair([1u64, 2, 0], racy, copy_first, look)),
    ("imported-volatile", |racy| pair([1u64, 2, 0], racy, set_volatile, look)),
    ("module-renamed", |racy| pair([1u64, 2, 0], racy, clear, look)),
    ("slice-renamed", |racy| pair([1u64, 2, 0], racy, fill, look)),
];

/// In these nothing is accessed, whatever its name.
pub(crate) const HARMLESS: &[Twin] = &[
    ("own-copy", |racy| pair([1u64, 2, 0], racy, copy_by_own, look)),
    ("own-swap", |racy| pair([1u64, 2, 0], racy, swap_by_own, look)),
];

/// Functions that have names, and one of them the signature, of std's.
mod own {
    pub(super) unsafe fn copy<T>(_: *const T, _: *mut T, _: usize) {}

    pub(super) unsafe fn swap(one: &mut u64, other: &mut u64) {
        std::mem::swap(one, other);
    }
}

use own::{copy, swap};

#[racelog::instrument]
unsafe fn copy_first(words: *mut [u64; 3]) {
    let first = words.cast::<u64>();
    unsafe { copy_nonoverlapping(first, first.add(2), 1) };
}

#[racelog::instrument]
unsafe fn set_volatile(words: *mut [u64; 3]) {
    let first = words.cast::<u64>();
    unsafe {
        exchange_places(first, first.add(1));
        write_volatile(first.add(2), 5);
    }
}

#[racelog::instrument]
unsafe fn clear(words: *mut [u64; 3]) {
    let first = words.cast::<u64>();
    unsafe { memory::write_bytes(first.add(1), 0, 2) };
}

#[racelog::instrument]
unsafe fn fill(words: *mut [u64; 3]) {
    let first = words.cast::<u64>();
    let words = unsafe { views::from_raw_parts_mut(first, 3) };
    words.fill(3);
}

#[racelog::instrument]
unsafe fn copy_by_own(words: *mut [u64; 3]) {
    let first = words.cast::<u64>();
    unsafe { copy(first, first.add(2), 1) };
}

#[racelog::instrument]
unsafe fn swap_by_own(_: *mut [u64; 3]) {
    let (mut one, mut other) = (1, 2);
    unsafe { swap(&mut one, &mut other) };
    assert_eq!((one, other), (2, 1));
}

#[racelog::instrument]
unsafe fn look(words: *mut [u64; 3]) {
    let first = words.cast::<u64>();
    let last = unsafe { *first.add(2) };
    assert!(last < 10);
}
