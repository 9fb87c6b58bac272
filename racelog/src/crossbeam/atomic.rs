//! Mirror of [`crossbeam_utils::atomic::AtomicCell`].

use std::cell::UnsafeCell;
use std::fmt;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::rt::{CallSite, CellRecord, NumberedId, Spin, ThreadLog, counters, with, word_of};
use crate::sched::{self, Action};
use crate::trace::{MemoryOrdering, Op, Value, VarId};

pub use crossbeam_utils::atomic::AtomicConsume;

const ORDERING: Option<MemoryOrdering> = Some(MemoryOrdering::SeqCst);

/// A mutable memory location that threads share, as
/// [`AtomicCell`](crossbeam_utils::atomic::AtomicCell).
///
/// Words are recorded with their values; what is no word is opaque to the trace. It is larger than
/// crossbeam's, and a lock guards it, whatever [`is_lock_free`](Self::is_lock_free) says of
/// crossbeam's.
///
/// ```
/// use racelog::crossbeam::atomic::AtomicCell;
///
/// let best = AtomicCell::new(("nobody", 0));
/// std::thread::scope(|scope| {
///     for entry in [("Ada", 3), ("Grace", 5), ("Edsger", 4)] {
///         let best = &best;
///         scope.spawn(move || best.fetch_update(|now| (entry.1 > now.1).then_some(entry)));
///     }
/// });
/// assert_eq!(best.load(), ("Grace", 5));
/// ```
pub struct AtomicCell<T> {
    var: NumberedId,
    /// The thread that holds the lock has the value.
    state: Spin<State>,
    value: UnsafeCell<T>,
}

struct State {
    record: CellRecord,
    /// How often the value was replaced.
    version: u64,
}

// SAFETY: the value is reached only under the lock on the state, and moved or copied in and out.
unsafe impl<T: Send> Sync for AtomicCell<T> {}

impl<T> UnwindSafe for AtomicCell<T> {}
impl<T> RefUnwindSafe for AtomicCell<T> {}

impl<T> AtomicCell<T> {
    /// As [`AtomicCell::new`](crossbeam_utils::atomic::AtomicCell::new).
    pub const fn new(val: T) -> Self {
        let state = State { record: CellRecord::new(), version: 0 };
        Self { var: NumberedId::new(), state: Spin::new(state), value: UnsafeCell::new(val) }
    }

    /// As [`AtomicCell::into_inner`](crossbeam_utils::atomic::AtomicCell::into_inner).
    pub const fn into_inner(self) -> T {
        // SAFETY: no other thread has the cell any more, and it is forgotten below.
        let value = unsafe { self.value.get().read() };
        // A const function can drop nothing that has a destructor. What the record may own is the
        // list of the sessions that have used the cell, if those were several.
        mem::forget(self);
        value
    }

    /// As [`AtomicCell::is_lock_free`](crossbeam_utils::atomic::AtomicCell::is_lock_free), of
    /// crossbeam's cell.
    pub const fn is_lock_free() -> bool {
        crossbeam_utils::atomic::AtomicCell::<T>::is_lock_free()
    }

    /// As [`AtomicCell::store`](crossbeam_utils::atomic::AtomicCell::store).
    #[track_caller]
    pub fn store(&self, val: T) {
        let op = |var, _, value| Op::Store { var, value, ordering: ORDERING };
        // What was there is dropped here, where the lock is no longer held.
        drop(self.replace(val, op, Some(CallSite::caller())));
    }

    /// As [`AtomicCell::swap`](crossbeam_utils::atomic::AtomicCell::swap).
    #[track_caller]
    pub fn swap(&self, val: T) -> T {
        self.replace(val, rmw, Some(CallSite::caller()))
    }

    /// As [`AtomicCell::as_ptr`](crossbeam_utils::atomic::AtomicCell::as_ptr).
    ///
    /// What is written through the pointer is noticed at the next recorded access.
    pub const fn as_ptr(&self) -> *mut T {
        self.value.get()
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn var(&self) -> VarId {
        VarId::new(self.var.get(&counters::VARS))
    }

    /// Puts a value in and takes out what was there; `op` makes the event of the old and the new.
    fn replace(
        &self,
        new: T,
        op: impl FnOnce(VarId, Value, Value) -> Op,
        here: Option<CallSite>,
    ) -> T {
        sched::point(Action::Modify, self.key(), here);
        let mut state = self.state.lock();
        // SAFETY: the lock is held.
        let old = unsafe { mem::replace(&mut *self.value.get(), new) };
        // SAFETY: the lock is held.
        let new = word_of(unsafe { &*self.value.get() });
        state.replaced(word_of(&old), new, self, op, here);
        old
    }
}

fn rmw(var: VarId, old: Value, new: Value) -> Op {
    Op::Rmw { var, old, new, ordering: ORDERING }
}

impl State {
    /// The value was replaced.
    fn replaced<T>(
        &mut self,
        old: Value,
        new: Value,
        cell: &AtomicCell<T>,
        op: impl FnOnce(VarId, Value, Value) -> Op,
        here: Option<CallSite>,
    ) {
        self.version += 1;
        with(|log| {
            let var = cell.var();
            self.saw(log, var, old, op(var, old, new), here);
            self.record.left(new);
        });
    }

    fn saw(&mut self, log: &ThreadLog, var: VarId, found: Value, op: Op, here: Option<CallSite>) {
        self.record.found(log, var, found, here);
        self.record.emit(log, op, here);
    }
}

impl<T: Default> AtomicCell<T> {
    /// As [`AtomicCell::take`](crossbeam_utils::atomic::AtomicCell::take).
    #[track_caller]
    pub fn take(&self) -> T {
        self.swap(T::default())
    }
}

impl<T: Copy> AtomicCell<T> {
    /// As [`AtomicCell::load`](crossbeam_utils::atomic::AtomicCell::load).
    #[track_caller]
    pub fn load(&self) -> T {
        let here = Some(CallSite::caller());
        sched::point(Action::Load, self.key(), here);
        let mut state = self.state.lock();
        // SAFETY: the lock is held.
        let value = unsafe { *self.value.get() };
        with(|log| {
            let (var, word) = (self.var(), word_of(&value));
            state.saw(log, var, word, Op::Load { var, value: word, ordering: ORDERING }, here);
        });
        value
    }

    /// The value and its version, unrecorded.
    fn peek(&self) -> (T, u64) {
        let state = self.state.lock();
        // SAFETY: the lock is held.
        (unsafe { *self.value.get() }, state.version)
    }

    /// Replaces the value by one that is computed from it by code that is not the program's.
    fn modify(&self, change: impl FnOnce(T) -> T, here: Option<CallSite>) -> T {
        sched::point(Action::Modify, self.key(), here);
        let mut state = self.state.lock();
        // SAFETY: the lock is held.
        let old = unsafe { *self.value.get() };
        let new = change(old);
        // SAFETY: the lock is held.
        unsafe { *self.value.get() = new };
        state.replaced(word_of(&old), word_of(&new), self, rmw, here);
        old
    }
}

impl<T: Copy + Eq> AtomicCell<T> {
    /// As [`AtomicCell::compare_and_swap`](crossbeam_utils::atomic::AtomicCell::compare_and_swap).
    #[deprecated(note = "Use `compare_exchange` instead")]
    #[track_caller]
    pub fn compare_and_swap(&self, current: T, new: T) -> T {
        match self.compare_exchange(current, new) {
            Ok(found) | Err(found) => found,
        }
    }

    /// As [`AtomicCell::compare_exchange`](crossbeam_utils::atomic::AtomicCell::compare_exchange).
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T) -> Result<T, T> {
        let here = Some(CallSite::caller());
        sched::point(Action::Modify, self.key(), here);
        loop {
            let (found, version) = self.peek();
            // The comparison is code of the program, so it runs without the lock; the result holds
            // if the value is still the same when the lock is taken again.
            let equal = found == current;
            let mut state = self.state.lock();
            if state.version != version {
                continue;
            }
            let seen = word_of(&found);
            if equal {
                let op = |var, old, new| Op::Cas { var, old, new, ordering: ORDERING };
                // SAFETY: the lock is held.
                unsafe { *self.value.get() = new };
                state.replaced(seen, word_of(&new), self, op, here);
                return Ok(found);
            }
            with(|log| {
                let var = self.var();
                state.saw(log, var, seen, Op::CasFail { var, seen, ordering: ORDERING }, here);
            });
            return Err(found);
        }
    }

    /// As [`AtomicCell::fetch_update`](crossbeam_utils::atomic::AtomicCell::fetch_update).
    #[track_caller]
    pub fn fetch_update<F>(&self, mut f: F) -> Result<T, T>
    where
        F: FnMut(T) -> Option<T>,
    {
        let mut found = self.load();
        while let Some(next) = f(found) {
            match self.compare_exchange(found, next) {
                Ok(found) => return Ok(found),
                Err(now) => found = now,
            }
        }
        Err(found)
    }
}

macro_rules! fetch {
    ($($word:ty)*: $($name:ident($old:ident, $val:ident) $new:expr;)*) => {
        fetch!(@each [$($word)*] { $($name($old, $val) $new;)* });
    };
    (@each [$($word:ty)*] $methods:tt) => {$( fetch!(@one $word, $methods); )*};
    (@one $word:ty, { $($name:ident($old:ident, $val:ident) $new:expr;)* }) => {
        impl AtomicCell<$word> {$(
            #[doc = concat!(
                "As [`AtomicCell::", stringify!($name),
                "`](crossbeam_utils::atomic::AtomicCell::", stringify!($name), ")."
            )]
            #[track_caller]
            pub fn $name(&self, $val: $word) -> $word {
                self.modify(|$old| $new, Some(CallSite::caller()))
            }
        )*}
    };
}

fetch! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize:
    fetch_add(old, val) old.wrapping_add(val);
    fetch_sub(old, val) old.wrapping_sub(val);
    fetch_max(old, val) old.max(val);
    fetch_min(old, val) old.min(val);
}

fetch! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize bool:
    fetch_and(old, val) old & val;
    fetch_nand(old, val) !(old & val);
    fetch_or(old, val) old | val;
    fetch_xor(old, val) old ^ val;
}

impl<T: Default> Default for AtomicCell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for AtomicCell<T> {
    fn from(val: T) -> Self {
        Self::new(val)
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for AtomicCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a debugger prints is not what the program does: nothing is recorded.
        f.debug_struct("AtomicCell").field("value", &self.peek().0).finish()
    }
}
