//! Mirrors of [`std::thread::spawn`] and [`std::thread::Builder`].

use std::io;
use std::panic::Location;
use std::sync::Arc;

use super::handle::JoinHandle;
use super::parking::{Parker, Thread, install};
use super::scoped::{Scope, ScopedJoinHandle};
use crate::rt::{Child, Here};

/// A thread factory, as [`std::thread::Builder`].
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    inner: std::thread::Builder,
    name: Option<String>,
}

impl Builder {
    /// As [`std::thread::Builder::new`].
    #[expect(clippy::new_without_default, reason = "std's has no default either")]
    pub fn new() -> Self {
        Self { inner: std::thread::Builder::new(), name: None }
    }

    /// As [`std::thread::Builder::name`].
    pub fn name(self, name: String) -> Self {
        Self { inner: self.inner.name(name.clone()), name: Some(name) }
    }

    /// As [`std::thread::Builder::stack_size`].
    pub fn stack_size(self, size: usize) -> Self {
        Self { inner: self.inner.stack_size(size), name: self.name }
    }

    /// As [`std::thread::Builder::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: the closure and its result live for ever, so the thread may outlive anything.
        unsafe { self.spawn_unchecked_at(f, Some(Location::caller())) }
    }

    /// As [`std::thread::Builder::spawn_unchecked`].
    ///
    /// # Safety
    ///
    /// As std's: the caller makes sure that the thread does not outlive what the closure borrows.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: the caller promises what is asked.
        unsafe { self.spawn_unchecked_at(f, Some(Location::caller())) }
    }

    /// As [`std::thread::Builder::spawn_scoped`].
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let start = Start::new(self.name.as_deref(), Some(Location::caller()));
        let (parker, child) = (start.parker.clone(), start.child());
        let inner = self.inner.spawn_scoped(scope.std(), move || {
            let running = start.begin(true);
            let result = f();
            drop(running);
            result
        })?;
        if let Some(child) = &child {
            scope.add(child.clone());
        }
        let thread = Thread::new(inner.thread().clone(), parker);
        Ok(ScopedJoinHandle { inner, child, thread })
    }

    /// As [`Builder::spawn_unchecked`], at a place that is not the caller's.
    ///
    /// # Safety
    ///
    /// That of [`Builder::spawn_unchecked`].
    pub(crate) unsafe fn spawn_unchecked_at<F, T>(
        self,
        f: F,
        here: Here,
    ) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let start = Start::new(self.name.as_deref(), here);
        let (parker, child) = (start.parker.clone(), start.child());
        let main = move || {
            let running = start.begin(false);
            let result = f();
            drop(running);
            result
        };
        // SAFETY: the caller promises that the thread does not outlive what the closure borrows.
        let inner = unsafe { self.inner.spawn_unchecked(main)? };
        let thread = Thread::new(inner.thread().clone(), parker);
        Ok(JoinHandle { inner, child, thread })
    }
}

/// As [`std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// What a new thread starts with.
struct Start {
    child: Option<Child>,
    parker: Arc<Parker>,
}

impl Start {
    fn new(name: Option<&str>, here: Here) -> Self {
        let child = Child::fork(name, here);
        let parker = Arc::new(Parker::default());
        parker.record_as(child.as_ref().map(|child| child.shared().recorded_as()));
        Self { child, parker }
    }

    fn child(&self) -> Option<Arc<crate::rt::ChildShared>> {
        self.child.as_ref().map(Child::shared)
    }

    /// The new thread runs from here on, until what this gives back is dropped, also by a panic.
    fn begin(mut self, scoped: bool) -> Running {
        if let Some(child) = &mut self.child {
            child.begin();
        }
        install(self.parker);
        Running { child: self.child, scoped }
    }
}

struct Running {
    child: Option<Child>,
    scoped: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        match &self.child {
            Some(child) if self.scoped => child.end(),
            Some(child) => child.leave(),
            None => {}
        }
    }
}
