//! What a run knows of one of its threads.

use std::sync::Arc;

use super::failure::ThreadName;
use super::intent::Intent;
use super::turn::Turn;
use crate::rt::{Action, Here};

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// It stands before an operation and waits for its turn.
    Ready,
    /// It has its turn.
    Running,
    /// It had its turn and blocked where nobody could see it; somebody else goes on.
    Outside,
    Finished,
    /// It waits for a turn that never comes.
    Abandoned,
}

/// Says whether the operation that a thread stands before would not block. The argument is whether
/// the thread's deadline has passed.
pub(super) struct Probe(*const (dyn Fn(bool) -> bool + 'static));

// SAFETY: whoever calls it has the lock on the run's state, and the thread that it belongs to waits
// meanwhile; what it looks at are objects that threads share.
unsafe impl Send for Probe {}

impl Probe {
    /// # Safety
    ///
    /// The probe must be gone when the borrow ends.
    pub(super) unsafe fn new(ready: &dyn Fn(bool) -> bool) -> Self {
        let ready: *const (dyn Fn(bool) -> bool + '_) = ready;
        // SAFETY: only the lifetime changes, and the caller promises to keep it.
        Self(unsafe {
            std::mem::transmute::<
                *const (dyn Fn(bool) -> bool + '_),
                *const (dyn Fn(bool) -> bool + 'static),
            >(ready)
        })
    }

    fn is_ready(&self, late: bool) -> bool {
        // SAFETY: the probe exists, so what it borrows does.
        unsafe { (*self.0)(late) }
    }
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) lock: usize,
    pub(super) here: Here,
}

/// A thread of a run.
pub(super) struct Slot {
    /// How many children it has.
    pub(super) forks: u32,
    /// Its place in the tree of threads: `0` is the first, `0.2` its second child. Two runs give the
    /// same name to the same thread, whoever was faster.
    pub(super) path: String,
    pub(super) name: Option<String>,
    pub(super) status: Status,
    /// What it does next, or did last.
    pub(super) intent: Intent,
    pub(super) probe: Option<Probe>,
    pub(super) deadline: Option<u64>,
    /// It spins, and nobody else has moved since it said so.
    pub(super) yielded: bool,
    /// Whether it can be sent away by a panic where it stands.
    pub(super) can_leave: bool,
    pub(super) held: Vec<Held>,
    pub(super) turn: Arc<Turn>,
    /// The thread as the system knows it; 0 where that is not known.
    pub(super) system_id: i32,
    /// What it panicked with, until somebody joins it.
    pub(super) panicked: Option<String>,
}

impl Slot {
    pub(super) fn new(path: String, name: Option<String>, here: Here) -> Self {
        Self {
            forks: 0,
            path,
            name,
            status: Status::Ready,
            intent: Intent::new(Action::Begin, 0, here),
            probe: None,
            deadline: None,
            yielded: false,
            can_leave: true,
            held: Vec::new(),
            turn: Arc::default(),
            system_id: 0,
            panicked: None,
        }
    }

    /// The path, and the name that the program gave to the thread.
    pub(super) fn name(&self) -> ThreadName {
        let path = self.path.clone();
        let shown = match &self.name {
            Some(name) => format!("{path} ({name})"),
            None => path.clone(),
        };
        ThreadName { path, shown }
    }

    /// Whether its deadline has passed.
    pub(super) fn is_late(&self, now: u64) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Whether its operation would not block, if its deadline has passed or not.
    pub(super) fn is_ready(&self, late: impl FnOnce() -> bool) -> bool {
        self.probe.as_ref().is_none_or(|probe| probe.is_ready(late()))
    }

    /// It does what it stood before.
    pub(super) fn goes(&mut self) {
        self.status = Status::Running;
        self.probe = None;
        self.deadline = None;
        let Intent { action, object, second, here, .. } = self.intent;
        match action {
            Action::Lock | Action::ReadLock => self.held.push(Held { lock: object, here }),
            Action::Wake => self.held.push(Held { lock: second, here }),
            Action::Unlock | Action::ReadUnlock => self.gives_back(object),
            Action::Wait => self.gives_back(second),
            Action::Yield => self.yielded = true,
            _ => {}
        }
    }

    fn gives_back(&mut self, lock: usize) {
        if let Some(at) = self.held.iter().rposition(|held| held.lock == lock) {
            self.held.remove(at);
        }
    }
}
