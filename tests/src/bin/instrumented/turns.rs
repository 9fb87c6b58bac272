//! Makes threads take turns, by means that are not recorded: so the order is given, and the trace
//! knows of nothing that would enforce it.

use std::sync::{Condvar, Mutex};

static TURN: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// Waits until so many turns were taken.
pub(crate) fn wait_for(turn: u32) {
    let mut now = TURN.lock().unwrap();
    while *now < turn {
        now = CHANGED.wait(now).unwrap();
    }
}

/// A turn was taken.
pub(crate) fn done() {
    *TURN.lock().unwrap() += 1;
    CHANGED.notify_all();
}
