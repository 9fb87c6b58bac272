//! What a run knows of one of its threads.

use std::sync::Arc;

use super::failure::{ThreadName, Wait};
use super::intent::Intent;
use super::place::place_of;
use super::turn::Turn;
use crate::rt::{Action, CallSite};

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Status {
    /// It stands before an operation and waits for its turn.
    Ready,
    /// It has its turn.
    Running,
    /// It had its turn and blocked where racelog does not see it; another thread goes on.
    Outside,
    Finished,
    /// It waits for a turn that never comes.
    Abandoned,
}

/// Says whether the operation that a thread stands before would not block. The argument is whether
/// the thread's deadline has passed.
pub(in crate::sched) struct Probe(*const (dyn Fn(bool) -> bool + 'static));

// SAFETY: the caller has the lock on the run's state, and the thread that it belongs to waits
// meanwhile; what it looks at are objects that threads share.
unsafe impl Send for Probe {}

impl Probe {
    /// # Safety
    ///
    /// The probe must be gone when the borrow ends.
    pub(in crate::sched) unsafe fn new(ready: &dyn Fn(bool) -> bool) -> Self {
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
pub(in crate::sched) struct Held {
    pub(in crate::sched) lock: usize,
    pub(in crate::sched) here: Option<CallSite>,
}

/// A thread of a run.
pub(in crate::sched) struct Slot {
    /// How many children it has.
    pub(in crate::sched) forks: u32,
    /// Its place in the tree of threads: `0` is the first, `0.2` its second child. Two runs give
    /// the same name to the same thread, whichever was faster.
    pub(in crate::sched) path: String,
    pub(in crate::sched) name: Option<String>,
    pub(in crate::sched) status: Status,
    /// What it does next, or did last.
    pub(in crate::sched) intent: Intent,
    pub(in crate::sched) probe: Option<Probe>,
    pub(in crate::sched) deadline: Option<u64>,
    /// It spins, and nobody else has moved since it said so.
    pub(in crate::sched) yielded: bool,
    /// Whether it can be sent away by a panic where it stands.
    pub(in crate::sched) can_leave: bool,
    pub(in crate::sched) held: Vec<Held>,
    pub(in crate::sched) turn: Arc<Turn>,
    /// The thread as the system knows it; 0 where that is not known.
    pub(in crate::sched) system_id: i32,
    /// What it panicked with, until a thread joins it.
    pub(in crate::sched) panicked: Option<String>,
}

impl Slot {
    pub(in crate::sched) fn new(
        path: String,
        name: Option<String>,
        here: Option<CallSite>,
    ) -> Self {
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
    pub(in crate::sched) fn name(&self) -> ThreadName {
        let path = self.path.clone();
        let shown = match &self.name {
            Some(name) => format!("{path} ({name})"),
            None => path.clone(),
        };
        ThreadName { path, shown }
    }

    /// Whether its deadline has passed.
    pub(in crate::sched) fn is_late(&self, now: u64) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Whether its operation would not block, if its deadline has passed or not.
    pub(in crate::sched) fn is_ready(&self, late: impl FnOnce() -> bool) -> bool {
        self.probe.as_ref().is_none_or(|probe| probe.is_ready(late()))
    }

    /// It does what it stood before.
    pub(in crate::sched) fn goes(&mut self) {
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

/// Where a thread stands, and who holds what it waits for.
pub(in crate::sched) fn wait(slots: &[Slot], at: usize) -> Wait {
    let Slot { intent, status, .. } = &slots[at];
    let lock = if intent.second == 0 { intent.object } else { intent.second };
    let holders = slots.iter().flat_map(|slot| {
        let held = slot.held.iter().filter(move |held| held.lock == lock);
        held.map(move |held| (slot.name(), place_of(held.here)))
    });
    Wait {
        thread: slots[at].name(),
        action: intent.action,
        outside: *status == Status::Outside,
        place: place_of(intent.here),
        joins: matches!(intent.action, Action::Join | Action::Scope)
            .then(|| slots[intent.object - 1].name()),
        holders: holders.collect(),
    }
}
