//! What is behind the handles of threads: a thread of the system, or a fiber.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Result;

use super::builder::Control;
#[cfg(fibers)]
use super::fiber::{Packet, Spawned};
use super::parking::Thread;
use crate::rt::{CallSite, ChildShared, Unordered};

/// A thread that can be joined: all that is behind a handle. `H` is std's handle.
pub(super) struct Joinable<H, T> {
    pub(super) inner: Unordered<Inner<H, T>>,
    pub(super) child: Option<Arc<ChildShared>>,
    pub(super) control: Control,
    pub(super) thread: Thread,
}

impl<H: Handle<T>, T> Joinable<H, T> {
    /// A fiber that was spawned.
    #[cfg(fibers)]
    pub(super) fn of_fiber(spawned: Spawned<T>) -> Self {
        let inner = Unordered::new(Inner::Fiber(spawned.packet));
        Self { inner, child: None, control: spawned.control, thread: spawned.thread }
    }

    fn has_ended(&self) -> bool {
        self.control.has_ended().unwrap_or_else(|| self.inner.is_finished())
    }

    /// Joins the thread.
    pub(super) fn join(self, here: Option<CallSite>) -> Result<T> {
        if let Some(child) = &self.child {
            if !self.has_ended() {
                child.awaits(here);
            }
        }
        self.control.about_to_join(here);
        self.join_ended(here)
    }

    /// Joins a thread that has ended if it is under control.
    pub(super) fn join_ended(self, here: Option<CallSite>) -> Result<T> {
        let result = self.inner.into_inner().join();
        self.control.joined();
        if let Some(child) = self.child {
            child.joined(here);
        }
        result
    }

    /// Whether the thread has come to its end.
    pub(super) fn is_finished(&self, here: Option<CallSite>) -> bool {
        self.control.about_to_look(here);
        let finished = self.has_ended();
        self.child.as_ref().map_or(finished, |child| child.looked(finished, here))
    }
}

/// A thread, or a fiber, that can be joined. `H` is std's handle.
pub(super) enum Inner<H, T> {
    Thread(H, std::marker::PhantomData<fn() -> T>),
    #[cfg(fibers)]
    Fiber(Arc<Packet<T>>),
}

/// What std's handles can do.
pub(super) trait Handle<T> {
    fn join(self) -> Result<T>;
    fn is_finished(&self) -> bool;
}

impl<T> Handle<T> for std::thread::JoinHandle<T> {
    fn join(self) -> Result<T> {
        self.join()
    }

    fn is_finished(&self) -> bool {
        self.is_finished()
    }
}

/// A scoped thread, and what its closure returns. Were that left to std, nobody would know when
/// it is dropped that nobody wants: it is before the end of the scope.
pub(super) struct ScopedThread<'scope, T> {
    pub(super) thread: std::thread::ScopedJoinHandle<'scope, ()>,
    pub(super) result: Arc<Mutex<Option<T>>>,
}

impl<T> Handle<T> for ScopedThread<'_, T> {
    fn join(self) -> Result<T> {
        self.thread.join()?;
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(result.expect("a closure that has returned leaves a result"))
    }

    fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }
}

impl<H: Handle<T>, T> Inner<H, T> {
    pub(super) fn of(handle: H) -> Self {
        Self::Thread(handle, std::marker::PhantomData)
    }

    pub(super) fn join(self) -> Result<T> {
        match self {
            Self::Thread(handle, _) => handle.join(),
            #[cfg(fibers)]
            Self::Fiber(packet) => packet.take(),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        match self {
            Self::Thread(handle, _) => handle.is_finished(),
            #[cfg(fibers)]
            Self::Fiber(packet) => packet.is_there(),
        }
    }
}
