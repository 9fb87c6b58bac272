//! Mirror of [`crossbeam_utils::thread`].
//!
//! Threads of a scope are recorded as those of [`crate::thread`] are.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Result;

use crossbeam_utils::sync::WaitGroup;

use crate::rt::{CallSite, Unordered};
use crate::sched;
use crate::thread::{Builder, JoinHandle, Thread};

type SharedVec<T> = Arc<Mutex<Vec<T>>>;
type SharedOption<T> = Arc<Mutex<Option<T>>>;

/// As [`crossbeam_utils::thread::scope`].
///
/// ```
/// use racelog::crossbeam::thread;
///
/// let words = ["one", "three"];
/// let letters = thread::scope(|scope| {
///     let first = scope.spawn(|_| words[0].len());
///     // A thread can spawn further ones in the same scope.
///     let second = scope.spawn(|scope| scope.spawn(|_| words[1].len()).join());
///     first.join().unwrap() + second.join().unwrap().unwrap()
/// });
/// assert_eq!(letters.unwrap(), 8);
/// ```
#[track_caller]
pub fn scope<'env, F, R>(f: F) -> Result<R>
where
    F: FnOnce(&Scope<'env>) -> R,
{
    let here: Option<CallSite> = Some(CallSite::caller());
    let wait_group = WaitGroup::new();
    let scope = Scope::<'env> {
        handles: SharedVec::default(),
        wait_group: wait_group.clone(),
        marker: PhantomData,
    };
    let result = panic::catch_unwind(AssertUnwindSafe(|| f(&scope)));

    let guard = AbortOnPanic;
    // When all threads are done with their scopes no handle is added any more.
    drop(scope.wait_group);
    wait_for_controlled(&scope.handles, here);
    wait_group.wait();
    let handles = mem::take(&mut *lock(&scope.handles));
    let unjoined = handles.into_iter().filter_map(|handle| lock(&handle).take());
    let panics: Vec<_> = unjoined.filter_map(|handle| handle.join_ended_at(here).err()).collect();
    mem::forget(guard);
    if result.is_ok() {
        sched::leave_if_asked();
    }

    match result {
        Err(error) => panic::resume_unwind(error),
        Ok(_) if !panics.is_empty() => Err(Box::new(panics)),
        Ok(result) => Ok(result),
    }
}

/// Threads must not escape their scope, which a panic before they are joined would let them.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// Waits for the threads that are under control, also for those that are spawned meanwhile.
fn wait_for_controlled(handles: &SharedVec<SharedOption<JoinHandle<()>>>, here: Option<CallSite>) {
    let (mut at, scope) = (0, address(handles));
    while sched::is_controlled() {
        let Some(handle) = lock(handles).get(at).cloned() else { return };
        at += 1;
        // The thread that joins it is itself waited for.
        let control = lock(&handle).as_ref().and_then(JoinHandle::control);
        if let Some(control) = control {
            control.wait_at_end_of_scope(scope, here);
        }
    }
}

/// What a scope is known by under control.
fn address(handles: &SharedVec<SharedOption<JoinHandle<()>>>) -> usize {
    Arc::as_ptr(handles).addr()
}

/// Nothing panics while one of the locks here is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A scope to spawn threads in, as [`crossbeam_utils::thread::Scope`].
pub struct Scope<'env> {
    /// The threads of the scope, each until it is joined.
    handles: SharedVec<SharedOption<JoinHandle<()>>>,
    /// Waits for the threads, each of which has a scope of its own.
    wait_group: WaitGroup,
    /// What threads borrow must not be made to seem to live longer or shorter.
    marker: PhantomData<&'env mut &'env ()>,
}

impl<'env> Scope<'env> {
    /// As [`crossbeam_utils::thread::Scope::spawn`].
    #[track_caller]
    pub fn spawn<'scope, F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce(&Scope<'env>) -> T,
        F: Send + 'env,
        T: Send + 'env,
    {
        self.builder().spawn(f).expect("failed to spawn scoped thread")
    }

    /// As [`crossbeam_utils::thread::Scope::builder`].
    pub fn builder<'scope>(&'scope self) -> ScopedThreadBuilder<'scope, 'env> {
        ScopedThreadBuilder { scope: self, builder: Builder::new() }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Scope { .. }")
    }
}

/// A factory of scoped threads, as [`crossbeam_utils::thread::ScopedThreadBuilder`].
#[derive(Debug)]
pub struct ScopedThreadBuilder<'scope, 'env> {
    scope: &'scope Scope<'env>,
    builder: Builder,
}

impl<'scope, 'env> ScopedThreadBuilder<'scope, 'env> {
    /// As [`crossbeam_utils::thread::ScopedThreadBuilder::name`].
    pub fn name(mut self, name: String) -> ScopedThreadBuilder<'scope, 'env> {
        self.builder = self.builder.name(name);
        self
    }

    /// As [`crossbeam_utils::thread::ScopedThreadBuilder::stack_size`].
    pub fn stack_size(mut self, size: usize) -> ScopedThreadBuilder<'scope, 'env> {
        self.builder = self.builder.stack_size(size);
        self
    }

    /// As [`crossbeam_utils::thread::ScopedThreadBuilder::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce(&Scope<'env>) -> T,
        F: Send + 'env,
        T: Send + 'env,
    {
        let here: Option<CallSite> = Some(CallSite::caller());
        let result = SharedOption::default();
        let scope = Scope::<'env> {
            handles: self.scope.handles.clone(),
            wait_group: self.scope.wait_group.clone(),
            marker: PhantomData,
        };
        let main = {
            let result = result.clone();
            move || {
                // All of it, so that it is dropped when the closure is.
                let scope: Scope<'env> = scope;
                let value = f(&scope);
                *lock(&result) = Some(value);
            }
        };
        // SAFETY: `scope` returns only when it has waited for all threads, so this one does not
        // outlive what lives for `'env`.
        let handle = unsafe { self.builder.spawn_unchecked_at(main, here)? };
        if let Some(control) = handle.control() {
            control.belongs_to(address(&self.scope.handles));
        }
        let thread = handle.thread().clone();
        let handle = Arc::new(Mutex::new(Some(handle)));
        lock(&self.scope.handles).push(handle.clone());
        let result = Unordered::new(result);
        Ok(ScopedJoinHandle { handle, result, thread, marker: PhantomData })
    }
}

/// A permission to join on a scoped thread, as [`crossbeam_utils::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    handle: SharedOption<JoinHandle<()>>,
    result: Unordered<SharedOption<T>>,
    thread: Thread,
    marker: PhantomData<&'scope ()>,
}

// SAFETY: a handle is made only for results that can be sent, and holds nothing else of its type.
unsafe impl<T> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: as above; a shared handle gives no access to the result.
unsafe impl<T> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// As [`crossbeam_utils::thread::ScopedJoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        // The scope joins only when no thread can have a handle any more.
        let handle = lock(&self.handle).take().expect("it is joined once");
        handle.join()?;
        Ok(lock(&self.result).take().expect("the thread has left it"))
    }

    /// As [`crossbeam_utils::thread::ScopedJoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ScopedJoinHandle { .. }")
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::thread::{JoinHandleExt, RawPthread};

    use super::{ScopedJoinHandle, lock};

    impl<T> JoinHandleExt for ScopedJoinHandle<'_, T> {
        fn as_pthread_t(&self) -> RawPthread {
            lock(&self.handle).as_ref().expect("it is not joined yet").as_pthread_t()
        }

        fn into_pthread_t(self) -> RawPthread {
            self.as_pthread_t()
        }
    }
}
