//! One run of a program under control.
//!
//! The threads are those of the system, each with its own stack and thread-locals; one of them has
//! its turn, and all others wait for theirs. The thread that has its turn comes here before every
//! operation, says what it is about to do, and decides who goes next. If that is itself, nothing
//! else happens.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::state::{Next, State};
use super::system::system_id;
use crate::rt::{Action, CallSite};
use crate::sched::model::failure::{Failure, Lost};
use crate::sched::model::intent::Intent;
use crate::sched::model::place::place_of;
use crate::sched::model::slot::{Probe, Slot, Status};
use crate::sched::model::turn::{Signal, Turn};
use crate::sched::strategy::Guide;

/// A run.
pub(in crate::sched) struct Run {
    state: Mutex<State>,
    /// The run's own time, in nanoseconds. It passes by steps, and by leaps when all sleep.
    clock: AtomicU64,
    /// When it began, by the clock of the world.
    begun: Instant,
    /// Nobody is left.
    over: Condvar,
    /// What to call if the program is the whole process, which then ends with the run.
    process: Option<ProcessHooks>,
    /// Whether its threads are fibers of one thread.
    fibers: bool,
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
    #[cfg(feature = "fibers")]
    Fibers,
}

/// How a run ended.
pub(in crate::sched) struct RunResult {
    pub(in crate::sched) guide: Guide,
    pub(in crate::sched) failure: Option<Failure>,
    pub(in crate::sched) stopped: Option<crate::sched::strategy::Stop>,
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
        Arc::new(Self {
            state: Mutex::new(State::new(guide, max_steps, report_news)),
            clock: AtomicU64::new(0),
            begun: Instant::now(),
            over: Condvar::new(),
            process,
            fibers: !matches!(kind, RunKind::Process(_) | RunKind::Threads),
        })
    }

    pub(in crate::sched) fn has_fibers(&self) -> bool {
        self.fibers
    }

    pub(in crate::sched) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, unless a thread is at work on it.
    pub(in crate::sched) fn try_lock(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(in crate::sched) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// The time that threads see which look at the clock.
    pub(in crate::sched) fn shown(&self) -> Instant {
        let shown = self.lock().shown(self.now());
        self.begun + Duration::from_nanos(shown)
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
        intent: Intent,
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
        intent: Intent,
        ready: Option<&dyn Fn(bool) -> bool>,
        deadline: Option<u64>,
    ) -> Signal {
        let mut state = self.lock();
        // Who sleeps or looks at the clock again while nobody else has moved waits for something,
        // and spins.
        let wakes_sleepers = state.guide.wakes_sleepers();
        let wakes_at = deadline.map_or(0, |deadline| state.shown(deadline));
        let slot = &mut state.slots[thread.slot];
        slot.status = Status::Ready;
        slot.intent = intent;
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
    fn pass_on(&self, mut state: MutexGuard<'_, State>, own: Option<usize>) -> Option<Signal> {
        let next = state.decide(&self.clock);
        if state.ending {
            if let Some(process) = self.process {
                drop(state);
                (process.give_up)(self);
            }
        }
        match next {
            Next::Goes(slot, word) if Some(slot) == own => Some(word),
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
                self.over.notify_all();
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
        let left = |state: &mut State| {
            let gone = |status| matches!(status, Status::Finished | Status::Abandoned);
            !state.slots.iter().all(|slot| gone(slot.status))
        };
        drop(self.over.wait_while(self.lock(), left).unwrap_or_else(PoisonError::into_inner));
    }

    /// What became of it. Nobody uses the run after this.
    pub(in crate::sched) fn result(&self, next: Guide) -> RunResult {
        let mut state = self.lock();
        let state = &mut *state;
        let panicked = (0..state.slots.len()).find_map(|at| {
            let message = state.slots[at].panicked.take()?;
            Some(Failure::Panic { thread: state.name(at), message })
        });
        RunResult {
            guide: std::mem::replace(&mut state.guide, next),
            failure: state.failure.take().or(panicked),
            stopped: state.stopped.take(),
            lost: std::mem::take(&mut state.lost),
            steps: state.steps,
        }
    }

    /// The thread that has its turn blocks where nobody sees it, and has done so since `steps`:
    /// another goes on.
    pub(in crate::sched) fn lose(&self, slot: usize, steps: u64) {
        let mut state = self.lock();
        if state.current != Some(slot) || state.steps != steps {
            return;
        }
        if self.fibers {
            eprintln!("racelog: thread {} blocks outside of racelog", state.name(slot));
            eprintln!("racelog: with fibers nobody else can go on: explore without them");
            std::process::abort();
        }
        let Slot { path, intent, .. } = &state.slots[slot];
        let (path, after) = (path.clone(), place_of(intent.here));
        let lost = Lost { thread: state.name(slot), path, after };
        state.lost.push(lost);
        state.slots[slot].status = Status::Outside;
        state.current = None;
        self.pass_on(state, None);
    }

    /// Nothing has happened for long, and nothing will: all wait for threads that are outside.
    pub(in crate::sched) fn give_up_on_outsiders(&self) {
        let mut state = self.lock();
        if state.current.is_some() {
            return;
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
