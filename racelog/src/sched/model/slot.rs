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
    /// Whether others may share it.
    pub(in crate::sched) shared: bool,
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
    /// It has slept, and nobody else has moved since.
    pub(in crate::sched) slept: bool,
    /// The time of the run that it finds when it has slept.
    pub(in crate::sched) wakes_at: u64,
    /// It has looked at the clock, and nobody else has moved since.
    pub(in crate::sched) looked: bool,
    /// How often it has looked at the clock.
    pub(in crate::sched) looks: u32,
    /// Whether it can be sent away by a panic where it stands.
    pub(in crate::sched) can_leave: bool,
    pub(in crate::sched) held: Vec<Held>,
    pub(in crate::sched) turn: Arc<Turn>,
    /// The thread as the system knows it; 0 where that is not known.
    pub(in crate::sched) system_id: i32,
    /// What it panicked with, until a thread joins it.
    pub(in crate::sched) panicked: Option<String>,
    /// The scope that does not end before its closure is done; 0 for none.
    pub(in crate::sched) scope: usize,
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
            slept: false,
            wakes_at: 0,
            looked: false,
            looks: 0,
            can_leave: true,
            held: Vec::new(),
            turn: Arc::default(),
            system_id: 0,
            panicked: None,
            scope: 0,
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
            Action::Lock => self.held.push(Held { lock: object, shared: false, here }),
            Action::ReadLock => self.held.push(Held { lock: object, shared: true, here }),
            Action::Wake => self.held.push(Held { lock: second, shared: false, here }),
            Action::Upgrade => self.changes(object, false),
            Action::Downgrade => self.changes(object, true),
            Action::Unlock | Action::ReadUnlock => self.gives_back(object),
            Action::Wait => self.gives_back(second),
            Action::Yield => self.yielded = true,
            Action::Sleep => self.slept = true,
            Action::Clock => {
                self.looked = true;
                self.looks = self.looks.saturating_add(1);
            }
            _ => {}
        }
    }

    pub(in crate::sched) fn gives_back(&mut self, lock: usize) {
        if let Some(at) = self.held.iter().rposition(|held| held.lock == lock) {
            self.held.remove(at);
        }
    }

    /// It keeps a lock that it holds, shared from now on or not.
    fn changes(&mut self, lock: usize, shared: bool) {
        if let Some(held) = self.held.iter_mut().rfind(|held| held.lock == lock) {
            held.shared = shared;
        }
    }

    /// The lock that it cannot go on without, if it waits for one: it holds it or is about to.
    fn lock_it_needs(&self) -> Option<usize> {
        match self.intent.action {
            Action::Lock | Action::ReadLock | Action::Upgrade | Action::Once => {
                Some(self.intent.object)
            }
            Action::Wake => Some(self.intent.second),
            _ => None,
        }
    }

    /// Whether it waits to take a lock exclusively.
    pub(in crate::sched) fn is_waiting_writer(&self, lock: usize) -> bool {
        self.status == Status::Ready
            && self.intent.action == Action::Lock
            && self.intent.object == lock
            && !self.is_ready(|| false)
    }
}

/// Why a thread that waits cannot go on before another has done something.
#[derive(Clone, Copy, Debug)]
pub(in crate::sched) enum Obstacle {
    /// The other holds the lock, since there; or runs the initialiser.
    Holds(Option<CallSite>),
    /// The other waits to take the lock exclusively, and goes first.
    GoesFirst(Option<CallSite>),
    /// The other has not ended.
    Lives,
}

/// In which way a thread cannot go on before another has done something; nothing if it can. Of a
/// thread that can go on, nothing is to be asked.
pub(in crate::sched) fn obstacle(slots: &[Slot], at: usize, other: usize) -> Option<Obstacle> {
    let (slot, obstacle) = (&slots[at], &slots[other]);
    let intent = &slot.intent;
    match intent.action {
        Action::Join => (intent.object == other + 1).then_some(Obstacle::Lives),
        // A scope ends with all of its threads, of which it waits for one after the other.
        Action::Scope => {
            let is_of_scope = intent.second != 0 && obstacle.scope == intent.second;
            (intent.object == other + 1 || is_of_scope).then_some(Obstacle::Lives)
        }
        action => {
            let lock = slot.lock_it_needs()?;
            // Readers do not wait for readers, and who upgrades is itself one.
            let in_the_way = |held: &&Held| {
                let shares = held.shared && action == Action::ReadLock;
                let own = other == at && action == Action::Upgrade;
                held.lock == lock && !shares && !own
            };
            if let Some(held) = obstacle.held.iter().find(in_the_way) {
                return Some(Obstacle::Holds(held.here));
            }
            let goes_first =
                intent.after_writers && other != at && obstacle.is_waiting_writer(lock);
            goes_first.then_some(Obstacle::GoesFirst(obstacle.intent.here))
        }
    }
}

/// Where a thread stands, and who keeps it from going on.
pub(in crate::sched) fn wait(slots: &[Slot], at: usize) -> Wait {
    let Slot { intent, status, .. } = &slots[at];
    let (mut holders, mut writers) = (Vec::new(), Vec::new());
    for (other, slot) in slots.iter().enumerate() {
        match obstacle(slots, at, other) {
            Some(Obstacle::Holds(since)) => holders.push((slot.name(), place_of(since))),
            Some(Obstacle::GoesFirst(here)) => writers.push((slot.name(), place_of(here))),
            Some(Obstacle::Lives) | None => {}
        }
    }
    Wait {
        thread: slots[at].name(),
        action: intent.action,
        outside: *status == Status::Outside,
        place: place_of(intent.here),
        joins: matches!(intent.action, Action::Join | Action::Scope)
            .then(|| slots[intent.object - 1].name()),
        holders,
        writers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that stand before these operations, none of which can go on.
    fn slots(intents: &[Intent]) -> Vec<Slot> {
        let slot = |intent: &Intent| {
            let mut slot = Slot::new("0".to_owned(), None, None);
            slot.intent = *intent;
            // SAFETY: what it refers to lives as long as the program.
            slot.probe = Some(unsafe { Probe::new(&|_| false) });
            slot
        };
        intents.iter().map(slot).collect()
    }

    fn intent(action: Action, object: usize) -> Intent {
        Intent::new(action, object, None)
    }

    const fn held(lock: usize, shared: bool) -> Held {
        Held { lock, shared, here: None }
    }

    fn is_obstacle(slots: &[Slot], at: usize, other: usize) -> bool {
        obstacle(slots, at, other).is_some()
    }

    #[test]
    fn readers_wait_for_writers_and_writers_for_all() {
        let intents = [intent(Action::Lock, 8), intent(Action::ReadLock, 8)];
        let mut slots = slots(&[intents[0], intents[1], intent(Action::Park, 0)]);
        assert!(!is_obstacle(&slots, 0, 2) && !is_obstacle(&slots, 1, 2));
        slots[2].held = vec![held(8, true), held(16, false)];
        assert!(is_obstacle(&slots, 0, 2) && !is_obstacle(&slots, 1, 2));
        slots[2].held = vec![held(8, false)];
        assert!(is_obstacle(&slots, 0, 2) && is_obstacle(&slots, 1, 2));
        assert!(!is_obstacle(&slots, 2, 0), "nobody is known to unpark it");
    }

    #[test]
    fn a_writer_that_waits_goes_first_where_that_is_so() {
        let reader = intent(Action::ReadLock, 8);
        let writer = intent(Action::Lock, 8);
        assert!(!is_obstacle(&slots(&[reader, writer]), 0, 1));
        let fair = reader.after_writers(true);
        assert!(is_obstacle(&slots(&[fair, writer]), 0, 1));
        assert!(!is_obstacle(&slots(&[fair, intent(Action::Lock, 16)]), 0, 1));
        let mut slots = slots(&[fair, writer]);
        slots[1].probe = None;
        assert!(!is_obstacle(&slots, 0, 1), "it does not wait");
    }

    #[test]
    fn who_has_to_have_its_lock_back_waits_for_its_holder() {
        let wake = intent(Action::Wake, 4).with_second(8);
        let mut slots = slots(&[wake, intent(Action::Lock, 16)]);
        assert!(!is_obstacle(&slots, 0, 1));
        slots[1].held = vec![held(8, false)];
        assert!(is_obstacle(&slots, 0, 1));
    }

    #[test]
    fn who_becomes_a_writer_does_not_wait_for_itself() {
        let mut slots = slots(&[intent(Action::Upgrade, 8), intent(Action::Lock, 16)]);
        slots[0].held = vec![held(8, true)];
        assert!(!is_obstacle(&slots, 0, 0));
        slots[1].held = vec![held(8, true)];
        assert!(is_obstacle(&slots, 0, 1));
        slots[0].goes();
        assert!(!slots[0].held[0].shared);
    }

    #[test]
    fn ends_are_those_of_one_thread_or_of_all_of_a_scope() {
        let scope = intent(Action::Scope, 2).with_second(0x100);
        let park = intent(Action::Park, 0);
        let mut slots = slots(&[intent(Action::Join, 3), park, park, scope]);
        assert!(is_obstacle(&slots, 0, 2) && !is_obstacle(&slots, 0, 1));
        assert!(is_obstacle(&slots, 3, 1) && !is_obstacle(&slots, 3, 2));
        slots[2].scope = 0x100;
        assert!(is_obstacle(&slots, 3, 2));
    }
}
