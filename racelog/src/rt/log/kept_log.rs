//! A thread's log that others point to.

use std::ops::Deref;
use std::ptr::NonNull;

use super::thread_log::ThreadLog;

/// Owns a log, as a box does. But a box is the only way to what is in it, and while it is moved
/// from place to place, the thread goes to its log by a pointer.
#[derive(Debug)]
pub(in crate::rt) struct KeptLog(NonNull<ThreadLog>);

impl KeptLog {
    pub(in crate::rt) fn new(log: ThreadLog) -> Self {
        Self(NonNull::from(Box::leak(Box::new(log))))
    }

    /// Good for as long as this lives.
    pub(in crate::rt) fn pointer(&self) -> *const ThreadLog {
        self.0.as_ptr()
    }
}

// SAFETY: it owns its log, which may go to another thread; pointers to it are given out there only.
unsafe impl Send for KeptLog where ThreadLog: Send {}

impl Deref for KeptLog {
    type Target = ThreadLog;

    fn deref(&self) -> &ThreadLog {
        // SAFETY: it lives until this goes, and there are only shared references.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for KeptLog {
    fn drop(&mut self) {
        // SAFETY: it was a box, and the pointers to it are not used from here on.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
