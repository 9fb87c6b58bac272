//! What a fiber has of its own, as a thread has its thread-locals.
//!
//! As std's they are made at the first use and dropped at the end of the fiber, the last that was
//! made first; under control, as those of threads are. The first fiber of a run has none: it is the
//! calling thread, and what that has is not new in every run.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem;
use std::ptr::{self, NonNull};

use crate::thread::Thread;

/// A value of a fiber.
struct Local {
    /// The address of its key.
    key: *const u8,
    /// Nothing once it is dropped.
    value: Option<Box<dyn Any>>,
    needs_drop: bool,
}

/// What a fiber has of its own.
pub(in crate::sched) struct Locals {
    thread: Thread,
    values: RefCell<Vec<Local>>,
}

/// How the calling thread comes to a value.
pub(crate) enum Access<T> {
    /// By std's thread-locals: it is no fiber.
    OfThread,
    /// By this. It stays there as long as the fiber runs its closure.
    There(NonNull<T>),
    /// It is dropped already.
    Destroyed,
}

std::thread_local! {
    /// What the fiber has that runs in this thread; null if none does.
    static LOCALS: Cell<*const Locals> = const { Cell::new(ptr::null()) };
}

/// Not inlined: see [`members::current::get`](crate::sched::members::current::get).
#[inline(never)]
fn current<'a>() -> Option<&'a Locals> {
    // SAFETY: the driver of the fiber keeps them while it runs, and changes the pointer then.
    unsafe { LOCALS.get().as_ref() }
}

/// Whether the calling code runs in a fiber that has locals of its own.
pub(crate) fn is_fiber() -> bool {
    current().is_some()
}

/// The handle of the calling fiber, if it has one of its own.
pub(crate) fn fiber_thread() -> Option<Thread> {
    current().map(|locals| locals.thread.clone())
}

/// The value that belongs to this key, which has one type of values; made by `init` if there is
/// none.
#[inline]
pub(crate) fn fiber_local<T: 'static>(key: &'static u8, init: impl FnOnce() -> T) -> Access<T> {
    match current() {
        None => Access::OfThread,
        Some(locals) => locals.get(ptr::from_ref(key), init),
    }
}

impl Locals {
    pub(in crate::sched) fn new(thread: Thread) -> Self {
        Self { thread, values: RefCell::default() }
    }

    fn get<T: 'static>(&self, key: *const u8, init: impl FnOnce() -> T) -> Access<T> {
        if let Some(access) = self.find(key) {
            return access;
        }
        // It may come back here, also for the same key: then the later one counts, as std has it.
        let made = Box::new(init());
        let replaced = {
            let mut values = self.values.borrow_mut();
            let made: Box<dyn Any> = made;
            match values.iter_mut().find(|local| local.key == key) {
                Some(local) => local.value.replace(made),
                None => {
                    let needs_drop = mem::needs_drop::<T>();
                    values.push(Local { key, value: Some(made), needs_drop });
                    None
                }
            }
        };
        drop(replaced);
        self.find(key).unwrap_or(Access::Destroyed)
    }

    fn find<T: 'static>(&self, key: *const u8) -> Option<Access<T>> {
        let values = self.values.borrow();
        let local = values.iter().find(|local| local.key == key)?;
        let value = local.value.as_ref().map(|value| value.downcast_ref::<T>());
        Some(match value {
            Some(Some(value)) => Access::There(NonNull::from(value)),
            Some(None) => unreachable!("a key has one type of values"),
            None => Access::Destroyed,
        })
    }

    /// Drops all values, also those that are made meanwhile.
    fn end(&self) {
        loop {
            let next = {
                let mut values = self.values.borrow_mut();
                let is_left = |local: &&mut Local| local.needs_drop && local.value.is_some();
                values.iter_mut().rfind(is_left).and_then(|local| local.value.take())
            };
            match next {
                Some(value) => drop(value),
                None => return,
            }
        }
    }
}

/// The calling fiber is past its closure: drops what it has of its own.
pub(in crate::sched) fn end() {
    /// As in threads of the system.
    struct AbortIfPanics;
    impl Drop for AbortIfPanics {
        fn drop(&mut self) {
            eprintln!("racelog: a thread-local of a fiber panicked on drop");
            std::process::abort();
        }
    }
    if let Some(locals) = current() {
        let guard = AbortIfPanics;
        locals.end();
        mem::forget(guard);
    }
}

/// Makes these what the calling thread finds until the guard is dropped.
pub(in crate::sched) fn enter(locals: Option<&Locals>) -> Entered {
    Entered(LOCALS.replace(locals.map_or(ptr::null(), ptr::from_ref)))
}

/// Gives back what was found before.
pub(in crate::sched) struct Entered(*const Locals);

impl Drop for Entered {
    fn drop(&mut self) {
        LOCALS.set(self.0);
    }
}
