//! Who comes first in an ordinary run.
//!
//! Programs of which an ordinary run tells nothing go well nearly always: one thread happens to
//! come first, because the other has something else to do before. Tests need that every time. So
//! threads come in turns, by means that are no part of the program and that no recorder takes for
//! synchronisation: the length of a file says how many turns are over. A thread whose turn does not
//! come goes on after a while, as one that had less to do. Under control there are no turns, and
//! the scheduler decides who comes when.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::process;
use std::time::{Duration, Instant};

use racelog::contract::environment::Variable;

/// How long a thread is late at most.
const LATE: Duration = Duration::from_secs(5);

/// The turns of a run.
pub(crate) struct Turns {
    /// Has a byte for each turn that is over. It has no name any more.
    over: File,
    is_controlled: bool,
}

impl Turns {
    pub(crate) fn new() -> Self {
        let is_set = |variable: &Variable| env::var_os(variable.name()).is_some();
        let is_controlled = Variable::CONTROLLING.iter().any(is_set);
        Self { over: nameless_file(), is_controlled }
    }

    /// Comes late: when so many turns are over.
    pub(crate) fn after(&self, turns: usize) {
        let come = Instant::now();
        while !self.is_controlled
            && self.over.metadata().expect("the file is open").len() < turns as u64
            && come.elapsed() < LATE
        {
            std::hint::spin_loop();
        }
    }

    /// A turn is over.
    pub(crate) fn over(&self) {
        (&self.over).write_all(b".").expect("there is room for a byte");
    }
}

/// A new file, which is written at its end, and is gone with this process.
fn nameless_file() -> File {
    let path = |number: u32| env::temp_dir().join(format!("turns-{}-{number}", process::id()));
    let open = |number| {
        let file = OpenOptions::new().append(true).read(true).create_new(true).open(path(number));
        file.inspect(|_| fs::remove_file(path(number)).expect("the file is there"))
    };
    let mut files = (0..).map(open).skip_while(|file| {
        file.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    });
    files.next().expect("numbers do not end").expect("there is a place for files")
}
