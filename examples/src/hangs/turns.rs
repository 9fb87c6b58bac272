//! Who comes first in an ordinary run.
//!
//! The programs of this group go well nearly always: one thread happens to come first, because the
//! other has something else to do before. Tests need that every time. So threads come in turns, by
//! means that are not recorded, for they are no part of the program: a thread whose turn does not
//! come goes on after a while, as one that had less to do. Under control there are no turns, and
//! the scheduler decides who comes when.

use std::env;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use racelog::contract::environment::Variable;

/// How long a thread is late at most.
const LATE: Duration = Duration::from_secs(5);

/// The turns of a run.
pub(super) struct Turns {
    over: Mutex<usize>,
    changed: Condvar,
    is_controlled: bool,
}

impl Turns {
    pub(super) fn new() -> Self {
        let is_set = |variable: &Variable| env::var_os(variable.name()).is_some();
        let is_controlled = Variable::CONTROLLING.iter().any(is_set);
        Self { over: Mutex::new(0), changed: Condvar::new(), is_controlled }
    }

    /// Comes late: when so many turns are over.
    pub(super) fn after(&self, turns: usize) {
        if !self.is_controlled {
            let over = self.over.lock().unwrap();
            drop(self.changed.wait_timeout_while(over, LATE, |over| *over < turns).unwrap());
        }
    }

    /// A turn is over.
    pub(super) fn over(&self) {
        *self.over.lock().unwrap() += 1;
        self.changed.notify_all();
    }
}
