//! The methods of [`PointerProbe`] and [`Pointer`] for everything that is no raw pointer. They
//! record nothing.

use super::following::Slot;
use super::known::Seen;
use super::pointer::{Next, NextCall, Pointer, PointerProbe};

/// [`PointerProbe`] for everything that is no raw pointer.
pub trait PointerProbeFallback: Sized {
    /// What was looked at.
    type Pointer;

    /// See [`PointerProbe`].
    #[inline]
    fn ours(self) -> bool {
        false
    }

    /// See [`PointerProbe`].
    #[inline]
    fn reading<T: ?Sized>(self, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`PointerProbe`].
    #[inline]
    fn decided_reading<T: ?Sized>(self, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`PointerProbe`].
    #[inline]
    fn reading_it(self, _: *const Self::Pointer) -> NextCall {
        NextCall { raw: false }
    }

    /// See [`PointerProbe`].
    #[inline]
    fn writing<T>(self, value: T, _: impl FnOnce() -> *const T) -> T {
        value
    }

    /// See [`PointerProbe`].
    #[inline]
    fn writing_it<V>(self, value: V, _: *const Self::Pointer) -> V {
        value
    }

    /// See [`PointerProbe`].
    #[inline]
    fn operand<T, V>(self, operand: V, _: impl FnOnce() -> *const T) -> V {
        operand
    }

    /// See [`PointerProbe`].
    #[inline]
    fn using<T: ?Sized>(self, _: Seen, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`PointerProbe`].
    #[inline]
    fn looking(self) -> Next {
        Next
    }

    /// See [`PointerProbe`].
    #[inline]
    fn arming<T: ?Sized>(self, _: Seen, _: impl FnOnce() -> *const T) -> Next {
        Next
    }

    /// See [`PointerProbe`].
    #[inline]
    fn replacing_it<V>(self, value: V, _: *const Self::Pointer) -> V {
        value
    }

    /// See [`PointerProbe`].
    #[inline]
    fn swapping_it<V>(self, other: V, _: *const Self::Pointer) -> V {
        other
    }

    /// See [`PointerProbe`].
    #[inline]
    fn copying_to<D, C>(self, _: *const Self::Pointer, _: &D, _: &C) {}

    /// See [`PointerProbe`].
    #[inline]
    fn copying_from<D, C>(self, _: *const Self::Pointer, _: &D, _: &C) {}

    /// See [`PointerProbe`].
    #[inline]
    fn writing_bytes<D, C>(self, _: *const Self::Pointer, _: &D, _: &C) {}

    /// See [`PointerProbe`].
    #[inline]
    fn dropping_it(self, _: *const Self::Pointer) -> Next {
        Next
    }

    /// See [`PointerProbe`].
    #[inline]
    fn referring(
        self,
        _: *const Self::Pointer,
        _: impl FnOnce(*const Self::Pointer) -> Seen,
    ) -> Next {
        Next
    }
}

impl<P> PointerProbeFallback for PointerProbe<P> {
    type Pointer = P;
}

/// [`Pointer`] for everything that is no raw pointer.
pub trait PointerFallback: Sized {
    /// What was wrapped.
    type Pointer;

    /// It.
    fn into_pointer(self) -> Self::Pointer;

    /// See [`Pointer`].
    #[inline]
    fn naming(self, slot: &Slot, name: &'static str) -> Self {
        slot.begin(false, name);
        self
    }

    /// See [`Pointer`].
    #[inline]
    fn leaving(self, slot: &Slot) -> Self {
        slot.take().escapes();
        self
    }

    /// See [`Pointer`].
    #[inline]
    fn looking(self) -> Self::Pointer {
        self.into_pointer()
    }

    /// See [`Pointer`].
    #[inline]
    fn reading<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> *const T) -> Self::Pointer {
        self.into_pointer()
    }

    /// See [`Pointer`].
    #[inline]
    fn writing<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> *const T) -> Self::Pointer {
        self.into_pointer()
    }

    /// See [`Pointer`].
    #[inline]
    fn updating<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> *const T) -> Self::Pointer {
        self.into_pointer()
    }

    /// See [`Pointer`].
    #[inline]
    fn using<T: ?Sized>(self, _: impl FnOnce(Self::Pointer) -> (*const T, Seen)) -> Self::Pointer {
        self.into_pointer()
    }
}

impl<P> PointerFallback for Pointer<P> {
    type Pointer = P;

    #[inline]
    fn into_pointer(self) -> P {
        self.0
    }
}
