//! Logs that belong to their threads.

use std::cell::Cell;
use std::sync::Arc;

use super::current;
use crate::rt::log::kept_log::KeptLog;
use crate::rt::log::session::Session;
use crate::rt::log::thread_log::ThreadLog;
use crate::rt::memory::stack::forget_stack;

thread_local! {
    /// The log itself, for threads that were spawned in a session. It is the first thread-local
    /// with a destructor that such a thread has, so it is the last to go.
    pub(in crate::rt) static OWNED: OwnedLog = const { OwnedLog(Cell::new(None)) };
}

/// A log for a new thread of a session, whose events come after `clock`. It has kilobytes, and the
/// thread may have a small stack.
pub(in crate::rt) fn new_log(session: &Arc<Session>, name: Option<&str>, clock: u64) -> KeptLog {
    KeptLog::new(ThreadLog::new(session.clone(), session.new_thread(name), clock))
}

/// A log for the calling thread, which no recorded thread has started. None if the trace cannot say
/// so: then nothing of the thread is in it.
pub(in crate::rt) fn foreign_log(session: &Arc<Session>) -> Option<KeptLog> {
    let thread = session.new_thread(std::thread::current().name());
    let log = || ThreadLog::new(session.clone(), thread, 0).of_foreign_thread();
    session.begin_foreign(thread).then(|| KeptLog::new(log()))
}

/// The calling thread is not recorded any more, and its end is not either.
pub(crate) fn abandon_log() {
    current::set(current::IDLE);
    let _ = OWNED.try_with(|owned| {
        if let Some((log, _)) = owned.0.take() {
            log.seal();
            forget_stack();
        }
    });
}

/// What wants to know of the end of a thread.
pub(in crate::rt) trait ThreadEnd {
    /// The thread has ended, with its clock at this stamp.
    fn ended(&self, clock: u64);
}

/// A thread's log, and who is told of its end.
type Owned = (KeptLog, Option<Arc<dyn ThreadEnd>>);

/// The log of a thread that is no test's. When the thread goes, `end` is the last event.
pub(in crate::rt) struct OwnedLog(Cell<Option<Owned>>);

impl OwnedLog {
    pub(in crate::rt) fn install(
        &self,
        log: KeptLog,
        end: Option<Arc<dyn ThreadEnd>>,
    ) -> *const ThreadLog {
        let pointer = log.pointer();
        self.0.set(Some((log, end)));
        current::set(pointer);
        pointer
    }

    /// The log, if there is one.
    pub(in crate::rt) fn current(&self) -> Option<*const ThreadLog> {
        let owned = self.0.take();
        let log = owned.as_ref().map(|(log, _)| log.pointer());
        self.0.set(owned);
        log
    }

    /// A foreign thread has this log from now on, and no longer the one that it had.
    pub(in crate::rt) fn replace(&self, log: Option<KeptLog>) -> Option<*const ThreadLog> {
        if let Some((before, _)) = self.0.take() {
            if !before.session().is_stopped() {
                before.seal();
            }
        }
        self.0.set(log.map(|log| (log, None)));
        self.current()
    }

    fn end(&self) {
        if let Some((log, end)) = self.0.take() {
            log.emit_end();
            current::set(current::off());
            log.seal();
            forget_stack();
            if let Some(end) = end {
                end.ended(log.clock());
            }
        }
    }
}

impl Drop for OwnedLog {
    fn drop(&mut self) {
        self.end();
    }
}
