//! One run of a program under control.
//!
//! The threads are those of the system, each with its own stack and thread-locals; one of them has its
//! turn, and all others wait for theirs. Whoever has its turn comes here before every operation,
//! says what it is about to do, and decides who goes next. If that is itself, nothing else happens.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use super::failure::{Failure, Lost, Place};
use super::intent::Intent;
use super::member::Member;
use super::slot::{Probe, Slot, Status};
use super::state::{Next, State};
use super::strategy::Guide;
use super::turn::Word;
use crate::rt::{Action, Here};

/// A run.
pub(super) struct Run {
    state: Mutex<State>,
    /// The run's own time, in nanoseconds. It passes by steps, and by leaps when all sleep.
    clock: AtomicU64,
    /// Nobody is left.
    over: Condvar,
    /// Whether the program is the whole process, which then ends with the run.
    process: bool,
    /// Whether its threads are fibers of one thread.
    fibers: bool,
}

/// What a run consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RunKind {
    /// All of the process.
    Process,
    /// A body, whose threads are the system's.
    Threads,
    /// A body, whose threads are fibers.
    #[cfg(feature = "fibers")]
    Fibers,
}

/// Tells a parent about its child.
pub(crate) struct ChildControl {
    run: Arc<Run>,
    slot: usize,
    ended: Arc<AtomicBool>,
    left: Arc<AtomicBool>,
}

/// How a run ended.
pub(super) struct Outcome {
    pub(super) guide: Guide,
    pub(super) failure: Option<Failure>,
    pub(super) stopped: Option<super::strategy::Stop>,
    pub(super) lost: Vec<Lost>,
    pub(super) steps: u64,
}

impl Run {
    pub(super) fn new(guide: Guide, max_steps: u64, kind: RunKind) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::new(guide, max_steps)),
            clock: AtomicU64::new(0),
            over: Condvar::new(),
            process: kind == RunKind::Process,
            fibers: !matches!(kind, RunKind::Process | RunKind::Threads),
        })
    }

    pub(super) fn has_fibers(&self) -> bool {
        self.fibers
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, unless somebody is at work on it.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Makes the calling thread the first of the run; it has its turn.
    pub(super) fn first(self: &Arc<Self>, name: Option<String>) -> Member {
        let mut state = self.lock();
        let slot = state.add(usize::MAX, name, None);
        state.slots[slot].status = Status::Running;
        state.slots[slot].turn.set_taken(true);
        state.slots[slot].system_id = super::monitor::system_id();
        state.current = Some(slot);
        Member::new(self.clone(), slot, state.slots[slot].turn.clone())
    }

    /// Adds a thread that nobody under control has spawned. It waits for a turn at its first
    /// operation.
    pub(super) fn stranger(self: &Arc<Self>, name: Option<String>) -> Member {
        let mut state = self.lock();
        let slot = state.add(usize::MAX, name, None);
        state.slots[slot].status = Status::Outside;
        state.slots[slot].system_id = super::monitor::system_id();
        Member::new(self.clone(), slot, state.slots[slot].turn.clone())
    }

    /// Adds a child of a thread. It waits for its first turn.
    pub(super) fn add(self: &Arc<Self>, parent: usize, name: Option<&str>, here: Here) -> Member {
        let mut state = self.lock();
        let slot = state.add(parent, name.map(str::to_owned), here);
        Member::new(self.clone(), slot, state.slots[slot].turn.clone())
    }

    /// The calling thread stands before an operation: returns when it is to be done. `ready` says
    /// whether it would not block.
    pub(super) fn step(
        &self,
        member: &Member,
        intent: Intent,
        ready: Option<&dyn Fn(bool) -> bool>,
        deadline: Option<u64>,
    ) -> Word {
        member.turn().set_taken(false);
        let word = self.stop(member, intent, ready, deadline);
        member.turn().set_taken(true);
        word
    }

    fn stop(
        &self,
        member: &Member,
        intent: Intent,
        ready: Option<&dyn Fn(bool) -> bool>,
        deadline: Option<u64>,
    ) -> Word {
        let mut state = self.lock();
        let slot = &mut state.slots[member.slot()];
        slot.status = Status::Ready;
        slot.intent = intent;
        // SAFETY: the probe is removed when the thread goes, which is before this function returns.
        slot.probe = ready.map(|ready| unsafe { Probe::new(ready) });
        slot.deadline = deadline;
        let unwinds = std::thread::panicking();
        slot.can_leave = !unwinds && member.can_leave() && !intent.action.is_of_destructors();
        if unwinds
            && slot.is_ready(|| slot.is_late(self.now()))
            && state.current == Some(member.slot())
        {
            // Nobody interrupts it: to the system it may be others who panic, too.
            state.slots[member.slot()].goes();
            return if state.ending { Word::Leave } else { Word::Go };
        }
        if state.current.is_some_and(|current| current != member.slot()) {
            // It was outside, and somebody else has the turn.
            drop(state);
            return member.turn().take();
        }
        match self.pass_on(state, Some(member.slot())) {
            Some(word) => word,
            None => member.turn().take(),
        }
    }

    /// Lets whoever is next go. If that is the calling thread, `own`, returns what it is told.
    fn pass_on(&self, mut state: MutexGuard<'_, State>, own: Option<usize>) -> Option<Word> {
        let next = state.decide(&self.clock);
        if state.ending && self.process {
            drop(state);
            super::process::give_up(self);
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
    pub(super) fn begun(&self, slot: usize) {
        let system_id = super::monitor::system_id();
        self.lock().slots[slot].system_id = system_id;
    }

    /// The closure of a thread is done, by a panic if there is a message.
    pub(super) fn leave(&self, slot: usize, panicked: Option<String>, left: &AtomicBool) {
        self.lock().slots[slot].panicked = panicked;
        left.store(true, Ordering::Release);
    }

    /// The thread has ended, or will do nothing more that anybody could notice.
    pub(super) fn finish(&self, slot: usize, panicked: Option<String>, ended: &AtomicBool) {
        let mut state = self.lock();
        let had_turn = state.current.is_none_or(|current| current == slot);
        state.slots[slot].status = Status::Finished;
        if panicked.is_some() {
            state.slots[slot].panicked = panicked;
        }
        ended.store(true, Ordering::Release);
        // The program ends with its first thread, and takes the others along.
        state.ending |= slot == 0;
        if had_turn && !(self.process && state.ending) {
            self.pass_on(state, None);
        }
    }

    /// Waits until all threads are gone.
    pub(super) fn wait_until_over(&self) {
        let left = |state: &mut State| {
            let gone = |status| matches!(status, Status::Finished | Status::Abandoned);
            !state.slots.iter().all(|slot| gone(slot.status))
        };
        drop(self.over.wait_while(self.lock(), left).unwrap_or_else(PoisonError::into_inner));
    }

    /// What became of it. Nobody uses the run after this.
    pub(super) fn outcome(&self, next: Guide) -> Outcome {
        let mut state = self.lock();
        let state = &mut *state;
        let panicked = (0..state.slots.len()).find_map(|at| {
            let message = state.slots[at].panicked.take()?;
            Some(Failure::Panic { thread: state.name(at), message })
        });
        Outcome {
            guide: std::mem::replace(&mut state.guide, next),
            failure: state.failure.take().or(panicked),
            stopped: state.stopped.take(),
            lost: std::mem::take(&mut state.lost),
            steps: state.steps,
        }
    }

    /// The thread that has its turn blocks where nobody sees it, and has done so since `steps`:
    /// another goes on.
    pub(super) fn lose(&self, slot: usize, steps: u64) {
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
        let (path, after) = (path.clone(), Place::of(intent.here));
        let lost = Lost { thread: state.name(slot), path, after };
        state.lost.push(lost);
        state.slots[slot].status = Status::Outside;
        state.current = None;
        self.pass_on(state, None);
    }

    /// Nothing has happened for long, and nothing will: all wait for threads that are outside.
    pub(super) fn give_up_on_outsiders(&self) {
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

impl ChildControl {
    pub(super) fn new(member: &Member) -> Self {
        Self {
            run: member.run().clone(),
            slot: member.slot(),
            ended: member.ended().clone(),
            left: member.left().clone(),
        }
    }

    /// What the thread is known by in intents.
    pub(crate) fn key(&self) -> usize {
        self.slot + 1
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether the thread's closure is done.
    fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// The calling thread waits until the thread's closure is done, as std's scopes do; it is not
    /// sent away meanwhile.
    pub(crate) fn wait_until_left(&self, here: Here) {
        if !self.has_left() {
            super::block_on(Action::Scope, self.key(), here, || self.has_left());
        }
    }

    /// The calling thread waits for the end; it is not sent away meanwhile.
    #[cfg(feature = "crossbeam")]
    pub(crate) fn wait_at_end_of_scope(&self, here: Here) {
        if !self.has_ended() {
            super::block_on(Action::Scope, self.key(), here, || self.has_ended());
        }
    }

    /// The system could not make the thread.
    pub(crate) fn never_began(&self) {
        self.run.lock().slots[self.slot].status = Status::Finished;
        self.left.store(true, Ordering::Release);
        self.ended.store(true, Ordering::Release);
    }

    /// Somebody has its result, and with that its panic, if it did: true.
    pub(crate) fn joined(&self) -> bool {
        self.run.lock().slots[self.slot].panicked.take().is_some()
    }
}
