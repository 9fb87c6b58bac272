//! A plain memory cell to race for.

use std::cell::UnsafeCell;
use std::panic::{Location, RefUnwindSafe};

use crate::rt::{
    self, CallSite, CellRecord, KeptAccess, NumberedId, Ownership, Spin, SpinGuard, Streak,
    ThreadLog, counters, step_of, with, word_of,
};
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
#[repr(C)]
pub struct Shared<T: Copy> {
    /// The thread that owns the cell, if one does. The owner has the value while busy with it.
    ownership: Ownership,
    var: NumberedId,
    /// What the recorder knows of it. A thread that holds the lock, and has taken the cell from its
    /// owner, has the value.
    record: Spin<Record>,
    value: UnsafeCell<T>,
}

type Caller = &'static Location<'static>;

struct Record {
    cell: CellRecord,
    streak: Streak,
}

// SAFETY: the value is reached only by one thread at a time, as said above, and is copied in and
// out.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}

impl<T: Copy> RefUnwindSafe for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self {
            var: NumberedId::new(),
            ownership: Ownership::new(),
            record: Spin::new(Record { cell: CellRecord::new(), streak: Streak::new() }),
            value: UnsafeCell::new(value),
        }
    }

    /// Reads the cell.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T {
        let caller = Location::caller();
        let own = self.ownership.access(|log, tag| {
            let recorded = log.emit_again(KeptAccess { caller, tag, write: false }, 0);
            // SAFETY: the cell belongs to this thread, which is busy with it.
            recorded.then(|| unsafe { *self.value.get() })
        });
        own.unwrap_or_else(|| self.get_slowly(caller))
    }

    /// Writes the cell.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        let caller = Location::caller();
        let own = self.ownership.access(|log, tag| {
            let place = self.value.get();
            // SAFETY: the cell belongs to this thread, which is busy with it.
            let step = step_of(unsafe { &*place }, &value)?;
            let recorded = log.emit_again(KeptAccess { caller, tag, write: true }, step);
            // SAFETY: as above.
            recorded.then(|| unsafe { *place = value })
        });
        own.unwrap_or_else(|| self.set_slowly(value, caller));
    }

    /// Reads the cell, which belongs to this thread, if it does, and records that in full.
    #[cold]
    #[inline(never)]
    fn get_slowly(&self, caller: Caller) -> T {
        let own = self.ownership.access(|log, tag| {
            // SAFETY: the cell belongs to this thread, which is busy with it.
            let value = unsafe { *self.value.get() };
            let op = Op::Read { var: self.var(), value: word_of(&value) };
            log.emit_kept(op, KeptAccess { caller, tag, write: false }).then_some(value)
        });
        own.unwrap_or_else(|| self.get_by_lock(caller))
    }

    /// Writes the cell, which belongs to this thread, if it does, and records that in full.
    #[cold]
    #[inline(never)]
    fn set_slowly(&self, value: T, caller: Caller) {
        let own = self.ownership.access(|log, tag| {
            let op = Op::Write { var: self.var(), value: word_of(&value) };
            // SAFETY: the cell belongs to this thread, which is busy with it.
            log.emit_kept(op, KeptAccess { caller, tag, write: true })
                .then(|| unsafe { *self.value.get() = value })
        });
        own.unwrap_or_else(|| self.set_by_lock(value, caller));
    }

    fn get_by_lock(&self, caller: Caller) -> T {
        let here = Some(CallSite::source(caller));
        if !rt::is_off() {
            sched::point(Action::Read, self.key(), here);
        }
        let mut record = self.lock();
        // SAFETY: the lock is held.
        let value = unsafe { *self.value.get() };
        with(|log| {
            let (var, word) = (self.var(), word_of(&value));
            record.cell.found(log, var, word, here);
            self.emit(log, &mut record, Op::Read { var, value: word }, caller);
        });
        value
    }

    fn set_by_lock(&self, value: T, caller: Caller) {
        let here = Some(CallSite::source(caller));
        if !rt::is_off() {
            sched::point(Action::Write, self.key(), here);
        }
        let mut record = self.lock();
        with(|log| {
            let (var, word) = (self.var(), word_of(&value));
            // SAFETY: the lock is held.
            record.cell.found(log, var, word_of(unsafe { &*self.value.get() }), here);
            self.emit(log, &mut record, Op::Write { var, value: word }, caller);
            record.cell.left(word);
        });
        // SAFETY: the lock is held.
        unsafe { *self.value.get() = value };
    }

    /// Takes the lock, and the cell from its owner.
    #[inline]
    fn lock(&self) -> SpinGuard<'_, Record> {
        let mut record = self.record.lock();
        if let Some(clock) = self.ownership.take_back(&mut record.streak) {
            // SAFETY: the lock is held.
            record.cell.catch_up(clock, word_of(unsafe { &*self.value.get() }));
        }
        record
    }

    /// Records an access, with the lock held.
    #[inline(always)]
    fn emit(&self, log: &ThreadLog, record: &mut Record, op: Op, caller: Caller) {
        record.cell.emit(log, op, Some(CallSite::source(caller)));
        record.streak.goes_on(log, &self.ownership);
    }

    /// The value, by a reference that is known to be the only one.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.exclusive(Some(CallSite::caller()));
        self.value.get_mut()
    }

    /// The value.
    #[track_caller]
    pub fn into_inner(mut self) -> T {
        self.exclusive(Some(CallSite::caller()));
        *self.value.get_mut()
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn var(&self) -> VarId {
        VarId::new(self.var.get(&counters::VARS))
    }

    fn exclusive(&mut self, here: Option<CallSite>) {
        let (var, word) = (self.var(), word_of(self.value.get_mut()));
        let cell = &mut self.record.get_mut().cell;
        if let Some(clock) = self.ownership.end() {
            cell.catch_up(clock, word);
        }
        with(|log| cell.exclusive(log, var, word, here));
    }
}
