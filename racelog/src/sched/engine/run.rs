//! One run of a program under control.
//!
//! The threads are those of the system, each with its own stack and thread-locals; one of them has
//! its turn, and all others wait for theirs. The thread that has its turn comes here before every
//! operation, says what it is about to do, and decides who goes next. If that is itself, nothing
//! else happens.

use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::state::{Next, State};
use super::system::system_id;
use crate::rt::{Action, Biased, BiasedGuard, CallSite};
use crate::sched::model::failure::{Failure, Lost};
use crate::sched::model::intent::Intent;
use crate::sched::model::place::place_of;
use crate::sched::model::slot::{Probe, Slot, Status};
use crate::sched::model::turn::{Signal, Turn};
use crate::sched::strategy::{Exhaustive, Guide, Stop};

/// No fiber.
#[cfg(fibers)]
const NOBODY: usize = usize::MAX;

/// A run.
pub(in crate::sched) struct Run {
    state: Biased<State>,
    /// The run's own time, in nanoseconds. It passes by steps, and by leaps when all sleep.
    clock: AtomicU64,
    /// When it began, by the clock of the world, if it was asked for.
    begun: OnceLock<Instant>,
    /// Whoever waits until nobody is left; under the mutex nobody leaves.
    waiter: Mutex<()>,
    over: Condvar,
    /// What to call if the program is the whole process, which then ends with the run.
    process: Option<ProcessHooks>,
    /// Whether its threads are fibers of one thread.
    fibers: bool,
    /// Nobody is left.
    is_over: AtomicBool,
    /// Where the driver of the fibers has what it drives; the engine does not know what that is.
    #[cfg_attr(not(fibers), expect(dead_code, reason = "there are no fibers"))]
    driver: AtomicPtr<()>,
    /// How often another thread took over to drive the fibers.
    drivers: AtomicU32,
    /// How many threads that took over are not done yet.
    driving: AtomicUsize,
    /// The thread that drives them, as the system knows it.
    driver_id: AtomicI32,
    /// The fiber that the driver is to resume, until it does; none if it is no number of a fiber.
    next_fiber: AtomicUsize,
}

/// What a run of a whole process calls.
#[derive(Clone, Copy, Debug)]
pub(in crate::sched) struct ProcessHooks {
    /// The program cannot go on, or not as its schedule says.
    pub(in crate::sched) give_up: fn(&Run) -> !,
    /// The guide has something to tell, and the program may not live to tell it later.
    pub(in crate::sched) report_news: fn(&State),
}

/// What a thread is given that becomes part of a run.
pub(in crate::sched) struct Admission {
    pub(in crate::sched) slot: usize,
    pub(in crate::sched) turn: Arc<Turn>,
}

/// A thread that stands before an operation.
pub(in crate::sched) struct Standing<'a> {
    pub(in crate::sched) slot: usize,
    pub(in crate::sched) turn: &'a Turn,
    /// Whether a panic may send it away now.
    pub(in crate::sched) can_leave: bool,
}

/// What a run consists of.
#[derive(Clone, Copy, Debug)]
pub(in crate::sched) enum RunKind {
    /// All of the process.
    Process(ProcessHooks),
    /// A body, whose threads are the system's.
    Threads,
    /// A body, whose threads are fibers.
    #[cfg(fibers)]
    Fibers,
}

/// How a run ended.
pub(in crate::sched) struct RunResult {
    pub(in crate::sched) guide: Guide,
    pub(in crate::sched) failure: Option<Failure>,
    pub(in crate::sched) stopped: Option<Stop>,
    pub(in crate::sched) lost: Vec<Lost>,
    pub(in crate::sched) steps: u64,
}

impl Run {
    pub(in crate::sched) fn new(guide: Guide, max_steps: u64, kind: RunKind) -> Arc<Self> {
        let process = match kind {
            RunKind::Process(hooks) => Some(hooks),
            _ => None,
        };
        let report_news = process.map(|hooks| hooks.report_news);
        let fibers = !matches!(kind, RunKind::Process(_) | RunKind::Threads);
        Arc::new(Self {
            // Fibers are all of one thread, and others come to watch.
            state: Biased::new(State::new(guide, max_steps, report_news), fibers),
            clock: AtomicU64::new(0),
            begun: OnceLock::new(),
            waiter: Mutex::new(()),
            over: Condvar::new(),
            process,
            fibers,
            is_over: AtomicBool::new(false),
            driver: AtomicPtr::new(ptr::null_mut()),
            drivers: AtomicU32::new(0),
            driving: AtomicUsize::new(0),
            driver_id: AtomicI32::new(0),
            next_fiber: AtomicUsize::new(0),
        })
    }

    pub(in crate::sched) fn has_fibers(&self) -> bool {
        self.fibers
    }

    /// The fiber that is to be resumed next, for the driver, who does.
    #[cfg(fibers)]
    pub(in crate::sched) fn next_fiber(&self) -> Option<usize> {
        let next = self.next_fiber.load(Ordering::Acquire);
        self.next_fiber.store(NOBODY, Ordering::Relaxed);
        (next != NOBODY).then_some(next)
    }

    /// The calling thread drives the fibers from now on. Which driver it is.
    #[cfg(fibers)]
    pub(in crate::sched) fn drive(&self) -> u32 {
        self.driver_id.store(system_id(), Ordering::Relaxed);
        self.drivers.load(Ordering::Relaxed)
    }

    /// Whether another thread has taken over from this driver.
    #[cfg(fibers)]
    pub(in crate::sched) fn is_driven_by_others(&self, driver: u32) -> bool {
        self.drivers.load(Ordering::Relaxed) != driver
    }

    /// Where the driver has what it drives.
    #[cfg(fibers)]
    pub(in crate::sched) fn driver(&self) -> &AtomicPtr<()> {
        &self.driver
    }

    /// How many threads that took over to drive are not done yet.
    #[cfg(fibers)]
    pub(in crate::sched) fn driving(&self) -> &AtomicUsize {
        &self.driving
    }

    /// Whether nobody is left, of fibers.
    #[cfg(fibers)]
    pub(in crate::sched) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// The thread that drives the fibers, as the system knows it; 0 if there are none.
    pub(in crate::sched) fn driver_id(&self) -> i32 {
        self.driver_id.load(Ordering::Relaxed)
    }

    pub(in crate::sched) fn lock(&self) -> BiasedGuard<'_, State> {
        self.state.lock()
    }

    /// The state, unless a thread is at work on it.
    pub(in crate::sched) fn try_lock(&self) -> Option<BiasedGuard<'_, State>> {
        self.state.try_lock()
    }

    pub(in crate::sched) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// The time that threads see which look at the clock.
    pub(in crate::sched) fn shown(&self) -> Instant {
        let shown = self.lock().shown(self.now());
        *self.begun.get_or_init(Instant::now) + Duration::from_nanos(shown)
    }

    /// Makes the calling thread the first of the run; it has its turn.
    pub(in crate::sched) fn first(&self, name: Option<String>) -> Admission {
        let mut state = self.lock();
        let slot = state.add(usize::MAX, name, None);
        state.slots[slot].status = Status::Running;
        state.slots[slot].turn.set_taken(true);
        state.slots[slot].system_id = system_id();
        state.current = Some(slot);
        Admission { slot, turn: state.slots[slot].turn.clone() }
    }

    /// Adds a thread that no thread under control has spawned. It waits for a turn at its first
    /// operation.
    pub(in crate::sched) fn stranger(&self, name: Option<String>) -> Admission {
        let mut state = self.lock();
        let slot = state.add(usize::MAX, name, None);
        state.slots[slot].status = Status::Outside;
        state.slots[slot].system_id = system_id();
        Admission { slot, turn: state.slots[slot].turn.clone() }
    }

    /// Adds a child of a thread. It waits for its first turn.
    pub(in crate::sched) fn add(
        &self,
        parent: usize,
        name: Option<&str>,
        here: Option<CallSite>,
    ) -> Admission {
        let mut state = self.lock();
        let slot = state.add(parent, name.map(str::to_owned), here);
        Admission { slot, turn: state.slots[slot].turn.clone() }
    }

    /// The calling thread stands before an operation: returns when it is to be done. `ready` says
    /// whether it would not block.
    pub(in crate::sched) fn step(
        &self,
        thread: &Standing<'_>,
        intent: &Intent,
        ready: Option<&dyn Fn(bool) -> bool>,
        deadline: Option<u64>,
    ) -> Signal {
        thread.turn.set_taken(false);
        let word = self.stop(thread, intent, ready, deadline);
        thread.turn.set_taken(true);
        word
    }

    fn stop(
        &self,
        thread: &Standing<'_>,
        intent: &Intent,
        ready: Option<&dyn Fn(bool) -> bool>,
        deadline: Option<u64>,
    ) -> Signal {
        let mut state = self.lock();
        // Who sleeps or looks at the clock again while nobody else has moved waits for something,
        // and spins.
        let wakes_sleepers = intent.action == Action::Sleep && state.guide.wakes_sleepers();
        let wakes_at = deadline.map_or(0, |deadline| state.shown(deadline));
        let slot = &mut state.slots[thread.slot];
        slot.status = Status::Ready;
        slot.intent = *intent;
        slot.yielded |= match intent.action {
            Action::Sleep => wakes_sleepers && slot.slept,
            Action::Clock => slot.looked,
            _ => false,
        };
        slot.wakes_at = wakes_at;
        // SAFETY: the probe is removed when the thread goes, which is before this function returns.
        slot.probe = ready.map(|ready| unsafe { Probe::new(ready) });
        slot.deadline = deadline;
        let unwinds = std::thread::panicking();
        slot.can_leave = !unwinds && thread.can_leave && !intent.action.is_of_destructors();
        if unwinds
            && slot.is_ready(|| slot.is_late(self.now()))
            && state.current == Some(thread.slot)
        {
            // Nobody interrupts it: to the system it may be others who panic, too.
            state.slots[thread.slot].goes();
            return if state.ending { Signal::Leave } else { Signal::Go };
        }
        if state.current.is_some_and(|current| current != thread.slot) {
            // It was outside, and another thread has the turn.
            drop(state);
            return thread.turn.take();
        }
        match self.pass_on(state, Some(thread.slot)) {
            Some(word) => word,
            None => thread.turn.take(),
        }
    }

    /// Lets the next thread go. If that is the calling thread, `own`, returns what it is told.
    fn pass_on(&self, mut state: BiasedGuard<'_, State>, own: Option<usize>) -> Option<Signal> {
        let next = state.decide(&self.clock);
        if state.ending {
            if let Some(process) = self.process {
                drop(state);
                (process.give_up)(self);
            }
        }
        match next {
            Next::Goes(slot, word) if Some(slot) == own => Some(word),
            Next::Goes(slot, word) if self.fibers => {
                state.slots[slot].turn.give_to_fiber(word);
                self.next_fiber.store(slot, Ordering::Release);
                None
            }
            Next::Goes(slot, word) => {
                let turn = state.slots[slot].turn.clone();
                drop(state);
                turn.give(word);
                None
            }
            Next::Nobody => None,
            Next::Over => {
                if state.slots[0].status == Status::Abandoned {
                    give_up(&state);
                }
                drop(state);
                if self.fibers {
                    self.is_over.store(true, Ordering::Release);
                } else {
                    // Which the system is asked to do, whether anybody waits or not.
                    drop(self.waiter.lock().unwrap_or_else(PoisonError::into_inner));
                    self.over.notify_all();
                }
                None
            }
        }
    }

    /// The thread is under way.
    pub(in crate::sched) fn begun(&self, slot: usize) {
        let own = system_id();
        self.lock().slots[slot].system_id = own;
    }

    /// The closure of a thread is done, by a panic if there is a message.
    pub(in crate::sched) fn leave(&self, slot: usize, panicked: Option<String>, left: &AtomicBool) {
        let mut state = self.lock();
        let slot = &mut state.slots[slot];
        (slot.panicked, slot.scope) = (panicked, 0);
        left.store(true, Ordering::Release);
    }

    /// The thread has ended, or will do nothing more that anybody could notice.
    pub(in crate::sched) fn finish(
        &self,
        slot: usize,
        panicked: Option<String>,
        ended: &AtomicBool,
    ) {
        let mut state = self.lock();
        let had_turn = state.current.is_none_or(|current| current == slot);
        state.slots[slot].status = Status::Finished;
        if panicked.is_some() {
            state.slots[slot].panicked = panicked;
        }
        ended.store(true, Ordering::Release);
        // The program ends with its first thread, and takes the others along.
        state.ending |= slot == 0;
        if had_turn && !(self.process.is_some() && state.ending) {
            self.pass_on(state, None);
        }
    }

    /// Waits until all threads are gone.
    pub(in crate::sched) fn wait_until_over(&self) {
        let is_left = |slot: &Slot| !matches!(slot.status, Status::Finished | Status::Abandoned);
        let left = |(): &mut ()| self.lock().slots.iter().any(is_left);
        let waiter = self.waiter.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.over.wait_while(waiter, left).unwrap_or_else(PoisonError::into_inner));
    }

    /// What became of it. Nobody uses the run after this.
    pub(in crate::sched) fn result(&self) -> RunResult {
        let mut state = self.lock();
        let state = &mut *state;
        let panicked = (0..state.slots.len()).find_map(|at| {
            let message = state.slots[at].panicked.take()?;
            Some(Failure::Panic { thread: state.name(at), message })
        });
        RunResult {
            // Any other guide, but one that costs nothing.
            guide: std::mem::replace(&mut state.guide, Guide::Exhaustive(Exhaustive::new())),
            failure: state.failure.take().or(panicked),
            stopped: state.stopped.take(),
            lost: std::mem::take(&mut state.lost),
            steps: state.steps,
        }
    }

    /// The thread that has its turn blocks where nobody sees it, and has done so since `steps`:
    /// another goes on. Of fibers, it takes another driver for that; true if it does.
    pub(in crate::sched) fn lose(&self, slot: usize, steps: u64) -> bool {
        let mut state = self.lock();
        if state.current != Some(slot) || state.steps != steps {
            return false;
        }
        let Slot { path, intent, .. } = &state.slots[slot];
        let (path, after) = (path.clone(), place_of(intent.here));
        let lost = Lost { thread: state.name(slot), path, after };
        state.lost.push(lost);
        state.slots[slot].status = Status::Outside;
        state.current = None;
        if self.fibers {
            // Before the driver can go on: it waits for the thread that is about to take over.
            self.driving.fetch_add(1, Ordering::Relaxed);
            self.drivers.fetch_add(1, Ordering::Relaxed);
        }
        self.pass_on(state, None);
        true
    }

    /// Nothing has happened for long, and nothing will: all wait for threads that are outside.
    pub(in crate::sched) fn give_up_on_outsiders(&self) {
        let mut state = self.lock();
        if state.current.is_some() {
            return;
        }
        if self.fibers {
            // Its thread is the one that explores, which cannot be left behind.
            let outside = |slot: &Slot| slot.status == Status::Outside;
            let thread = state.slots.iter().position(outside).map(|at| state.name(at));
            let thread = thread.unwrap_or_else(|| "?".to_owned());
            eprintln!("racelog: thread {thread} blocks outside of racelog, and never goes on");
            std::process::abort();
        }
        let waits = state.waits();
        state.fail(Failure::Stuck { waits });
        for slot in &mut state.slots {
            if slot.status == Status::Outside {
                slot.status = Status::Abandoned;
            }
        }
        self.pass_on(state, None);
    }
}

/// The thread that explores can neither be sent away nor left behind.
fn give_up(state: &State) -> ! {
    match &state.failure {
        Some(failure) => eprintln!("racelog: {failure}"),
        None => eprintln!("racelog: the run cannot be ended"),
    }
    eprintln!("racelog: its first thread waits while it unwinds, and cannot be ended");
    std::process::abort();
}
