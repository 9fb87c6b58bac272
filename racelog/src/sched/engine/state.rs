//! The state of a run, and who goes next.

use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::looks::Looks;
use crate::rt::CallSite;
use crate::sched::model::failure::{Failure, Lost, Wait};
use crate::sched::model::slot::{Slot, Status, wait};
use crate::sched::model::turn::Signal;
use crate::sched::strategy::{Choice, Guide, Stop};

/// How far a step moves the run's clock, in nanoseconds: so that who spins without saying so does
/// not keep those asleep who would let it go on.
const STEP: u64 = 1_000;

/// How many steps threads may take to go away when a run is over.
const FAREWELL: u64 = 100_000;

/// What is to be done now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Next {
    /// This thread goes on.
    Goes(usize, Signal),
    /// No thread can, until one comes back that is outside.
    Nobody,
    /// No thread is left.
    Over,
}

/// The threads of a run, and how far it is. The thread that has its turn works on it, and the
/// monitor.
pub(in crate::sched) struct State {
    pub(in crate::sched) slots: Vec<Slot>,
    /// How many threads there are that no thread of the run has spawned.
    roots: u32,
    /// Whose turn it is.
    pub(in crate::sched) current: Option<usize>,
    pub(in crate::sched) guide: Guide,
    pub(in crate::sched) steps: u64,
    max_steps: u64,
    /// The clock that threads look at.
    looks: Looks,
    /// The threads are being sent away.
    pub(in crate::sched) ending: bool,
    farewell: u64,
    pub(in crate::sched) failure: Option<Failure>,
    /// The guide gave up.
    pub(in crate::sched) stopped: Option<Stop>,
    pub(in crate::sched) lost: Vec<Lost>,
    /// Addresses that were recorded as values, numbered from 1.
    addresses: FxHashMap<usize, usize>,
    /// What is called when the guide has something to tell.
    report_news: Option<fn(&Self)>,
    /// Kept to be used again.
    enabled: Vec<usize>,
    spinning: Vec<usize>,
}

/// The place in the tree of threads of a thread's child of this number. Threads are made all the
/// time, and to format that takes as long as all else.
fn path_of_child(parent: &str, number: u32) -> String {
    let mut path = String::with_capacity(parent.len() + 3);
    path.push_str(parent);
    path.push('.');
    match char::from_digit(number, 10) {
        Some(digit) => path.push(digit),
        None => path.push_str(&number.to_string()),
    }
    path
}

impl State {
    /// A run without threads. `report_news` is called when the guide has something to tell.
    pub(in crate::sched) fn new(
        guide: Guide,
        max_steps: u64,
        report_news: Option<fn(&Self)>,
    ) -> Self {
        Self {
            report_news,
            slots: Vec::new(),
            roots: 0,
            current: None,
            guide,
            steps: 0,
            max_steps,
            looks: Looks::default(),
            ending: false,
            farewell: 0,
            failure: None,
            stopped: None,
            lost: Vec::new(),
            addresses: FxHashMap::default(),
            enabled: Vec::new(),
            spinning: Vec::new(),
        }
    }

    /// A new thread, which waits for its first turn.
    pub(in crate::sched) fn add(
        &mut self,
        parent: usize,
        name: Option<String>,
        here: Option<CallSite>,
    ) -> usize {
        let path = match self.slots.get_mut(parent) {
            Some(parent) => {
                parent.forks += 1;
                path_of_child(&parent.path, parent.forks)
            }
            None => {
                self.roots += 1;
                (self.roots - 1).to_string()
            }
        };
        self.slots.push(Slot::new(path, name, here));
        self.slots.len() - 1
    }

    pub(in crate::sched) fn number_of_address(&mut self, address: usize) -> usize {
        let next = self.addresses.len() + 1;
        *self.addresses.entry(address).or_insert(next)
    }

    /// Decides who goes next, and lets it go.
    pub(in crate::sched) fn decide(&mut self, clock: &AtomicU64) -> Next {
        let mut enabled = std::mem::take(&mut self.enabled);
        let next = loop {
            if self.ending {
                break self.farewell(clock);
            }
            let now = clock.load(Ordering::Relaxed);
            enabled.clear();
            let mut spinning = 0;
            for at in 0..self.slots.len() {
                if self.is_ready(at, now) {
                    enabled.push(at);
                    spinning += usize::from(self.slots[at].yielded);
                }
            }
            if spinning == enabled.len() {
                // All that can go on only spin: time passes for those who sleep.
                if let Some(deadline) = self.earliest(now) {
                    clock.store(deadline, Ordering::Relaxed);
                    let up = self.slots.iter_mut().filter(|slot| slot.is_late(deadline));
                    up.for_each(|slot| slot.yielded = false);
                    continue;
                }
                self.slots.iter_mut().for_each(|slot| slot.yielded = false);
                spinning = 0;
            }
            let is_outside = |slot: &Slot| slot.status == Status::Outside;
            if enabled.is_empty()
                && self.slots.iter().any(is_outside)
                && !self.guide.needs_nobody_else(&self.slots)
            {
                self.current = None;
                break Next::Nobody;
            }
            if enabled.is_empty() && !self.guide.is_on_its_way() {
                // The run ends with its first thread, so that one is among those who wait.
                self.fail(Failure::Deadlock { waits: self.waits() });
                continue;
            }
            self.steps += 1;
            if self.steps > self.max_steps {
                let steps = self.max_steps;
                self.fail(Failure::Livelock { steps, threads: self.waits() });
                continue;
            }
            self.spinning.clear();
            if spinning > 0 {
                self.spinning.extend(enabled.iter().filter(|&&at| self.slots[at].yielded));
                enabled.retain(|&at| !self.slots[at].yielded);
            }
            let choice = Choice {
                enabled: &enabled,
                spinning: &self.spinning,
                slots: &self.slots,
                current: self.current,
                step: self.steps,
                now,
            };
            let at = match self.guide.pick(&choice) {
                Ok(at) => at,
                Err(Stop::Sleep(deadline)) => {
                    clock.store(deadline.max(now + STEP), Ordering::Relaxed);
                    continue;
                }
                Err(Stop::Circle(slots)) => {
                    let waits = slots.iter().map(|at| wait(&self.slots, *at)).collect();
                    self.fail(Failure::Circle { waits });
                    continue;
                }
                Err(Stop::StandStill) => {
                    self.fail(Failure::Deadlock { waits: self.waits() });
                    continue;
                }
                Err(stop) => {
                    self.stopped = Some(stop);
                    self.ending = true;
                    continue;
                }
            };
            if self.guide.has_news() {
                if let Some(report_news) = self.report_news {
                    report_news(self);
                }
            }
            clock.store(now + STEP, Ordering::Relaxed);
            self.looks.pass(&self.slots, at, &enabled, now + STEP);
            self.slots[at].goes();
            for (other, slot) in self.slots.iter_mut().enumerate() {
                // Another thread has moved: what it waits for may have come.
                slot.yielded &= other == at;
                slot.slept &= other == at;
                slot.looked &= other == at;
            }
            break Next::Goes(at, Signal::Go);
        };
        self.enabled = enabled;
        if let Next::Goes(at, _) = next {
            self.current = Some(at);
        }
        next
    }

    /// What a thread sees that looks at the clock at this time.
    pub(in crate::sched) fn shown(&self, now: u64) -> u64 {
        self.looks.shown(now)
    }

    /// Whether a thread stands before an operation that would not block.
    fn is_ready(&self, at: usize, now: u64) -> bool {
        let slot = &self.slots[at];
        let late = || self.guide.is_time_up(slot).unwrap_or_else(|| slot.is_late(now));
        slot.status == Status::Ready && slot.is_ready(late) && !self.is_kept_out(at)
    }

    /// Whether a thread is about to share a lock that another waits to take exclusively, and has to
    /// let that one go first. In the program that one may not have asked for the lock yet, though
    /// it is about to: so a schedule that is followed decides by itself.
    fn is_kept_out(&self, at: usize) -> bool {
        let intent = &self.slots[at].intent;
        intent.after_writers
            && !self.guide.lets_readers_pass()
            && self.has_waiting_writer(intent.object, at)
    }

    /// Whether a thread other than this one waits to take a lock exclusively.
    pub(in crate::sched) fn has_waiting_writer(&self, lock: usize, but: usize) -> bool {
        let mut slots = self.slots.iter().enumerate();
        slots.any(|(at, slot)| at != but && slot.is_waiting_writer(lock))
    }

    /// The deadline that comes next, of those that have not passed.
    fn earliest(&self, now: u64) -> Option<u64> {
        let sleeping = self.slots.iter().filter(|slot| slot.status == Status::Ready);
        sleeping.filter_map(|slot| slot.deadline).filter(|deadline| *deadline > now).min()
    }

    /// Something went wrong, and the run ends here. The first thing counts.
    pub(in crate::sched) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
        self.ending = true;
    }

    /// Who is sent away next: in turn, so that a thread that refuses to go does not keep the
    /// others.
    fn farewell(&mut self, clock: &AtomicU64) -> Next {
        self.farewell += 1;
        loop {
            let now = clock.load(Ordering::Relaxed);
            let count = self.slots.len();
            let first = self.current.map_or(0, |current| current + 1);
            let goes = |slot: &Slot| {
                slot.status == Status::Ready
                    && (slot.can_leave || slot.is_ready(|| slot.is_late(now)))
            };
            let mut others = (0..count).map(|at| (first + at) % count);
            if self.farewell <= FAREWELL {
                if let Some(at) = others.find(|&at| goes(&self.slots[at])) {
                    self.slots[at].goes();
                    return Next::Goes(at, Signal::Leave);
                }
                if let Some(deadline) = self.earliest(now) {
                    clock.store(deadline, Ordering::Relaxed);
                    continue;
                }
            }
            self.current = None;
            let left = |slot: &Slot| matches!(slot.status, Status::Running | Status::Outside);
            if self.slots.iter().any(left) {
                // Who waits may wait for one of those.
                return Next::Nobody;
            }
            for slot in &mut self.slots {
                if slot.status == Status::Ready {
                    slot.status = Status::Abandoned;
                }
            }
            return Next::Over;
        }
    }

    /// Where each thread stands that has not ended, and who holds what it waits for.
    pub(in crate::sched) fn waits(&self) -> Vec<Wait> {
        let live = |slot: &&Slot| !matches!(slot.status, Status::Finished | Status::Abandoned);
        let waits = self.slots.iter().enumerate().filter(|(_, slot)| live(slot));
        waits.map(|(at, _)| wait(&self.slots, at)).collect()
    }

    /// The path, and the name that the program gave to the thread.
    pub(in crate::sched) fn name(&self, at: usize) -> String {
        self.slots[at].name().shown
    }
}
