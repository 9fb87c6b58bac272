//! Uses of what a lock guards by instrumented code: between what it says before and after.

use crate::rt::base::call_site::CallSite;
use crate::rt::log::pending::OpenHeld;
use crate::rt::log::thread_log::{Expected, HeldUse};
use crate::rt::threads::attach::with;

/// The next thing that this thread does is to use what a lock guards, at this place.
pub(crate) fn begin(used: HeldUse, here: CallSite) {
    with(|log| log.expect(Expected::Held(here, used)));
}

/// The use that was begun is over; true if there is one.
pub(crate) fn end() -> bool {
    let begun = with(|log| (log.expect_nothing_of_held(), log.open_held.take()));
    let Some((expected, open)) = begun else { return false };
    let Some(OpenHeld { lock, written, data, peek, updates, here, .. }) = open else {
        return expected;
    };
    if updates {
        // The operator could have panicked by what it read, unless that was said already.
        with(|log| {
            if !log.says_what_is_left() {
                log.branch(here);
            }
        });
    }
    // SAFETY: the change was made by a guard, which instrumented code has at least until it has said
    // that the change is made. So the lock is there, and held exclusively, and the reference is gone
    // that the change was made by.
    unsafe { written(lock, peek(data)) };
    true
}

/// The use that was begun may not be made.
pub(crate) fn give_up() {
    with(|log| {
        log.expect_nothing_of_held();
        log.open_held.set(None);
    });
}
