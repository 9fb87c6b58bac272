//! References that are made from raw pointers, and accesses of many places at once.
//!
//! Accesses through a reference are not seen. But that the reference may be made says something:
//! while a `&mut` lives, no other code accesses the place, and while a `&` lives, none writes it,
//! unless it has interior mutability. So to make one is recorded as the access that it allows: a
//! write of no known value, or a read. What is written through a `&mut` later is written before any
//! other code accesses the place, so what the next one finds there is taken as it is, and the order
//! is kept around that.
//!
//! Of types that may have interior mutability, and of method calls whose effect is not known,
//! no more is recorded than that they were there ([`unseen`]): they order nothing and hide nothing.
//!
//! Memory that instrumented code gives back by hand (`Box::from_raw`, `dealloc` and the like) is
//! written by who does it. Of memory that goes otherwise nothing is said: what orders its users may
//! be std's `Arc`, which is not recorded.
//!
//! Nothing stays locked here: the access comes later, or is of many places.

use std::ptr;

use super::raw::as_bare_access;
use crate::contract::marker::Marker;
use crate::rt::base::action::Action;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::rt::log::pending::{Armed, Memory};
use crate::rt::log::thread_log::ThreadLog;
use crate::rt::memory::forget::known_in;
use crate::rt::memory::freed_vars;
use crate::rt::memory::table::Kind;
use crate::rt::memory::words::word_at;
use crate::rt::threads::attach::with;
use crate::rt::threads::current::is_off;
use crate::trace::Value;

/// So many places are recorded one by one; more as a whole.
const ONE_BY_ONE: usize = 64;

/// The place is read, now or through a shared reference.
pub(crate) fn look<T>(place: *const T, here: Option<CallSite>) {
    if is_off() {
        return;
    }
    let memory = Memory::of_size(place.addr(), size_of::<T>());
    let mut settled = false;
    at(memory, Action::Read, here, |log, memory| {
        let mut cells = memory.lock();
        // SAFETY: the program reads the place or has a shared reference to it, so it is
        // initialised, and no other recorded thread writes it.
        let value = unsafe { word_at(place) };
        let entry = memory.entry(&mut cells);
        settled = memory.settle(log, entry, value, here);
        if !settled {
            memory.read(log, entry, value, here);
        }
    });
    if settled {
        look(place, here);
    }
}

/// The place is read, and perhaps there is nothing in it yet.
fn look_blindly(memory: Option<Memory>, here: Option<CallSite>) {
    at(memory, Action::Read, here, |log, memory| {
        let mut cells = memory.lock();
        memory.read(log, memory.entry(&mut cells), Value::Opaque, here);
    });
}

/// There is a reference from now on through which the place may be written.
pub(crate) fn lend<T: ?Sized>(place: *const T, size: usize, here: Option<CallSite>) {
    if is_off() {
        return;
    }
    at(Memory::of_size(place.addr(), size), Action::Write, here, |log, memory| {
        let mut cells = memory.lock();
        let entry = memory.entry(&mut cells);
        memory.overwrite(log, entry, here);
        entry.lent = true;
    });
}

/// The place is written, and what is left there is not known.
fn overwrite(memory: Option<Memory>, here: Option<CallSite>) {
    at(memory, Action::Write, here, |log, memory| {
        let mut cells = memory.lock();
        memory.overwrite(log, memory.entry(&mut cells), here);
    });
}

/// Runs `f` as instrumented code that accesses a place, after others had their turn.
fn at(
    memory: Option<Memory>,
    action: Action,
    here: Option<CallSite>,
    f: impl FnOnce(&ThreadLog, Memory),
) {
    let Some(memory) = memory else { return };
    control::before_access(action, memory.address, memory.size as usize, here);
    with(|log| as_bare_access(log, || f(log, memory)));
}

/// So many places in a row are read.
pub(crate) fn look_at_many<T>(place: *const T, count: usize, here: Option<CallSite>) {
    if !is_off() {
        each(place, count, |memory| look_blindly(memory, here));
    }
}

/// So many places in a row are written.
pub(crate) fn overwrite_many<T>(place: *const T, count: usize, here: Option<CallSite>) {
    if !is_off() {
        each(place, count, |memory| overwrite(memory, here));
    }
}

/// There is a reference from now on through which so many places in a row may be written.
pub(crate) fn lend_many<T>(place: *const T, count: usize, here: Option<CallSite>) {
    if !is_off() {
        each(place, count, |memory| {
            if let Some(memory) = memory {
                lend(place.with_addr(memory.address), memory.size as usize, here);
            }
        });
    }
}

/// So many bytes are written as a whole.
pub(crate) fn overwrite_bytes(address: usize, size: usize, here: Option<CallSite>) {
    if !is_off() {
        overwrite(Memory::of_size(address, size), here);
    }
}

/// So many bytes are freed. Each place in them that was accessed is written by that, and then
/// forgotten.
pub(crate) fn give_back(start: usize, size: usize, here: Option<CallSite>) {
    if is_off() {
        return;
    }
    for (address, size) in known_in(start..start.saturating_add(size)) {
        at(Memory::of_size(address, size as usize), Action::Write, here, |log, memory| {
            let mut cells = memory.lock();
            let Some(entry) = cells.get(address, Kind::Bytes(size)) else { return };
            if !entry.record.is_new_to(log) {
                log.define_freed(entry.var);
                memory.overwrite(log, entry, here);
            }
            if let Some(gone) = cells.remove(address, Kind::Bytes(size)) {
                freed_vars::add(gone.var);
            }
        });
    }
}

/// The place is read, or, if so, written, by the method that is called here, once its arguments
/// are evaluated.
pub(crate) fn arm<T>(place: *const T, writes: bool, here: Option<CallSite>) {
    let record = if writes {
        |address, here| lend(ptr::without_provenance::<T>(address), size_of::<T>(), here)
    } else {
        |address, here| look(ptr::with_exposed_provenance::<T>(address), here)
    };
    let address = place.expose_provenance();
    with(|log| log.armed.borrow_mut().push(Armed { here, address, record }));
}

/// The arguments are evaluated of the method that is called here.
pub(crate) fn fire(here: Option<CallSite>) {
    let armed = with(|log| {
        let mut all = log.armed.borrow_mut();
        // What was armed since then was given up by a panic.
        let at = all.iter().rposition(|armed| armed.here == here)?;
        all.truncate(at + 1);
        all.pop()
    });
    if let Some(Armed { here, address, record }) = armed.flatten() {
        record(address, here);
    }
}

fn each<T>(place: *const T, count: usize, mut f: impl FnMut(Option<Memory>)) {
    let (start, size) = (place.addr(), size_of::<T>());
    if count > ONE_BY_ONE {
        return f(Memory::of_size(start, size.saturating_mul(count)));
    }
    (0..count).for_each(|at| f(Memory::of_size(start.wrapping_add(at * size), size)));
}

/// Something is done here that may access memory, and it is not seen which. Each thread says so
/// once.
pub(crate) fn unseen(what: Marker<'_>, here: Option<CallSite>) {
    let Some(place) = here else { return };
    with(|log| {
        if log.is_new_blind_spot(place.key()) {
            log.emit_assert(&what.text(), here);
        }
    });
}
