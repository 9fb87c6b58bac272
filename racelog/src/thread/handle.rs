//! Mirror of [`std::thread::JoinHandle`].

use std::fmt;
use std::sync::Arc;
use std::thread::Result;

use super::builder::Control;
use super::inner::Inner;
use super::parking::Thread;
use crate::rt::{CallSite, ChildShared, Unordered};

/// An owned permission to join on a thread, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T> {
    pub(super) inner: Unordered<Inner<std::thread::JoinHandle<T>, T>>,
    pub(super) child: Option<Arc<ChildShared>>,
    pub(super) control: Control,
    pub(super) thread: Thread,
}

impl<T> JoinHandle<T> {
    /// As [`std::thread::JoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// As [`std::thread::JoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.join_at(Some(CallSite::caller()))
    }

    pub(crate) fn join_at(self, here: Option<CallSite>) -> Result<T> {
        if let Some(child) = &self.child {
            if !self.control.has_ended().unwrap_or_else(|| self.inner.is_finished()) {
                child.awaits(here);
            }
        }
        self.control.about_to_join(here);
        let result = self.inner.into_inner().join();
        self.control.joined();
        if let Some(child) = self.child {
            child.joined(here);
        }
        result
    }

    /// Joins a thread that has ended if it is under control.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn join_ended_at(self, here: Option<CallSite>) -> Result<T> {
        let result = self.inner.into_inner().join();
        self.control.joined();
        if let Some(child) = self.child {
            child.joined(here);
        }
        result
    }

    /// The thread as far as it is under control.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn control(&self) -> Option<Arc<crate::sched::ChildControl>> {
        self.control.0.clone()
    }

    /// As [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        let here = Some(CallSite::caller());
        self.control.about_to_look(here);
        let finished = self.control.has_ended().unwrap_or_else(|| self.inner.is_finished());
        if let Some(child) = &self.child {
            child.looked(finished, here);
        }
        finished
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

    use super::{Inner, JoinHandle};

    impl<T> JoinHandleExt for JoinHandle<T> {
        fn as_pthread_t(&self) -> RawPthread {
            match &*self.inner {
                Inner::Thread(handle, _) => handle.as_pthread_t(),
                #[cfg(feature = "fibers")]
                Inner::Fiber(_) => own_thread(),
            }
        }

        fn into_pthread_t(self) -> RawPthread {
            match self.inner.into_inner() {
                Inner::Thread(handle, _) => handle.into_pthread_t(),
                #[cfg(feature = "fibers")]
                Inner::Fiber(_) => own_thread(),
            }
        }
    }

    /// The thread that all fibers belong to.
    #[cfg(feature = "fibers")]
    fn own_thread() -> RawPthread {
        // SAFETY: the call takes nothing and cannot fail.
        unsafe { libc::pthread_self() as RawPthread }
    }
}
