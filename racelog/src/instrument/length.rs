//! How many elements there are where instrumented code takes one by an index that it follows.
//!
//! Types are looked at by method resolution, as in [`shim`](super::shim): [`HasLength`] is found
//! first, for arrays, slices and vectors, whose elements are taken by no code of the program;
//! [`HasNoLength`] for everything else.

use super::shim::Probe;

/// Found for arrays, slices and vectors, and references to them.
pub trait HasLength {
    /// What it is.
    type Elements: ?Sized;

    /// How many elements there are.
    fn length(&self, elements: impl FnOnce() -> *const Self::Elements) -> Option<usize>;
}

macro_rules! lengths {
    ($({$($generics:tt)*} $type:ty;)*) => {$(
        impl<$($generics)*> HasLength for Probe<$type> {
            type Elements = $type;

            #[inline]
            fn length(&self, elements: impl FnOnce() -> *const $type) -> Option<usize> {
                // SAFETY: it is a variable that the program takes an element of next, so it looks
                // at its length itself.
                let elements = unsafe { &*elements() };
                Some(elements.len())
            }
        }
    )*};
}

lengths! {
    {T, const N: usize} [T; N];
    {'l, T, const N: usize} &'l [T; N];
    {'l, T, const N: usize} &'l mut [T; N];
    {T} [T];
    {'l, T} &'l [T];
    {'l, T} &'l mut [T];
    {T} Vec<T>;
    {'l, T} &'l Vec<T>;
    {'l, T} &'l mut Vec<T>;
    {T} Box<[T]>;
}

/// Found for all others.
pub trait HasNoLength {
    /// What it is.
    type Elements: ?Sized;

    /// It is not known how many elements there are.
    fn length(&self, _: impl FnOnce() -> *const Self::Elements) -> Option<usize> {
        None
    }
}

impl<T: ?Sized> HasNoLength for &Probe<T> {
    type Elements = T;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    #[allow(clippy::needless_borrow, reason = "method resolution starts there")]
    fn lengths_are_known_of_what_std_indexes() {
        let (array, vector, map) = ([1, 2, 3], vec![1, 2], BTreeMap::from([(1, 2)]));
        let slice = &array[1..];
        assert_eq!((&Probe::of(|| &array)).length(|| &raw const array), Some(3));
        assert_eq!((&Probe::of(|| &slice)).length(|| &raw const slice), Some(2));
        assert_eq!((&Probe::of(|| &vector)).length(|| &raw const vector), Some(2));
        assert_eq!((&Probe::of(|| &map)).length(|| &raw const map), None);
    }
}
