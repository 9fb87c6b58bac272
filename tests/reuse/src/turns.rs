//! Makes threads take turns, by means that are not recorded.

use std::sync::{Condvar, Mutex};

static DONE: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

/// The turn is taken.
pub(crate) fn done() {
    *DONE.lock().unwrap() = true;
    CHANGED.notify_all();
}

/// Waits until the turn is taken; the next is open then.
pub(crate) fn wait() {
    let mut done = DONE.lock().unwrap();
    while !*done {
        done = CHANGED.wait(done).unwrap();
    }
    *done = false;
}

/// How many threads the process has; one, where the system does not say.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

/// Waits until there are so many threads: those that are done are gone then, with their stacks.
pub(crate) fn wait_for_threads(wanted: usize) {
    while threads() > wanted {
        std::thread::yield_now();
    }
}
