//! Mirror of [`std::thread::JoinHandle`].

use std::fmt;
use std::thread::Result;

use super::inner::Joinable;
use super::parking::Thread;
use crate::rt::CallSite;

/// An owned permission to join on a thread, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(pub(super) Joinable<std::thread::JoinHandle<T>, T>);

impl<T> JoinHandle<T> {
    /// As [`std::thread::JoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.0.thread
    }

    /// As [`std::thread::JoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.join_at(Some(CallSite::caller()))
    }

    pub(crate) fn join_at(self, here: Option<CallSite>) -> Result<T> {
        self.0.join(here)
    }

    /// Joins a thread that has ended if it is under control.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn join_ended_at(self, here: Option<CallSite>) -> Result<T> {
        self.0.join_ended(here)
    }

    /// The thread as far as it is under control.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn control(&self) -> Option<std::sync::Arc<crate::sched::ChildControl>> {
        self.0.control.0.clone()
    }

    /// As [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished(Some(CallSite::caller()))
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::thread::{JoinHandleExt, RawPthread};

    use super::super::inner::Inner;
    use super::JoinHandle;

    impl<T> JoinHandleExt for JoinHandle<T> {
        fn as_pthread_t(&self) -> RawPthread {
            match &*self.0.inner {
                Inner::Thread(handle, _) => handle.as_pthread_t(),
                #[cfg(fibers)]
                Inner::Fiber(_) => own_thread(),
            }
        }

        fn into_pthread_t(self) -> RawPthread {
            match self.0.inner.into_inner() {
                Inner::Thread(handle, _) => handle.into_pthread_t(),
                #[cfg(fibers)]
                Inner::Fiber(_) => own_thread(),
            }
        }
    }

    /// The thread that all fibers belong to.
    #[cfg(fibers)]
    fn own_thread() -> RawPthread {
        // SAFETY: the call takes nothing and cannot fail.
        unsafe { libc::pthread_self() as RawPthread }
    }
}
