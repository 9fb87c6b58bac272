//! Makes threads take turns, by means that are not recorded: so the order is given, and the trace
//! knows of nothing that would enforce it. Under control the order is up to the schedule.

use std::sync::{Condvar, Mutex};

static TURN: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

fn is_controlled() -> bool {
    ["RACELOG_CONTROL", "RACELOG_SCHEDULE"].iter().any(|name| std::env::var_os(name).is_some())
}

/// Waits until so many turns were taken.
pub(crate) fn wait_for(turn: u32) {
    let mut now = TURN.lock().unwrap();
    while *now < turn && !is_controlled() {
        now = CHANGED.wait(now).unwrap();
    }
}

/// A turn was taken.
pub(crate) fn done() {
    *TURN.lock().unwrap() += 1;
    CHANGED.notify_all();
}
