//! Mirror of [`std::cell::UnsafeCell`].

use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use crate::contract::marker::Marker;
use crate::rt::{self, CallSite, Kind};
use crate::sched::Action;
use crate::trace::{Op, Value};

/// The core of interior mutability, as [`std::cell::UnsafeCell`].
///
/// What is done through the pointer that [`get`](Self::get) gives away is not seen: use
/// [`with`](Self::with) and [`with_mut`](Self::with_mut), which are recorded as an access each. The
/// contents are opaque to the trace.
// In this order, `mark` has the address of the value and takes no room.
#[repr(C)]
pub struct UnsafeCell<T: ?Sized> {
    mark: Mark,
    value: std::cell::UnsafeCell<T>,
}

/// Notices that a cell is gone. A field of its own, for the cell must have no destructor: that
/// would ask more of the lifetimes in it than std's does.
struct Mark;

thread_local! {
    /// Whether this thread names a place that it is about to access.
    static NAMED: Cell<bool> = const { Cell::new(false) };
}

/// The address of a place that instrumented code accesses next, and evaluates once more then. If
/// the way there is a pointer of a cell, it is not lost sight of: the access is recorded.
#[inline]
pub(crate) fn named<T: ?Sized>(place: impl FnOnce() -> *const T) -> *const T {
    struct Named(bool);
    impl Drop for Named {
        fn drop(&mut self) {
            NAMED.set(self.0);
        }
    }
    let _before = Named(NAMED.replace(true));
    place()
}

impl Drop for Mark {
    fn drop(&mut self) {
        rt::forget(ptr::from_ref(self).addr(), Kind::Plain);
    }
}

impl<T> UnsafeCell<T> {
    /// As [`std::cell::UnsafeCell::new`].
    pub const fn new(value: T) -> Self {
        Self { mark: Mark, value: std::cell::UnsafeCell::new(value) }
    }

    /// As [`std::cell::UnsafeCell::into_inner`]. Nothing is recorded: a cell that is moved is no
    /// longer where it was, and nobody else has it.
    pub const fn into_inner(self) -> T {
        // No destructor can run in a `const fn`, so not that of the mark either.
        let cell = ManuallyDrop::new(self);
        // SAFETY: the value stands at the start of the cell, and is moved out of it once.
        unsafe { ptr::from_ref(&cell).cast::<T>().read() }
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// As [`std::cell::UnsafeCell::from_mut`].
    pub const fn from_mut(value: &mut T) -> &mut Self {
        // SAFETY: the layout is that of `T`, and the exclusive reference is handed on.
        unsafe { &mut *(ptr::from_mut(value) as *mut Self) }
    }

    /// As [`std::cell::UnsafeCell::get`], but not a `const fn`: it is recorded that a pointer was
    /// given away here, as an `assert` event. Code under `#[racelog::instrument]` records what it
    /// does with the pointer instead. Where a `const fn` needs the pointer, [`raw_get`](Self::raw_get)
    /// is one; it records nothing.
    ///
    /// On stable Rust a `const fn` cannot record, not even where it is called when the program runs.
    /// It calls no other functions, by name or by pointer, and has no assembly:
    ///
    /// ```compile_fail,E0015
    /// fn record() {}
    /// const fn get() {
    ///     record();
    /// }
    /// ```
    ///
    /// ```compile_fail
    /// const fn get(record: fn()) {
    ///     record();
    /// }
    /// ```
    ///
    /// ```compile_fail,E0015
    /// const fn get() {
    ///     unsafe { std::arch::asm!("nop") };
    /// }
    /// ```
    ///
    /// A trait does not help, nor does a thread-local, and what tells the two kinds of calls apart
    /// is not stable:
    ///
    /// ```compile_fail,E0015
    /// trait Record {
    ///     fn record();
    /// }
    /// const fn get<R: Record>() {
    ///     R::record();
    /// }
    /// ```
    ///
    /// ```compile_fail,E0015
    /// thread_local!(static GIVEN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    /// const fn get() {
    ///     GIVEN.set(true);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0658
    /// const fn compiled() {}
    /// fn record() {}
    /// const fn get() {
    ///     std::intrinsics::const_eval_select((), compiled, record);
    /// }
    /// ```
    #[track_caller]
    pub fn get(&self) -> *mut T {
        let here = Some(CallSite::caller());
        rt::with(|log| {
            if !log.is_expected(here) && !NAMED.get() {
                log.emit_assert(&Marker::CellPointer.text(), here);
            }
        });
        self.value.get()
    }

    /// As [`std::cell::UnsafeCell::get_mut`], but not a `const fn`: that nobody else is there is
    /// recorded, as an `exclusive` event, for the trace may not know why. See [`get`](Self::get).
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        rt::exclusive(self.address(), Kind::Plain, Some(CallSite::caller()), Value::Opaque);
        self.value.get_mut()
    }

    /// As [`std::cell::UnsafeCell::raw_get`].
    pub const fn raw_get(this: *const Self) -> *mut T {
        this as *const T as *mut T
    }

    /// Runs `f` with a pointer to read from: a read of the cell.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let here = Some(CallSite::caller());
        self.read(Some(Action::Read), here);
        f(self.value.get())
    }

    /// Runs `f` with a pointer to write to: a read and a write of the cell.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let here = Some(CallSite::caller());
        self.read(Some(Action::Write), here);
        rt::access(self.address(), Kind::Plain, None, here, |mut access| {
            access.emit(Op::Write { var: access.var(), value: Value::Opaque });
        });
        f(self.value.get())
    }

    /// Reads, as the first thing that an operation does.
    fn read(&self, action: Option<Action>, here: Option<CallSite>) {
        rt::access(self.address(), Kind::Plain, action, here, |mut access| {
            access.found(Value::Opaque);
            access.emit(Op::Read { var: access.var(), value: Value::Opaque });
        });
    }

    fn address(&self) -> usize {
        ptr::from_ref(&self.mark).addr()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_that_of_the_contents() {
        assert_eq!(size_of::<UnsafeCell<u64>>(), 8);
        assert_eq!(align_of::<UnsafeCell<u64>>(), 8);
        let cell = UnsafeCell::new([1u8, 2, 3]);
        assert_eq!(cell.address(), cell.value.get().addr());
        let unsized_cell: &UnsafeCell<[u8]> = &cell;
        assert_eq!(unsized_cell.with(<*const [u8]>::len), 3);
        let mut value = 5;
        *UnsafeCell::from_mut(&mut value).get_mut() = 6;
        assert_eq!(value, 6);
    }

    #[test]
    fn what_is_within_can_be_had_by_the_compiler_and_once() {
        const SEVEN: u32 = UnsafeCell::new(7).into_inner();
        assert_eq!(SEVEN, 7);
        let cell = UnsafeCell::new(std::rc::Rc::new(1));
        assert_eq!(std::rc::Rc::strong_count(&cell.into_inner()), 1);
    }
}
