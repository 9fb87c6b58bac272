//! Mirrors of [`std::thread::spawn`] and [`std::thread::Builder`].

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::handle::JoinHandle;
use super::inner::{Inner, Joinable, ScopedThread};
use super::parking::{Parker, Thread, install};
use super::scoped::{Scope, ScopedJoinHandle};
use crate::rt::{self, CallSite, Child, Unordered};
use crate::sched::{self, Action, ChildControl, Intent, Newcomer};
use crate::trace::BarrierId;

/// How much stack the recorder may need beside the program: unoptimised builds keep every local of
/// every call. A page of it that is not used takes no memory.
const RECORDING_STACK: usize = 128 << 10;

/// A thread factory, as [`std::thread::Builder`].
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    inner: std::thread::Builder,
    name: Option<String>,
    #[cfg(fibers)]
    stack: Option<usize>,
}

impl Builder {
    /// As [`std::thread::Builder::new`].
    #[expect(clippy::new_without_default, reason = "std's has no default either")]
    pub fn new() -> Self {
        Self {
            inner: std::thread::Builder::new(),
            name: None,
            #[cfg(fibers)]
            stack: None,
        }
    }

    /// As [`std::thread::Builder::name`].
    pub fn name(mut self, name: String) -> Self {
        self.inner = self.inner.name(name.clone());
        self.name = Some(name);
        self
    }

    /// As [`std::thread::Builder::stack_size`]. What recording needs comes on top.
    pub fn stack_size(self, size: usize) -> Self {
        let size = size.saturating_add(RECORDING_STACK);
        Self {
            inner: self.inner.stack_size(size),
            #[cfg(fibers)]
            stack: Some(size),
            ..self
        }
    }

    /// As [`std::thread::Builder::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: the closure and its result live for ever, so the thread may outlive anything.
        unsafe { self.spawn_unchecked_at(f, Some(CallSite::caller())) }
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
        unsafe { self.spawn_unchecked_at(f, Some(CallSite::caller())) }
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
        let here = Some(CallSite::caller());
        #[cfg(fibers)]
        if sched::in_fiber() {
            // SAFETY: the scope waits for the fiber before what it borrows is gone.
            let spawned = unsafe { super::fiber::spawn(self.name.as_deref(), self.stack, f, here) };
            scope.add(None, spawned.control.0.clone());
            return Ok(ScopedJoinHandle(Joinable::of_fiber(spawned)));
        }
        let end = || scope.end();
        let mut start = Start::in_scope(self.name.as_deref(), here, Some(&end));
        let (parker, child) = (start.parker.clone(), start.child());
        let (newcomer, control) = start.newcomer();
        // What is freed on the way is no matter of the program's.
        let _frees = rt::unordered_frees();
        let result = Arc::new(Mutex::new(None));
        let left = result.clone();
        let spawned = self.inner.spawn_scoped(scope.std(), move || {
            let running = start.begin::<T>(newcomer);
            let returned = sched::run_closure(f);
            *left.lock().unwrap_or_else(PoisonError::into_inner) = Some(returned);
            // If nobody wants the result it is dropped here.
            drop(left);
            drop(running);
        });
        let spawned = control.check(spawned)?;
        scope.add(child.clone(), control.0.clone());
        let thread = Thread::new(spawned.thread().clone(), parker);
        let inner = Unordered::new(Inner::of(ScopedThread { thread: spawned, result }));
        Ok(ScopedJoinHandle(Joinable { inner, child, control, thread }))
    }

    /// As [`Builder::spawn_unchecked`], at a place that is not the caller's.
    ///
    /// # Safety
    ///
    /// That of [`Builder::spawn_unchecked`].
    pub(crate) unsafe fn spawn_unchecked_at<F, T>(
        self,
        f: F,
        here: Option<CallSite>,
    ) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        #[cfg(fibers)]
        if sched::in_fiber() {
            // SAFETY: the caller promises that it does not outlive what the closure borrows.
            let spawned = unsafe { super::fiber::spawn(self.name.as_deref(), self.stack, f, here) };
            return Ok(JoinHandle(Joinable::of_fiber(spawned)));
        }
        let mut start = Start::new(self.name.as_deref(), here);
        let (parker, child) = (start.parker.clone(), start.child());
        let (newcomer, control) = start.newcomer();
        // What is freed on the way is no matter of the program's.
        let _frees = rt::unordered_frees();
        let main = move || {
            let running = start.begin::<T>(newcomer);
            let result = sched::run_closure(f);
            drop(running);
            result
        };
        // SAFETY: the caller promises that the thread does not outlive what the closure borrows.
        let inner = control.check(unsafe { self.inner.spawn_unchecked(main) })?;
        let thread = Thread::new(inner.thread().clone(), parker);
        let inner = Unordered::new(Inner::of(inner));
        Ok(JoinHandle(Joinable { inner, child, control, thread }))
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
pub(super) struct Start {
    child: Option<Child>,
    newcomer: Option<Newcomer>,
    parker: Arc<Parker>,
}

impl Start {
    pub(super) fn new(name: Option<&str>, here: Option<CallSite>) -> Self {
        Self::in_scope(name, here, None)
    }

    /// For a thread of a scope, if it has one: what says the end of it in a trace.
    fn in_scope(
        name: Option<&str>,
        here: Option<CallSite>,
        scope: Option<&dyn Fn() -> BarrierId>,
    ) -> Self {
        sched::point(Action::Spawn, 0, here);
        let child = Child::fork(name, here, scope);
        let newcomer = sched::newcomer(name, here);
        let parker = Arc::new(Parker::default());
        parker.record_as(child.as_ref().map(|child| child.shared().recorded_as()));
        Self { child, newcomer, parker }
    }

    /// What the new thread needs to be under control, and what its parent does.
    pub(super) fn newcomer(&mut self) -> (Option<Newcomer>, Control) {
        let newcomer = self.newcomer.take();
        let control = newcomer.as_ref().map(|newcomer| Arc::new(newcomer.control()));
        (newcomer, Control(control))
    }

    #[cfg(fibers)]
    pub(super) fn parker(&self) -> Arc<Parker> {
        self.parker.clone()
    }

    fn child(&self) -> Option<Arc<crate::rt::ChildShared>> {
        self.child.as_ref().map(Child::shared)
    }

    /// The new thread runs from here on, until what this gives back is dropped, also by a panic.
    /// Its closure returns a `T`.
    fn begin<T>(mut self, newcomer: Option<Newcomer>) -> Running {
        let controlled = newcomer.is_some();
        if let Some(newcomer) = newcomer {
            newcomer.install();
            if self.child.is_none() {
                // Not even by the process, for its parent is not.
                std::mem::forget(rt::silence());
            }
            sched::wait_for_first_turn();
        }
        if let Some(child) = &mut self.child {
            child.begin();
        }
        install(self.parker);
        Running { child: self.child, controlled, returns_nothing: size_of::<T>() == 0 }
    }
}

struct Running {
    child: Option<Child>,
    controlled: bool,
    /// The closure returns what is the same whatever it has done.
    returns_nothing: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &self.child {
            child.leave(self.returns_nothing && !std::thread::panicking());
        }
        if self.controlled {
            sched::closing();
        }
    }
}

/// What a handle knows of a thread that is under control.
pub(super) struct Control(pub(super) Option<Arc<ChildControl>>);

impl Control {
    /// The thread was spawned, or could not be.
    fn check<T>(&self, spawned: io::Result<T>) -> io::Result<T> {
        if let (Err(_), Some(control)) = (&spawned, &self.0) {
            control.never_began();
        }
        spawned
    }

    /// The calling thread is about to wait for the end.
    pub(super) fn about_to_join(&self, here: Option<CallSite>) {
        if let Some(control) = &self.0 {
            sched::block_on(Action::Join, control.key(), here, || control.has_ended());
        }
    }

    /// The calling thread has the result.
    pub(super) fn joined(&self) {
        if let Some(control) = &self.0 {
            let _panicked = control.joined();
        }
    }

    /// The calling thread is about to look whether the thread has ended.
    pub(super) fn about_to_look(&self, here: Option<CallSite>) {
        if let Some(control) = &self.0 {
            let intent = || Intent::new(Action::Look, control.key(), here).timed(true);
            sched::block(intent, None, &|_| true);
        }
    }

    /// Whether the thread has ended, if that is known here better than by the system.
    pub(super) fn has_ended(&self) -> Option<bool> {
        self.0.as_ref().filter(|_| sched::is_controlled()).map(|control| control.has_ended())
    }
}
