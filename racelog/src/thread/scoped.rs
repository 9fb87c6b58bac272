//! Mirror of [`std::thread::scope`].

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Result;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::builder::Builder;
use super::inner::{Joinable, ScopedThread};
use super::parking::Thread;
use crate::rt::{CallSite, ChildShared, Spin, counters};
use crate::sched::{self, ChildControl};
use crate::trace::BarrierId;

/// A scope to spawn threads in, as [`std::thread::Scope`].
///
/// It is std's scope under another name: references to it must live as long as the scope does,
/// which nothing of ours could.
#[repr(transparent)]
pub struct Scope<'scope, 'env: 'scope>(std::thread::Scope<'scope, 'env>);

/// An owned permission to join on a scoped thread, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T>(pub(super) Joinable<ScopedThread<'scope, T>, T>);

/// A thread of a scope, as far as it is recorded or under control.
struct Scoped {
    child: Option<Arc<ChildShared>>,
    control: Option<Arc<ChildControl>>,
}

/// What is known of a scope that is open.
#[derive(Default)]
struct OpenScope {
    /// What its threads arrive at in a trace, and its end waits at, once that was asked for.
    end: Option<BarrierId>,
    /// Its threads that are recorded or under control.
    threads: Vec<Scoped>,
}

/// The open scopes that have something to know of, by their addresses.
static OPEN: Spin<FxHashMap<usize, OpenScope>> = Spin::new(FxHashMap::with_hasher(FxBuildHasher));

/// As [`std::thread::scope`].
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let end = EndOfScope { address: Cell::new(0), here: Some(CallSite::caller()) };
    let panicked = Cell::new(false);
    let result = std::thread::scope(|scope| {
        end.address.set(ptr::from_ref(scope).addr());
        let (scope_at, here) = (end.address.get(), end.here);
        let _wait = WaitForThreads { scope: scope_at, here, panicked: &panicked };
        // SAFETY: `Scope` is a transparent wrapper, so the reference stays what it is.
        f(unsafe { &*ptr::from_ref(scope).cast::<Scope<'_, 'env>>() })
    });
    // Of threads of the system std knows it, and has panicked itself.
    assert!(!panicked.get(), "a scoped thread panicked");
    result
}

/// Waits for the threads of a scope that are under control, also if the closure panics.
struct WaitForThreads<'a> {
    scope: usize,
    here: Option<CallSite>,
    /// Whether one of them has panicked, and nobody joined it.
    panicked: &'a Cell<bool>,
}

impl Drop for WaitForThreads<'_> {
    fn drop(&mut self) {
        let children = OPEN.lock().get(&self.scope).map(|open| {
            let children = open.threads.iter().filter_map(|scoped| scoped.child.clone());
            children.collect::<Vec<_>>()
        });
        // One of those that it waits for.
        if let Some(child) = children.iter().flatten().find(|child| !child.has_left()) {
            child.awaits(self.here);
        }
        let mut at = 0;
        // Threads may spawn further ones meanwhile.
        while sched::is_controlled() {
            let control = match OPEN.lock().get(&self.scope).and_then(|it| it.threads.get(at)) {
                Some(scoped) => scoped.control.clone(),
                // Only now, for std would wait for threads that are left, and nobody would notice.
                None => return sched::leave_if_asked(),
            };
            at += 1;
            if let Some(control) = control {
                control.wait_until_left(self.scope, self.here);
                self.panicked.set(self.panicked.get() | control.joined());
            }
        }
    }
}

/// The closures of all threads of a scope are done when std says that it has ended, also by a
/// panic.
struct EndOfScope {
    address: Cell<usize>,
    here: Option<CallSite>,
}

impl Drop for EndOfScope {
    fn drop(&mut self) {
        let open = OPEN.lock().remove(&self.address.get()).unwrap_or_default();
        let children = open.threads.into_iter().filter_map(|scoped| scoped.child);
        ChildShared::awaited(&children.collect::<Vec<_>>(), self.here);
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// As [`std::thread::Scope::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("failed to spawn thread")
    }

    pub(super) fn std(&'scope self) -> &'scope std::thread::Scope<'scope, 'env> {
        &self.0
    }

    fn address(&self) -> usize {
        ptr::from_ref(&self.0).addr()
    }

    /// What its threads arrive at in a trace, and its end waits at.
    pub(super) fn end(&self) -> BarrierId {
        let new = || BarrierId::new(counters::BARRIERS.fetch_add(1, Ordering::Relaxed));
        let mut open = OPEN.lock();
        *open.entry(self.address()).or_default().end.get_or_insert_with(new)
    }

    pub(super) fn add(&self, child: Option<Arc<ChildShared>>, control: Option<Arc<ChildControl>>) {
        if child.is_some() || control.is_some() {
            let address = self.address();
            if let Some(control) = &control {
                control.belongs_to(address);
            }
            OPEN.lock().entry(address).or_default().threads.push(Scoped { child, control });
        }
    }
}

impl<'scope, T> ScopedJoinHandle<'scope, T> {
    /// As [`std::thread::ScopedJoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.0.thread
    }

    /// As [`std::thread::ScopedJoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.0.join(Some(CallSite::caller()))
    }

    /// As [`std::thread::ScopedJoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished(Some(CallSite::caller()))
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
