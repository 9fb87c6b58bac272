//! Mirror of [`std::thread::JoinHandle`].

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::thread::Result;

use super::parking::Thread;
use crate::rt::{ChildShared, Here};

/// An owned permission to join on a thread, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T> {
    pub(super) inner: std::thread::JoinHandle<T>,
    pub(super) child: Option<Arc<ChildShared>>,
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
        self.join_at(Some(Location::caller()))
    }

    pub(crate) fn join_at(self, here: Here) -> Result<T> {
        let result = self.inner.join();
        if let Some(child) = self.child {
            child.joined(here);
        }
        result
    }

    /// As [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        let finished = self.inner.is_finished();
        if let Some(child) = &self.child {
            child.looked(finished, Some(Location::caller()));
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

    use super::JoinHandle;

    impl<T> JoinHandleExt for JoinHandle<T> {
        fn as_pthread_t(&self) -> RawPthread {
            self.inner.as_pthread_t()
        }

        fn into_pthread_t(self) -> RawPthread {
            self.inner.into_pthread_t()
        }
    }
}
