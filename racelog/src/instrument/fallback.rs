//! What [`Place`] and [`Pointee`] are for everything that is no raw pointer: nothing is recorded.

use super::known::Seen;
use super::place::{Next, NextCall, Place, Pointee};

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
    fn using<T: ?Sized>(self, _: Seen, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`Place`].
    #[inline]
    fn arming<T: ?Sized>(self, _: Seen, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`Place`].
    #[inline]
    fn replacing_it<V>(self, value: V, _: *const Self::Pointer) -> V {
        value
    }

    /// See [`Place`].
    #[inline]
    fn swapping_it<V>(self, other: V, _: *const Self::Pointer) -> V {
        other
    }

    /// See [`Place`].
    #[inline]
    fn copying_to<D, C>(self, _: *const Self::Pointer, _: &D, _: &C) {}

    /// See [`Place`].
    #[inline]
    fn copying_from<D, C>(self, _: *const Self::Pointer, _: &D, _: &C) {}

    /// See [`Place`].
    #[inline]
    fn writing_bytes<D, C>(self, _: *const Self::Pointer, _: &D, _: &C) {}

    /// See [`Place`].
    #[inline]
    fn dropping_it(self, _: *const Self::Pointer) -> Next {
        Next
    }

    /// See [`Place`].
    #[inline]
    fn referring(
        self,
        _: *const Self::Pointer,
        _: impl FnOnce(*const Self::Pointer) -> Seen,
    ) -> Next {
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

    /// It.
    fn into_pointer(self) -> Self::Pointer;

    /// See [`Pointee`].
    #[inline]
    fn reading<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> *const T) -> Self::Pointer {
        self.into_pointer()
    }

    /// See [`Pointee`].
    #[inline]
    fn writing<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> *const T) -> Self::Pointer {
        self.into_pointer()
    }

    /// See [`Pointee`].
    #[inline]
    fn updating<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> *const T) -> Self::Pointer {
        self.into_pointer()
    }

    /// See [`Pointee`].
    #[inline]
    fn using<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> (*const T, Seen)) -> Self::Pointer {
        self.into_pointer()
    }
}

impl<P> PointeeFallback for Pointee<P> {
    type Pointer = P;

    #[inline]
    fn into_pointer(self) -> P {
        self.0
    }
}
