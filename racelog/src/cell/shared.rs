//! A plain memory cell to race for.

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe};

use crate::rt::{self, CellRecord, Here, NumberedId, Spin, counters, with, word_of};
use crate::sched::{self, Action};
use crate::trace::{Op, VarId};

/// A plain memory cell that threads share: what a field or a `static mut` is in a program that
/// does not synchronise. While recording is compiled in, racy use is well defined; it is a data
/// race all the same, and recorded as the plain reads and writes that it stands for.
///
/// ```
/// use racelog::cell::Shared;
///
/// static COUNTER: Shared<u32> = Shared::new(0);
/// COUNTER.set(COUNTER.get() + 1);
/// assert_eq!(COUNTER.get(), 1);
/// ```
pub struct Shared<T: Copy> {
    var: NumberedId,
    /// What the recorder knows of it; whoever holds the lock has the value.
    record: Spin<CellRecord>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only under the lock on the record, and is copied in and out.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}

impl<T: Copy> RefUnwindSafe for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self {
            var: NumberedId::new(),
            record: Spin::new(CellRecord::new()),
            value: UnsafeCell::new(value),
        }
    }

    /// Reads the cell.
    #[track_caller]
    pub fn get(&self) -> T {
        let here = Some(Location::caller());
        if rt::is_off() {
            let _record = self.record.lock();
            // SAFETY: the lock is held.
            return unsafe { *self.value.get() };
        }
        sched::point(Action::Read, self.key(), here);
        let mut record = self.record.lock();
        // SAFETY: the lock is held.
        let value = unsafe { *self.value.get() };
        with(|log| {
            let (var, word) = (self.var(), word_of(&value));
            record.found(log, var, word, here);
            record.emit(log, Op::Read { var, value: word }, here);
        });
        value
    }

    /// Writes the cell.
    #[track_caller]
    pub fn set(&self, value: T) {
        let here = Some(Location::caller());
        if rt::is_off() {
            let _record = self.record.lock();
            // SAFETY: the lock is held.
            unsafe { *self.value.get() = value };
            return;
        }
        sched::point(Action::Write, self.key(), here);
        let mut record = self.record.lock();
        with(|log| {
            let (var, word) = (self.var(), word_of(&value));
            // SAFETY: the lock is held.
            record.found(log, var, word_of(unsafe { &*self.value.get() }), here);
            record.emit(log, Op::Write { var, value: word }, here);
            record.left(word);
        });
        // SAFETY: the lock is held.
        unsafe { *self.value.get() = value };
    }

    /// The value, by a reference that is known to be the only one.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.exclusive(Some(Location::caller()));
        self.value.get_mut()
    }

    /// The value.
    #[track_caller]
    pub fn into_inner(mut self) -> T {
        self.exclusive(Some(Location::caller()));
        *self.value.get_mut()
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn var(&self) -> VarId {
        VarId::new(self.var.get(&counters::VARS))
    }

    fn exclusive(&mut self, here: Here) {
        let (var, word) = (self.var(), word_of(self.value.get_mut()));
        let record = self.record.get_mut();
        with(|log| record.exclusive(log, var, word, here));
    }
}

impl<T: Copy + Default> Default for Shared<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Copy> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Copy> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
