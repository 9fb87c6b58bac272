//! Mirror of [`::once_cell::sync`].
//!
//! A panicking initialiser leaves a cell empty, and so does one that fails; either is recorded, so
//! that it comes before the initialiser that is run next.

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::rt::CallSite;
use crate::sync::once_record::OnceRecord;
use crate::sync::once_value::{
    AwaitedCell, InnerCell, InnerPlace, MADE, OnceValue, awaited_items, inner_cell, lazy_items,
    once_cell_items,
};

/// A cell that is written once, as [`::once_cell::sync::OnceCell`].
///
/// What it holds is opaque to the trace.
///
/// ```
/// use racelog::once_cell::sync::OnceCell;
///
/// static NAME: OnceCell<String> = OnceCell::new();
/// let failed: Result<&String, &str> = NAME.get_or_try_init(|| Err("nobody knows it"));
/// assert_eq!(failed, Err("nobody knows it"));
/// assert_eq!(NAME.get_or_init(|| "Ada".to_owned()), "Ada");
/// assert_eq!(NAME.set("Grace".to_owned()), Err("Grace".to_owned()));
/// ```
pub struct OnceCell<T>(OnceValue<::once_cell::sync::OnceCell<T>>);

inner_cell!(::once_cell::sync::OnceCell<T>);
once_cell_items!(OnceCell, "::once_cell::sync::OnceCell");
awaited_items!(OnceCell of ::once_cell::sync::OnceCell<T>, "::once_cell::sync::OnceCell");

impl<T> OnceCell<T> {
    /// As [`OnceCell::new`](::once_cell::sync::OnceCell::new).
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceValue::new(::once_cell::sync::OnceCell::new()))
    }

    /// As [`OnceCell::with_value`](::once_cell::sync::OnceCell::with_value).
    pub const fn with_value(value: T) -> Self {
        let inner = ::once_cell::sync::OnceCell::with_value(value);
        Self(OnceValue { record: OnceRecord::holding(MADE), inner })
    }

    /// As [`OnceCell::get_unchecked`](::once_cell::sync::OnceCell::get_unchecked).
    ///
    /// # Safety
    ///
    /// As once_cell's: the cell is initialised, and this thread is synchronised with that.
    #[track_caller]
    pub unsafe fn get_unchecked(&self) -> &T {
        self.0.record.call(MADE, Some(CallSite::caller()), |_| ());
        // SAFETY: the caller promises what is asked.
        unsafe { self.0.inner.get_unchecked() }
    }

    /// As [`OnceCell::try_insert`](::once_cell::sync::OnceCell::try_insert).
    #[track_caller]
    pub fn try_insert(&self, value: T) -> Result<&T, (&T, T)> {
        self.0.try_insert(value, Some(CallSite::caller()))
    }

    /// As [`OnceCell::get_or_try_init`](::once_cell::sync::OnceCell::get_or_try_init).
    #[track_caller]
    pub fn get_or_try_init<F, E>(&self, f: F) -> Result<&T, E>
    where
        F: FnOnce() -> Result<T, E>,
    {
        let inner = &self.0.inner;
        self.0.record.try_call(MADE, Some(CallSite::caller()), |call| {
            inner.get_or_try_init(|| call.try_run(f))
        })
    }

    /// Puts a value in, through the only reference to the cell.
    fn fill(&mut self, value: T, here: Option<CallSite>) {
        self.0.record.exclusive(MADE, here);
        self.0.inner = ::once_cell::sync::OnceCell::with_value(value);
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self::with_value(value)
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self.get() {
            Some(value) => Self::with_value(value.clone()),
            None => Self::new(),
        }
    }

    #[track_caller]
    fn clone_from(&mut self, source: &Self) {
        match (self.get_mut(), source.get()) {
            (Some(this), Some(source)) => this.clone_from(source),
            _ => *self = source.clone(),
        }
    }
}

/// A value that is made when it is first needed, as [`::once_cell::sync::Lazy`].
///
/// ```
/// use racelog::once_cell::sync::Lazy;
///
/// static SQUARES: Lazy<Vec<u32>> = Lazy::new(|| (0..5).map(|n| n * n).collect());
/// assert_eq!(Lazy::get(&SQUARES), None);
/// assert_eq!(SQUARES.len(), 5);
/// assert_eq!(Lazy::get(&SQUARES).map(|squares| squares[4]), Some(16));
/// ```
pub struct Lazy<T, F = fn() -> T> {
    cell: OnceCell<T>,
    /// The closure until it is run; only the cell's initialiser reaches it.
    init: Cell<Option<F>>,
}

// SAFETY: no reference to the closure is ever given out; it is taken by the one thread that the
// cell lets run its initialiser, or through an exclusive reference.
unsafe impl<T, F: Send> Sync for Lazy<T, F> where OnceCell<T>: Sync {}

impl<T, F: RefUnwindSafe> RefUnwindSafe for Lazy<T, F> where OnceCell<T>: RefUnwindSafe {}

impl<T, F> Lazy<T, F> {
    /// As [`Lazy::new`](::once_cell::sync::Lazy::new).
    pub const fn new(f: F) -> Self {
        Self { cell: OnceCell::new(), init: Cell::new(Some(f)) }
    }

    /// As [`Lazy::into_value`](::once_cell::sync::Lazy::into_value).
    #[track_caller]
    pub fn into_value(this: Self) -> Result<T, F> {
        let Self { cell, init } = this;
        cell.into_inner().ok_or_else(|| init.take().unwrap_or_else(|| poisoned()))
    }
}

impl<T, F: FnOnce() -> T> Lazy<T, F> {
    /// As [`Lazy::force`](::once_cell::sync::Lazy::force).
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.cell.get_or_init(|| match this.init.take() {
            Some(f) => f(),
            None => poisoned(),
        })
    }

    /// As [`Lazy::force_mut`](::once_cell::sync::Lazy::force_mut).
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        if this.cell.get_mut().is_none() {
            let value = match this.init.get_mut().take() {
                Some(f) => f(),
                None => poisoned(),
            };
            this.cell.fill(value, Some(CallSite::caller()));
        }
        this.cell.0.inner.get_mut().expect("it is made")
    }

    /// As [`Lazy::get`](::once_cell::sync::Lazy::get).
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        this.cell.get()
    }

    /// As [`Lazy::get_mut`](::once_cell::sync::Lazy::get_mut).
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.cell.get_mut()
    }
}

fn poisoned() -> ! {
    panic!("Lazy instance has previously been poisoned")
}

lazy_items!(Lazy);
lazy_items!(Lazy, mutable by force_mut);

impl<T: fmt::Debug, F> fmt::Debug for Lazy<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").field("cell", &self.cell).field("init", &"..").finish()
    }
}
