//! Accesses of memory that has no type of ours, by address and size: what raw pointers point to, and
//! `static mut`.
//!
//! The program makes the access itself. The recorder locks the address before and writes the event
//! after it, so that the event says what was read or written, in the order in which that happened.
//! While an address is locked no code of the program runs: where some could (destructors, operators
//! of the program's own types) the event is written first, and has no value. For the same reason
//! others have their turns before the address is locked.

use std::ptr::{self, NonNull};

use super::cells::{Cells, Entry, Kind, entry, lock};
use super::constants::is_constant;
use super::log::{Expected, Here, ThreadLog};
use super::meta::SpinGuard;
use super::session::{is_off, with};
use super::words::word_at;
use crate::sched::{self, Action};
use crate::trace::{Op, Value};

/// An access that the program is about to make, with the address locked.
pub(super) struct Open {
    /// In the table, which stays as it is while it is locked.
    entry: NonNull<Entry>,
    /// Keeps it locked.
    _cells: SpinGuard<'static, Cells>,
    address: usize,
    size: u32,
    here: Here,
    access: Access,
    /// What the memory holds.
    peek: unsafe fn(usize) -> Value,
}

// SAFETY: a log goes to its thread before that has opened anything; and whoever has this has the
// lock that guards the entry.
unsafe impl Send for Open {}

/// What the program does.
#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
    Update,
}

impl Open {
    /// Locks the memory at a place, if it has any.
    #[inline(always)]
    fn new<T>(place: *const T, here: Here, access: Access) -> Option<Self> {
        let size = u32::try_from(size_of::<T>()).ok().filter(|size| *size > 0)?;
        let address = place.addr();
        let peek = |address| {
            // SAFETY: whoever calls this vouches for the address.
            unsafe { word_at(ptr::with_exposed_provenance::<T>(address)) }
        };
        place.expose_provenance();
        let mut cells = lock(address);
        let entry = NonNull::from(entry(&mut cells, address, Kind::Bytes(size)));
        Some(Self { entry, _cells: cells, address, size, here, access, peek })
    }

    #[inline]
    fn entry(&mut self) -> &mut Entry {
        // SAFETY: the table is locked as long as this lives, and nobody else has a reference into
        // it.
        unsafe { self.entry.as_mut() }
    }

    /// What is there. Only for places that the program itself is about to access, or has accessed
    /// while they were locked.
    #[inline]
    fn peek(&self) -> Value {
        // SAFETY: the program accesses the place itself, so it may be accessed; and no other
        // recorded thread does while it is locked.
        unsafe { (self.peek)(self.address) }
    }

    /// Records that the place was found to hold a value.
    #[inline]
    fn found(&mut self, log: &ThreadLog, value: Value) -> &mut Entry {
        let (here, address, size) = (self.here, self.address, self.size);
        let entry = self.entry();
        if entry.record.is_new_to(log) {
            log.define_memory(entry.var, address, size);
        }
        entry.record.found(log, entry.var, value, here);
        entry
    }

    #[inline]
    fn read(&mut self, log: &ThreadLog, value: Value) {
        let here = self.here;
        let entry = self.found(log, value);
        entry.record.emit(log, Op::Read { var: entry.var, value }, here);
    }

    #[inline]
    fn write(&mut self, log: &ThreadLog, value: Value) {
        let here = self.here;
        let entry = self.entry();
        entry.record.emit(log, Op::Write { var: entry.var, value }, here);
        entry.record.left(value);
    }
}

/// Runs `f` as instrumented code that accesses memory.
#[inline]
fn barely(log: &ThreadLog, f: impl FnOnce()) {
    let outer = log.expect(Expected::Bare);
    f();
    log.expect(outer);
}

/// Somebody else may go before the access. Nothing is locked yet.
#[inline]
fn point<T>(action: Action, place: *const T, here: Here) {
    if size_of::<T>() > 0 {
        sched::point_in_memory(action, place.addr(), size_of::<T>(), here);
    }
}

/// The next thing that this thread does is to read the place.
#[inline]
pub(crate) fn begin_read<T>(place: *const T, here: Here) {
    point(Action::Read, place, here);
    with(|log| log.open_access.set(Open::new(place, here, Access::Read)));
}

/// As [`begin_read`], of something that may be a constant: then there is nothing to record.
pub(crate) fn begin_read_static<T>(place: *const T, here: Here) {
    if !is_off() && !is_constant(place.addr()) {
        begin_read(place, here);
    }
}

/// The next thing that this thread does is to write the place.
#[inline]
pub(crate) fn begin_write<T>(place: *const T, here: Here) {
    begin_change(place, here, Access::Write);
}

/// The next thing that this thread does is to read the place and to write it, by an operator.
#[inline]
pub(crate) fn begin_update<T>(place: *const T, here: Here) {
    begin_change(place, here, Access::Update);
}

#[inline]
fn begin_change<T>(place: *const T, here: Here, access: Access) {
    point(Action::Write, place, here);
    with(|log| {
        let Some(mut open) = Open::new(place, here, access) else { return };
        // SAFETY: the program is about to access the place, and no other recorded thread does.
        let found = unsafe { word_at(place) };
        barely(log, || match access {
            Access::Update => open.read(log, found),
            _ => _ = open.found(log, found),
        });
        if found != Value::Opaque {
            log.open_access.set(Some(open));
            return;
        }
        // What has no value may have a destructor, or operators, of the program's own.
        if matches!(access, Access::Update) {
            log.branch(here);
        }
        barely(log, || open.write(log, Value::Opaque));
    });
}

/// The access that was begun is done; true if there is one.
#[inline]
pub(crate) fn end() -> bool {
    with(|log| {
        let Some(mut open) = log.open_access.take() else { return false };
        let value = open.peek();
        match open.access {
            Access::Read => barely(log, || open.read(log, value)),
            Access::Write => barely(log, || open.write(log, value)),
            Access::Update => {
                // The operator could have panicked by what it read.
                log.branch(open.here);
                barely(log, || open.write(log, value));
            }
        }
        true
    })
    .unwrap_or(false)
}

/// The access that was begun will not be made.
#[inline]
pub(crate) fn give_up() {
    with(|log| drop(log.open_access.take()));
}

/// Somebody uses the place in a way that may read or write all or some of it. Nothing is said to
/// race with that; what comes before and after stays there.
pub(crate) fn used<T>(place: *const T, here: Here) {
    point(Action::Look, place, here);
    with(|log| {
        if let Some(mut open) = Open::new(place, here, Access::Read) {
            let entry = open.found(log, Value::Opaque);
            entry.record.exclusive(log, entry.var, Value::Opaque, here);
        }
    });
}
