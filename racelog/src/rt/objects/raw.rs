//! Accesses of memory that has no type of ours, by address and size: what raw pointers point to,
//! and `static mut`.
//!
//! The program makes the access itself. The recorder locks the address before and unlocks it after,
//! so what it finds there when it writes the event is what is read, and the order of events is that
//! in which things happened. Only what an update leaves is not known before: its event is written
//! after it. While an address is locked no code of the program runs: where some could (destructors,
//! operators of the program's own types) it is not locked, and the event has no value. For the same
//! reason others have their turns before the address is locked.

use std::ptr;

use crate::rt::base::action::Action;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::rt::log::pending::{LockedMemory, Memory, OpenAccess};
use crate::rt::log::thread_log::{Expected, ThreadLog};
use crate::rt::memory::allocator::keeps_order;
use crate::rt::memory::constants::is_constant;
use crate::rt::memory::table::{Cells, Entry, lock};
use crate::rt::memory::words::{is_word, word_at, word_of};
use crate::rt::threads::attach::with;
use crate::rt::threads::current::is_off;
use crate::trace::{Op, Value};

impl Memory {
    /// That of a place, if it has any bytes.
    #[inline(always)]
    fn at<T>(place: *const T) -> Option<Self> {
        Self::of_size(place.addr(), size_of::<T>())
    }

    /// So many bytes, if there are any.
    #[inline(always)]
    pub(in crate::rt) fn of_size(address: usize, size: usize) -> Option<Self> {
        let size = u32::try_from(size).ok().filter(|size| *size > 0)?;
        Some(Self { address, size })
    }

    /// Locks it, and finds what is known of it.
    #[inline(always)]
    pub(in crate::rt) fn lock(self) -> LockedMemory {
        lock(self.address)
    }

    #[inline(always)]
    pub(in crate::rt) fn entry(self, cells: &mut Cells) -> &mut Entry {
        cells.bytes(self.address, self.size, keeps_order)
    }

    /// Records that the place was found to hold a value.
    #[inline(always)]
    fn found(self, log: &ThreadLog, entry: &mut Entry, value: Value, here: Option<CallSite>) {
        if entry.record.is_new_to(log) {
            log.define_memory(entry.var, self.address, self.size);
        }
        entry.record.found(log, entry.var, value, here);
    }

    /// Records a read that finds a value.
    #[inline(always)]
    pub(in crate::rt) fn read(
        self,
        log: &ThreadLog,
        entry: &mut Entry,
        value: Value,
        here: Option<CallSite>,
    ) {
        self.settle(log, entry, value, here);
        self.expect(log, entry, value, here);
        read(log, entry, value, here);
    }

    /// Makes sure that it is known what a read will find. True if it was not: then others may go
    /// before the read once more, for to those who replay the program these are two.
    #[inline(always)]
    pub(in crate::rt) fn settle(
        self,
        log: &ThreadLog,
        entry: &mut Entry,
        value: Value,
        here: Option<CallSite>,
    ) -> bool {
        let vague = entry.is_vague()
            && (entry.lent || value != Value::Opaque)
            && !entry.record.is_new_to(log);
        if vague {
            self.read_vague(log, entry, value, here);
        }
        vague
    }

    /// The first read of what a write of no known value has left, or after a reference was made
    /// that may have been written through since. It races with what comes before as any read does;
    /// but what it finds only the observed order explains.
    #[cold]
    fn read_vague(self, log: &ThreadLog, entry: &mut Entry, value: Value, here: Option<CallSite>) {
        entry.lent = false;
        read(log, entry, Value::Opaque, here);
        entry.record.exclusive(log, entry.var, value, here);
    }

    /// As [`found`](Self::found), where both sides know the value; what has none is not compared.
    #[inline(always)]
    fn expect(self, log: &ThreadLog, entry: &mut Entry, value: Value, here: Option<CallSite>) {
        if entry.record.is_new_to(log) || !(entry.is_vague() || value == Value::Opaque) {
            self.found(log, entry, value, here);
        }
    }

    /// Says that the place is there, which is about to be written. Its value is not known: it may
    /// be uninitialised, and the program does not read it either.
    #[inline(always)]
    fn expect_anything(self, log: &ThreadLog, entry: &mut Entry, here: Option<CallSite>) {
        self.expect(log, entry, Value::Opaque, here);
    }

    /// Records a write of no known value.
    pub(in crate::rt) fn overwrite(
        self,
        log: &ThreadLog,
        entry: &mut Entry,
        here: Option<CallSite>,
    ) {
        self.expect_anything(log, entry, here);
        write(log, entry, Value::Opaque, here);
    }
}

#[inline(always)]
fn read(log: &ThreadLog, entry: &mut Entry, value: Value, here: Option<CallSite>) {
    entry.record.emit(log, Op::Read { var: entry.var, value }, here);
    entry.stay_in_order(log, value, here);
}

#[inline(always)]
fn write(log: &ThreadLog, entry: &mut Entry, value: Value, here: Option<CallSite>) {
    entry.record.emit(log, Op::Write { var: entry.var, value }, here);
    entry.record.left(value);
    entry.lent = false;
    entry.stay_in_order(log, value, here);
}

impl Entry {
    /// Whether what it holds is not known, though a recorded thread has written it.
    #[inline(always)]
    fn is_vague(&self) -> bool {
        self.lent || self.record.value() == Value::Opaque
    }

    /// What comes after an access stays there, where it is not known whether it is of the same
    /// object.
    #[inline(always)]
    fn stay_in_order(&mut self, log: &ThreadLog, value: Value, here: Option<CallSite>) {
        if self.in_order {
            self.record.exclusive(log, self.var, value, here);
        }
    }
}

/// Runs `f` as instrumented code that accesses memory.
#[inline]
pub(in crate::rt) fn as_bare_access(log: &ThreadLog, f: impl FnOnce()) {
    let outer = log.expect(Expected::Bare);
    f();
    log.expect(outer);
}

/// Another thread may go before the access. Nothing is locked yet.
#[inline]
pub(in crate::rt) fn point<T>(action: Action, place: *const T, here: Option<CallSite>) {
    if size_of::<T>() > 0 {
        control::before_access(action, place.addr(), size_of::<T>(), here);
    }
}

/// The next thing that this thread does is to read the place.
#[inline]
pub(crate) fn begin_read<T>(place: *const T, here: Option<CallSite>) {
    if !is_off() {
        begin_read_unless_off(place, here);
    }
}

#[inline(never)]
fn begin_read_unless_off<T>(place: *const T, here: Option<CallSite>) {
    point(Action::Read, place, here);
    while with(|log| try_begin_read(log, place, here)) == Some(false) {
        point(Action::Read, place, here);
    }
}

/// False if it was not known what would be found, and now it is.
fn try_begin_read<T>(log: &ThreadLog, place: *const T, here: Option<CallSite>) -> bool {
    let Some(memory) = Memory::at(place) else { return true };
    let mut cells = memory.lock();
    let entry = memory.entry(&mut cells);
    // SAFETY: the program is about to read the place, and no other recorded thread writes it.
    let value = unsafe { word_at(place) };
    let mut settled = false;
    as_bare_access(log, || {
        settled = memory.settle(log, entry, value, here);
        if !settled {
            memory.read(log, entry, value, here);
        }
    });
    if !settled {
        log.held.set(Some(cells));
    }
    !settled
}

/// Whether a place cannot be written.
pub(crate) fn is_constant_place<T>(place: *const T) -> bool {
    is_off() || is_constant(place.addr())
}

/// As [`begin_read`], of something that may be a constant: then there is nothing to record.
pub(crate) fn begin_read_static<T>(place: *const T, here: Option<CallSite>) {
    if !is_off() && !is_constant(place.addr()) {
        begin_read(place, here);
    }
}

/// The next thing that this thread does is to write the value to the place.
#[inline]
pub(crate) fn begin_write<T, V>(place: *const T, value: &V, here: Option<CallSite>) {
    if !is_off() {
        begin_write_unless_off(place, value, here);
    }
}

#[inline(never)]
fn begin_write_unless_off<T, V>(place: *const T, value: &V, here: Option<CallSite>) {
    point(Action::Write, place, here);
    with(|log| {
        let Some(memory) = Memory::at(place) else { return };
        let mut cells = memory.lock();
        let entry = memory.entry(&mut cells);
        let value = word_of(value);
        as_bare_access(log, || {
            memory.expect_anything(log, entry, here);
            write(log, entry, value, here);
        });
        // What has no value may have a destructor of the program's own, for what is overwritten.
        if is_word::<T>() && value != Value::Opaque {
            log.held.set(Some(cells));
        }
    });
}

/// The next thing that this thread does is to write something to the place.
#[inline]
pub(crate) fn begin_write_later<T>(place: *const T, here: Option<CallSite>) {
    begin_change(place, here, false);
}

/// The next thing that this thread does is to read the place and to write it, by an operator.
#[inline]
pub(crate) fn begin_update<T>(place: *const T, here: Option<CallSite>) {
    begin_change(place, here, true);
}

#[inline(never)]
fn begin_change<T>(place: *const T, here: Option<CallSite>, updates: bool) {
    point(Action::Write, place, here);
    with(|log| {
        let Some(memory) = Memory::at(place) else { return };
        let mut cells = memory.lock();
        let entry = memory.entry(&mut cells);
        as_bare_access(log, || {
            if updates {
                // SAFETY: the program is about to read the place, and no other recorded thread
                // writes it.
                let found = unsafe { word_at(place) };
                memory.read(log, entry, found, here);
            } else {
                memory.expect_anything(log, entry, here);
            }
        });
        if is_word::<T>() {
            let _ = place.expose_provenance();
            let peek = |address| {
                // SAFETY: the caller vouches for the address.
                unsafe { word_at(ptr::with_exposed_provenance::<T>(address)) }
            };
            log.open_access.set(Some(OpenAccess { memory, cells, here, updates, peek }));
            return;
        }
        // What has no value may have a destructor, or operators, of the program's own.
        if updates {
            log.branch(here);
        }
        as_bare_access(log, || write(log, entry, Value::Opaque, here));
    });
}

/// The access that was begun is done; true if there is one.
#[inline]
pub(crate) fn end() -> bool {
    with(|log| log.held.take().is_some() || end_open(log)).unwrap_or(false)
}

#[inline(never)]
fn end_open(log: &ThreadLog) -> bool {
    let Some(OpenAccess { memory, mut cells, here, updates, peek }) = log.open_access.take() else {
        return false;
    };
    if updates {
        // The operator could have panicked by what it read.
        log.branch(here);
    }
    // SAFETY: the program has just accessed the place itself, and no other recorded thread does
    // while it is locked.
    let value = unsafe { peek(memory.address) };
    as_bare_access(log, || write(log, memory.entry(&mut cells), value, here));
    true
}

/// The access that was begun will not be made.
#[inline]
pub(crate) fn give_up() {
    with(|log| drop(log.open_access.take()));
}
