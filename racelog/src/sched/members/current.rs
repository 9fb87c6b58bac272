//! The calling thread's membership, as far as it is known.

use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

use super::member::Member;

thread_local! {
    /// This thread's membership; null while that is not known, [`OFF`] if there is none. Without a
    /// destructor, so that destructors of other thread-locals are under control, too.
    static MEMBER: Cell<*const Member> = const { Cell::new(ptr::null()) };

    /// The membership itself, of threads that were spawned under control. It is the first
    /// thread-local with a destructor that such a thread has, so it is the last to go.
    static OWNED: Owned = const { Owned(Cell::new(None)) };
}

/// Counted, and not boxed: to move a box is to say that nothing else points into it, and
/// [`MEMBER`] does.
struct Owned(Cell<Option<Rc<Member>>>);

impl Owned {
    fn end(&self) {
        if let Some(member) = self.0.take() {
            finish(&member);
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.end();
    }
}

/// An address where no member is.
pub(in crate::sched) const OFF: *const Member = ptr::without_provenance(1);

/// The calling thread's membership; null while that is not known, [`OFF`] if there is none.
///
/// Only for functions that are not inlined: a fiber may go on in another thread, and code that has
/// looked for the thread-local before would look at the one of the thread that it was in.
#[inline]
pub(in crate::sched) fn get() -> *const Member {
    MEMBER.get()
}

/// The calling thread has no membership.
pub(in crate::sched) fn set_off() {
    MEMBER.set(OFF);
}

/// Makes this the calling thread's membership; `None` if the thread is past having one.
pub(in crate::sched) fn install(member: Rc<Member>) -> Option<*const Member> {
    let pointer = Rc::as_ptr(&member);
    OWNED.try_with(|owned| owned.0.set(Some(member))).ok()?;
    MEMBER.set(pointer);
    Some(pointer)
}

/// The calling thread has ended, and with it its membership, which is this.
pub(in crate::sched) fn finish(member: &Member) {
    set_off();
    member.finish();
}

/// Makes the calling thread a member until the guard is dropped.
pub(in crate::sched) fn enter(member: &Member) -> Entered {
    let outer = MEMBER.replace(ptr::from_ref(member));
    Entered { outer }
}

/// Ends a membership that was entered.
pub(in crate::sched) struct Entered {
    outer: *const Member,
}

impl Drop for Entered {
    fn drop(&mut self) {
        MEMBER.set(self.outer);
    }
}

/// The calling thread's place in the tree of threads, if it is under control. A thread that panics
/// may ask: it does not wait.
pub(in crate::sched) fn path() -> Option<String> {
    let member = MEMBER.get();
    if member.is_null() || member == OFF {
        return None;
    }
    // SAFETY: as in `with_member`: the pointer is changed before the member goes, on this thread.
    let member = unsafe { &*member };
    member.run().try_lock().map(|state| state.slots[member.slot()].path.clone())
}
