//! Mirror of [`std::thread::scope`].

use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;
use std::thread::Result;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::builder::Builder;
use super::parking::Thread;
use crate::rt::{ChildShared, Here, Spin};

/// A scope to spawn threads in, as [`std::thread::Scope`].
///
/// It is std's scope under another name: references to it must live as long as the scope does,
/// which nothing of ours could.
#[repr(transparent)]
pub struct Scope<'scope, 'env: 'scope>(std::thread::Scope<'scope, 'env>);

/// An owned permission to join on a scoped thread, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    pub(super) inner: std::thread::ScopedJoinHandle<'scope, T>,
    pub(super) child: Option<Arc<ChildShared>>,
    pub(super) thread: Thread,
}

/// The recorded threads of each open scope, by the scope's address.
static CHILDREN: Spin<FxHashMap<usize, Vec<Arc<ChildShared>>>> =
    Spin::new(FxHashMap::with_hasher(FxBuildHasher));

/// As [`std::thread::scope`].
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let end = EndOfScope { address: Cell::new(0), here: Some(Location::caller()) };
    std::thread::scope(|scope| {
        end.address.set(ptr::from_ref(scope).addr());
        // SAFETY: `Scope` is a transparent wrapper, so the reference stays what it is.
        f(unsafe { &*ptr::from_ref(scope).cast::<Scope<'_, 'env>>() })
    })
}

/// All threads of a scope have ended when std says that it has, also by a panic.
struct EndOfScope {
    address: Cell<usize>,
    here: Here,
}

impl Drop for EndOfScope {
    fn drop(&mut self) {
        let children = CHILDREN.lock().remove(&self.address.get());
        for child in children.into_iter().flatten() {
            child.joined(self.here);
        }
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

    pub(super) fn add(&self, child: Arc<ChildShared>) {
        let address = ptr::from_ref(&self.0).addr();
        CHILDREN.lock().entry(address).or_default().push(child);
    }
}

impl<'scope, T> ScopedJoinHandle<'scope, T> {
    /// As [`std::thread::ScopedJoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// As [`std::thread::ScopedJoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let here = Some(Location::caller());
        let result = self.inner.join();
        if let Some(child) = self.child {
            child.joined(here);
        }
        result
    }

    /// As [`std::thread::ScopedJoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        let finished = self.inner.is_finished();
        if let Some(child) = &self.child {
            child.looked(finished, Some(Location::caller()));
        }
        finished
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
