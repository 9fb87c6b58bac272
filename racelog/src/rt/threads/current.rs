//! The log of the calling thread, as far as it is known.

use std::cell::Cell;
use std::ptr;

use crate::rt::log::owner;
use crate::rt::log::thread_log::ThreadLog;

thread_local! {
    /// The log of this thread; null while that is not known, [`off`] if it has none. Without a
    /// destructor, so that destructors of other thread-locals can be recorded.
    static CURRENT: Cell<*const ThreadLog> = const { Cell::new(ptr::null()) };

}

/// Stands for the log of a thread that is neither recorded nor under control.
#[inline]
pub(in crate::rt) fn off() -> *const ThreadLog {
    static OFF: u8 = 0;
    (&raw const OFF).cast()
}

/// The calling thread has this log from now on, or what stands for none.
pub(in crate::rt) fn set(log: *const ThreadLog) {
    CURRENT.set(log);
    owner::enter(if is_log(log) {
        // SAFETY: it is a log, and those who make it a thread's own keep it for as long.
        unsafe { &*log }.owner()
    } else {
        None
    });
}

/// Whether it is a log, and does not stand for something else.
fn is_log(log: *const ThreadLog) -> bool {
    log != off() && log.addr() > FOREIGN.addr()
}

/// Stands for the log of a thread that is not recorded, but may be under control.
pub(in crate::rt) const IDLE: *const ThreadLog = ptr::without_provenance(1);

/// Stands for the log of a foreign thread, which may be another one each time.
pub(in crate::rt) const FOREIGN: *const ThreadLog = ptr::without_provenance(2);

/// Whether the thread is known to be neither recorded nor under control: the one thing that is
/// looked at when all is off.
#[inline]
pub(crate) fn is_off() -> bool {
    CURRENT.get() == off()
}

/// The log of the calling thread, or what stands for none.
#[inline]
pub(in crate::rt) fn get() -> *const ThreadLog {
    CURRENT.get()
}

/// For the extent of an operation the calling thread has this log, or what stands for none. No cell
/// belongs to it under this log.
pub(in crate::rt) fn set_briefly(log: *const ThreadLog) {
    CURRENT.set(log);
}

/// Runs `f` with the log of this thread, if it is known to have one. Nothing is looked for or
/// opened.
pub(in crate::rt) fn with_known<R>(f: impl FnOnce(&ThreadLog) -> R) -> Option<R> {
    let log = CURRENT.get();
    // SAFETY: as in `with`.
    is_log(log).then(|| f(unsafe { &*log }))
}

/// The log of the calling thread, to come back to.
pub(crate) struct Silence(pub(in crate::rt) *const ThreadLog);

/// The calling thread, which may be under control, is not recorded until the result is dropped.
pub(crate) fn silence() -> Silence {
    let log = CURRENT.get();
    set(IDLE);
    Silence(log)
}

impl Drop for Silence {
    fn drop(&mut self) {
        set(self.0);
    }
}
