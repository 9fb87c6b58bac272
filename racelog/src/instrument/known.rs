//! What is known of types and their methods, where a reference to a value is made from a raw
//! pointer.
//!
//! A shared reference says that no thread writes the value, unless there is interior mutability in
//! it. Whether there is cannot be asked of a type; so the types without are listed here, as far as
//! they are common, and of all others it is assumed. Methods take `self` by either kind of
//! reference, and which one the call does not say; those of the listed types that take it by `&mut`
//! are listed, too.
//!
//! Types are looked at by method resolution, as in [`shim`](super::shim): [`IsRecorded`] is found
//! first, then [`IsKnown`], and everywhere else [`IsUnknown`], also in generic code.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::num::Wrapping;
use std::ops::Range;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shim::{Probe, Shim};

/// What to record of a reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Nothing: the type records by itself what is done to it, or nothing is done.
    Nothing,
    /// A read.
    Read,
    /// A write.
    Write,
    /// That it is not known what is done.
    Unknown,
}

impl Seen {
    /// What to record of a `&mut`, to a type of ours or to another.
    #[inline]
    pub fn mutable(is_shim: bool) -> Self {
        if is_shim { Self::Nothing } else { Self::Write }
    }
}

/// What a reference is made for.
#[derive(Clone, Copy, Debug)]
pub enum For {
    /// To look at the value: `&place`, a comparison, a pattern.
    Looking,
    /// The method of this name.
    Method(&'static str),
}

/// A type that has no interior mutability in itself. What it points to may have.
pub trait Known {
    /// What a reference to it does.
    #[inline]
    fn seen(what: For) -> Seen {
        match what {
            For::Method(name) if Self::MUTATORS.contains(&name) => Seen::Write,
            _ => Seen::Read,
        }
    }

    /// Its methods that take it by `&mut`.
    const MUTATORS: &'static [&'static str] = &[];
}

macro_rules! known {
    ($($({$($generics:tt)*})? $type:ty $(: $($name:literal)*)?;)*) => {$(
        impl $(<$($generics)*>)? Known for $type {
            $(const MUTATORS: &'static [&'static str] = &[$($name),*];)?
        }
    )*};
}

known! {
    u8; u16; u32; u64; u128; usize; i8; i16; i32; i64; i128; isize; f32; f64; bool; char; ();
    str; Duration; Instant; crate::time::Instant;
    {T: ?Sized} *const T;
    {T: ?Sized} *mut T;
    {T: ?Sized} &T;
    {T: ?Sized} &mut T;
    {T: ?Sized} NonNull<T>;
    {T: ?Sized} PhantomData<T>;
    {T: ?Sized} Rc<T>;
    {T: ?Sized} Arc<T>;
    {T: ?Sized} Box<T>;
    {T: Known} Wrapping<T>;
    {T: Known} Range<T>: "next";
    {T: Known} ManuallyDrop<T>;
    {T: Known, E: Known} Result<T, E>: "as_mut";
    {T: Known} Option<T>: "take" "replace" "insert" "get_or_insert" "get_or_insert_with" "as_mut"
        "take_if";
    {T: Known, const N: usize} [T; N]: "swap" "fill" "sort" "sort_unstable" "reverse"
        "copy_from_slice" "clone_from_slice" "iter_mut" "get_mut" "first_mut" "last_mut"
        "rotate_left" "rotate_right" "as_mut_slice" "split_at_mut" "chunks_mut" "copy_within";
    {T: Known} [T]: "swap" "fill" "sort" "sort_unstable" "reverse" "copy_from_slice"
        "clone_from_slice" "iter_mut" "get_mut" "first_mut" "last_mut" "rotate_left"
        "rotate_right" "split_at_mut" "chunks_mut" "copy_within";
    String: "push" "push_str" "pop" "clear" "insert" "insert_str" "remove" "truncate" "reserve"
        "drain" "retain" "as_mut_str" "as_mut_string" "shrink_to_fit" "extend";
    {T} Vec<T>: "push" "pop" "insert" "remove" "swap_remove" "clear" "truncate" "resize" "append"
        "extend" "extend_from_slice" "drain" "retain" "dedup" "reserve" "set_len" "sort"
        "sort_unstable" "sort_by_key" "sort_by" "swap" "reverse" "fill" "iter_mut" "get_mut"
        "first_mut" "last_mut" "as_mut_slice" "split_off" "shrink_to_fit";
    {T} VecDeque<T>: "push_back" "push_front" "pop_back" "pop_front" "clear" "insert" "remove"
        "truncate" "append" "extend" "drain" "retain" "reserve" "front_mut" "back_mut" "get_mut"
        "iter_mut" "swap" "rotate_left" "rotate_right" "make_contiguous" "resize";
    {T} BinaryHeap<T>: "push" "pop" "clear" "peek_mut" "append" "drain" "extend";
    {K, V, S} HashMap<K, V, S>: "insert" "remove" "clear" "entry" "get_mut" "iter_mut"
        "values_mut" "retain" "drain" "extend" "reserve";
    {T, S} HashSet<T, S>: "insert" "remove" "clear" "retain" "drain" "extend" "take" "replace";
    {K, V} BTreeMap<K, V>: "insert" "remove" "clear" "entry" "get_mut" "iter_mut" "values_mut"
        "retain" "pop_first" "pop_last" "extend" "append";
    {T} BTreeSet<T>: "insert" "remove" "clear" "retain" "pop_first" "pop_last" "extend" "append"
        "take" "replace";
}

macro_rules! tuples {
    ($([$($part:ident)*])*) => {$(
        impl<$($part: Known),*> Known for ($($part,)*) {}
    )*};
}

tuples! { [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] }

/// There may be nothing in it, and interior mutability if there is: only what these methods do is
/// known.
impl<T> Known for MaybeUninit<T> {
    #[inline]
    fn seen(what: For) -> Seen {
        match what {
            For::Method("write" | "assume_init_drop" | "assume_init_mut") => Seen::Write,
            For::Method("assume_init_read" | "assume_init") => Seen::Read,
            For::Method("as_ptr" | "as_mut_ptr") | For::Looking => Seen::Nothing,
            For::Method(_) => Seen::Unknown,
        }
    }
}

/// Found for types of ours.
pub trait IsRecorded {
    /// What to record.
    #[inline]
    fn seen(&self, _: For) -> Seen {
        Seen::Nothing
    }
}

impl<T: Shim + ?Sized> IsRecorded for &Probe<T> {}

/// Found for types that are known.
pub trait IsKnown {
    /// What to record.
    fn seen(&self, what: For) -> Seen;
}

impl<T: Known + ?Sized> IsKnown for &&Probe<T> {
    #[inline]
    fn seen(&self, what: For) -> Seen {
        T::seen(what)
    }
}

/// Found for all others.
pub trait IsUnknown {
    /// What to record.
    #[inline]
    fn seen(&self, _: For) -> Seen {
        Seen::Unknown
    }
}

impl<T: ?Sized> IsUnknown for Probe<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::needless_borrow, reason = "method resolution starts there")]
    fn types_are_told_apart() {
        use std::cell::Cell;

        fn generic<T>(value: &T) -> Seen {
            (&&Probe::of(|| value)).seen(For::Looking)
        }

        let shim = crate::sync::Mutex::new(0);
        let vector = vec![Cell::new(1)];
        let cell = Cell::new(1);
        let (reference, array) = (Some(&cell), [Some(cell.clone())]);
        assert_eq!((&&Probe::of(|| &shim)).seen(For::Looking), Seen::Nothing);
        assert_eq!((&&Probe::of(|| &vector)).seen(For::Looking), Seen::Read);
        assert_eq!((&&Probe::of(|| &vector)).seen(For::Method("push")), Seen::Write);
        assert_eq!((&&Probe::of(|| &(1, [2.0]))).seen(For::Method("max")), Seen::Read);
        assert_eq!((&&Probe::of(|| &cell)).seen(For::Looking), Seen::Unknown);
        assert_eq!((&&Probe::of(|| &reference)).seen(For::Looking), Seen::Read);
        assert_eq!((&&Probe::of(|| &array)).seen(For::Looking), Seen::Unknown);
        assert_eq!(generic(&5), Seen::Unknown);
    }
}
