//! Foreign threads, which no recorded thread has started: to which trace do they belong?
//!
//! `std::thread`, a runtime or a pool of a library starts threads that the recorder meets only when
//! they first use something that is recorded. They are *foreign* to the trace that they then belong
//! to: see [`clocks`](crate::rt::log::clocks) for what that means.
//!
//! While one test is recorded, and no other, such a thread is the test's. While none is, it belongs
//! to the trace of the process. While several are, that is not known: it is recorded nowhere, and
//! each of their traces says so. A thread stays where it is for as long as that is recorded, and
//! while it holds a lock; then it may go on to another: pools live longer than tests.
//!
//! Threads of libtest's are known by their names, which are those of tests: they belong to the
//! process.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::rt::base::call_site::CallSite;
use crate::rt::log::session::Session;

/// The tests that are being recorded.
static TESTS: Mutex<Vec<Arc<Session>>> = Mutex::new(Vec::new());

/// How often that has changed, from 1.
static CHANGES: AtomicU32 = AtomicU32::new(1);

/// Whether tests run in threads that have their names.
static NAMED_AFTER_TESTS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Where the calling thread, if it is not known yet whose it is, does what it is about to do.
    static PLACE: Cell<Option<CallSite>> = const { Cell::new(None) };
}

fn tests() -> MutexGuard<'static, Vec<Arc<Session>>> {
    TESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The test `name` is being recorded from now on, in the calling thread.
pub(in crate::rt) fn test_begins(name: &str, session: &Arc<Session>) {
    let thread = std::thread::current();
    let after_crate = name.split_once("::").map_or(name, |(_, rest)| rest);
    if thread.name() == Some(after_crate) {
        NAMED_AFTER_TESTS.store(true, Ordering::Relaxed);
    }
    tests().push(session.clone());
    CHANGES.fetch_add(1, Ordering::Release);
}

/// A test is about to be recorded no longer.
pub(in crate::rt) fn test_ends(session: &Arc<Session>) {
    tests().retain(|other| !Arc::ptr_eq(other, session));
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Changes with the tests that are being recorded, and is never 0.
pub(in crate::rt) fn changes() -> u32 {
    CHANGES.load(Ordering::Acquire)
}

/// Where a thread without a trace is.
pub(in crate::rt) enum Whose {
    /// It belongs to this test.
    Test(Arc<Session>),
    /// It belongs to the process.
    Process,
    /// That is not known.
    Unknown,
}

/// Whose the calling thread is. `own` is the session that it belonged to until now; it stays there
/// while that is recorded, or if it cannot leave.
pub(in crate::rt) fn whose(own: Option<&Arc<Session>>, stays: bool) -> Whose {
    if is_test_thread() {
        return Whose::Process;
    }
    // Nothing is done while the list is locked: the program's allocator may come back here.
    let tests: Vec<Arc<Session>> = tests().clone();
    let here = PLACE.get();
    let stays = own.filter(|own| stays || tests.iter().any(|test| Arc::ptr_eq(test, own)));
    if let Some(own) = stays {
        // What it does for others is not in their traces.
        tests.iter().filter(|test| !Arc::ptr_eq(test, own)).for_each(|test| test.misses(here));
        return Whose::Test(own.clone());
    }
    match &tests[..] {
        [] => Whose::Process,
        [test] => Whose::Test(test.clone()),
        _ => {
            tests.iter().for_each(|test| test.misses(here));
            Whose::Unknown
        }
    }
}

/// The calling thread, of which it is not known whose it is, is about to do something here.
pub(in crate::rt) fn is_about_to_act(here: Option<CallSite>) {
    PLACE.set(here);
}

/// Whether the calling thread is one in which libtest runs a test.
fn is_test_thread() -> bool {
    NAMED_AFTER_TESTS.load(Ordering::Relaxed)
        && std::thread::current().name().is_some_and(|name| name.contains("::"))
}

/// Whether the calling thread is the first of its process.
pub(in crate::rt) fn is_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the calls only ask for numbers.
        unsafe { libc::gettid() == libc::getpid() }
    }
    #[cfg(not(target_os = "linux"))]
    {
        std::thread::current().name() == Some("main")
    }
}
