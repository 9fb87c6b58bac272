//! How a thread that the scheduler does not know yet becomes a member of a run.

use std::rc::Rc;

use crate::rt;
use crate::sched::members::current::{self, OFF};
use crate::sched::members::member::Member;
use crate::sched::process;

/// Runs `f` with this thread's membership, if it is under control.
///
/// Not inlined: see [`current::get`].
#[inline(never)]
pub(in crate::sched) fn with<R>(f: impl FnOnce(&Member) -> R) -> Option<R> {
    let member = current::get();
    if member == OFF {
        return None;
    }
    let member = if member.is_null() { attach()? } else { member };
    // SAFETY: the pointer is changed before the member goes, on this thread and not within `f`.
    Some(f(unsafe { &*member }))
}

/// Finds out whether this thread belongs to the run of the whole process.
#[cold]
#[inline(never)]
fn attach() -> Option<*const Member> {
    // What follows may come back here, from the program's allocator for example.
    current::set_off();
    current::install(Rc::new(process::member()?))
}

/// Whether the calling thread is under control.
pub(crate) fn is_controlled() -> bool {
    !rt::is_off() && with(|_| ()).is_some()
}
