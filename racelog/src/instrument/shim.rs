//! Calls of our own operations by instrumented code.
//!
//! Such a call decides nothing, and is the only one of which that is known. It is told from others
//! by the type that the method is called on, and then, while it runs, by its place in the source:
//! the type is one of ours, reached through nothing but references and std's smart pointers; and an
//! event counts as the operation's only if it says the same line and column as the call. So
//! whatever else runs on the way to the operation, such as the program's own `Deref`, is not taken
//! for it.
//!
//! Types are looked at by method resolution: [`IsShim`] is found first where it is implemented,
//! [`IsOther`] everywhere else, also where the type is not known, as in generic code.

use std::marker::PhantomData;
use std::mem::needs_drop;
use std::rc::Rc;
use std::sync::Arc;

use super::branch;
use super::scope::Releasing;
use crate::cell::{Shared, UnsafeCell};
use crate::rt::{CallSite, Expected, with};
use crate::sync::atomic;
use crate::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A type of ours, or a pointer to one, whose operations run no code of the program.
pub trait Shim {}

macro_rules! shims {
    ($($type:ty,)*) => {$(
        impl Shim for $type {}
    )*};
}

shims! {
    atomic::AtomicBool,
    atomic::AtomicI8,
    atomic::AtomicI16,
    atomic::AtomicI32,
    atomic::AtomicI64,
    atomic::AtomicIsize,
    atomic::AtomicU8,
    atomic::AtomicU16,
    atomic::AtomicU32,
    atomic::AtomicU64,
    atomic::AtomicUsize,
}

impl<T> Shim for atomic::AtomicPtr<T> {}
impl<T: Copy> Shim for Shared<T> {}
impl<T: ?Sized> Shim for UnsafeCell<T> {}
impl<T: ?Sized> Shim for Mutex<T> {}
impl<T: ?Sized> Shim for RwLock<T> {}
impl<T: Shim + ?Sized> Shim for &T {}
impl<T: Shim + ?Sized> Shim for &mut T {}
impl<T: Shim + ?Sized> Shim for Box<T> {}
impl<T: Shim + ?Sized> Shim for Rc<T> {}
impl<T: Shim + ?Sized> Shim for Arc<T> {}

#[cfg(feature = "parking_lot")]
impl<T: ?Sized> Shim for crate::parking_lot::Mutex<T> {}
#[cfg(feature = "parking_lot")]
impl<T: ?Sized> Shim for crate::parking_lot::RwLock<T> {}

/// A guard of ours: to drop it is to give the lock back, and nothing else.
pub trait ShimGuard {}

impl<T: ?Sized> ShimGuard for MutexGuard<'_, T> {}
impl<T: ?Sized> ShimGuard for RwLockReadGuard<'_, T> {}
impl<T: ?Sized> ShimGuard for RwLockWriteGuard<'_, T> {}

#[cfg(feature = "parking_lot")]
impl<T: ?Sized> ShimGuard for crate::parking_lot::MutexGuard<'_, T> {}
#[cfg(feature = "parking_lot")]
impl<T: ?Sized> ShimGuard for crate::parking_lot::RwLockReadGuard<'_, T> {}
#[cfg(feature = "parking_lot")]
impl<T: ?Sized> ShimGuard for crate::parking_lot::RwLockWriteGuard<'_, T> {}

/// Stands for the type of an expression that is not evaluated.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Probe<T> {
    /// The type of what the closure refers to.
    #[inline]
    pub fn of<'a>(_: impl FnOnce() -> &'a T) -> Self
    where
        T: 'a,
    {
        Self(PhantomData)
    }

    /// The type of what a pointer points to.
    #[inline]
    pub fn at(_: *const T) -> Self {
        Self(PhantomData)
    }

    /// The type of what the closure points to.
    #[inline]
    pub fn behind(_: impl FnOnce() -> *const T) -> Self {
        Self(PhantomData)
    }
}

/// Found for types of ours.
pub trait IsShim {
    /// The kind of call.
    fn kind(&self) -> OwnCall;

    /// Whether the type is one of ours.
    fn is_shim(&self) -> bool {
        true
    }
}

impl<T: Shim + ?Sized> IsShim for Probe<T> {
    #[inline]
    fn kind(&self) -> OwnCall {
        OwnCall
    }
}

/// Found for all others.
pub trait IsOther {
    /// The kind of call.
    fn kind(&self) -> OtherCall;

    /// Whether the type is one of ours.
    fn is_shim(&self) -> bool {
        false
    }
}

impl<T: ?Sized> IsOther for &Probe<T> {
    #[inline]
    fn kind(&self) -> OtherCall {
        OtherCall
    }
}

/// A call of one of our operations.
#[derive(Debug)]
pub struct OwnCall;

impl OwnCall {
    /// Whether the operation is one of ours.
    #[inline]
    pub fn ours(self) -> bool {
        true
    }

    /// The call is about to be made: no arguments are to be evaluated before.
    #[track_caller]
    #[inline]
    pub fn call(self) -> Calling {
        expect(CallSite::caller());
        Calling
    }

    /// The call will be made, once its arguments are evaluated.
    #[inline]
    pub fn calling(self) -> Calling {
        Calling
    }

    /// The last argument was evaluated: the call is about to be made.
    #[track_caller]
    #[inline]
    pub fn last<V>(self, value: V) -> V {
        expect(CallSite::caller());
        value
    }

    /// As `call`, where what is called may depend on what was read.
    #[track_caller]
    #[inline]
    pub fn decided_call(self) -> Calling {
        branch(Some(CallSite::caller()));
        self.call()
    }

    /// As `last`, where what is called may depend on what was read.
    #[track_caller]
    #[inline]
    pub fn decided_last<V>(self, value: V) -> V {
        branch(Some(CallSite::caller()));
        self.last(value)
    }
}

#[inline]
fn expect(here: CallSite) {
    with(|log| log.expect(Expected::At(here)));
}

/// A call of one of our operations that is going on; over when it goes, by return or by panic.
#[derive(Debug)]
pub struct Calling;

impl Calling {
    /// What the operation returns.
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        result
    }
}

impl Drop for Calling {
    #[inline]
    fn drop(&mut self) {
        with(|log| {
            log.expect(Expected::Nothing);
            // A name that is said and not given is taken back by who has said it.
            log.say_nothing_left();
        });
    }
}

/// A call of anything else.
#[derive(Debug)]
pub struct OtherCall;

impl OtherCall {
    /// As for [`OwnCall`].
    #[inline]
    pub fn ours(self) -> bool {
        false
    }

    /// As for [`OwnCall`].
    #[track_caller]
    #[inline]
    pub fn call(self) -> CallingOther {
        CallingOther(Some(CallSite::caller()))
    }

    /// As for [`OwnCall`].
    #[track_caller]
    #[inline]
    pub fn calling(self) -> CallingOther {
        self.call()
    }

    /// As for [`OwnCall`].
    #[track_caller]
    #[inline]
    pub fn decided_call(self) -> CallingOther {
        self.call()
    }

    /// As for [`OwnCall`].
    #[inline]
    pub fn last<V>(self, value: V) -> V {
        value
    }

    /// As for [`OwnCall`].
    #[inline]
    pub fn decided_last<V>(self, value: V) -> V {
        value
    }
}

/// A call of anything else that is going on. What it did, and whether it returned, may depend on
/// what was read.
#[derive(Debug)]
pub struct CallingOther(Option<CallSite>);

impl CallingOther {
    /// What the call returns.
    #[inline]
    pub fn done<R>(self, result: R) -> R {
        branch(self.0);
        result
    }
}

/// Found for guards of ours.
pub trait IsShimGuard {
    /// What stands beside a guard in its block.
    fn releasing(&self) -> Releasing;

    /// Whether it has a destructor that is not ours.
    fn drops(&self) -> bool;
}

impl<T: ShimGuard> IsShimGuard for Probe<T> {
    #[track_caller]
    #[inline]
    fn releasing(&self) -> Releasing {
        Releasing { here: Some(CallSite::caller()) }
    }

    #[inline]
    fn drops(&self) -> bool {
        false
    }
}

/// Found for all other types.
pub trait IsOtherGuard {
    /// What stands beside a value that is no guard of ours.
    fn releasing(&self) -> Releasing;

    /// Whether it has a destructor that is not ours.
    fn drops(&self) -> bool;
}

impl<T> IsOtherGuard for &Probe<T> {
    #[inline]
    fn releasing(&self) -> Releasing {
        Releasing { here: None }
    }

    #[inline]
    fn drops(&self) -> bool {
        needs_drop::<T>()
    }
}
