//! The simulated program.

use std::collections::VecDeque;

use racelog::trace::{
    CondvarId, Dictionary, Event, Item, LocId, Location, LockId, Object, Op, Patience, Stamp,
    StrId, ThreadId, Value, VarId,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Plan;
use super::circles::{Circles, Section, Seeded};
use super::seeds::{self, Due, Seed};
use crate::trace::format::SinkError;

/// How many variables no lock guards, if any are asked for.
pub(super) const LOOSE: usize = 10;

/// What a thread is going to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Acquire(usize),
    Release(usize),
    Read {
        var: usize,
        branch: bool,
    },
    Write {
        var: usize,
    },
    Wait {
        condvar: usize,
    },
    Wake {
        condvar: usize,
    },
    NotifyAll {
        condvar: usize,
    },
    Race {
        race: usize,
        second: bool,
    },
    /// An access of a variable that no lock guards.
    Loose {
        var: usize,
        writes: bool,
        branch: bool,
    },
    /// Waits until a circle's sections before the one with this number are over.
    Enter {
        circle: usize,
        turn: usize,
    },
    /// The end of a circle's section.
    Leave {
        circle: usize,
    },
    /// An event of a circle.
    Seeded(Seeded),
    /// What threads do all the time, once.
    Work,
}

#[derive(Debug, Default)]
struct Thread {
    steps: VecDeque<Step>,
    waits: bool,
    notified: bool,
}

pub(super) struct World<'a, W> {
    plan: &'a Plan,
    random: ChaCha8Rng,
    write: W,
    dictionary: Dictionary,
    file: StrId,
    races_file: StrId,
    /// Where deadlocks are, and other circles.
    circles_files: [StrId; 2],
    threads: Vec<Thread>,
    /// Who holds each lock.
    holders: Vec<Option<usize>>,
    values: Vec<u64>,
    /// The values of the seeded races' variables.
    race_values: Vec<u64>,
    loose_values: [u64; LOOSE],
    sections: Vec<Section>,
    /// How many sections of each circle are over.
    turns: Vec<usize>,
    due: VecDeque<Due>,
    events: usize,
    fresh: u64,
}

impl<'a, W: FnMut(&Dictionary, &Item) -> Result<(), SinkError>> World<'a, W> {
    pub(super) fn new(plan: &'a Plan, mut random: ChaCha8Rng, write: W) -> Self {
        let mut dictionary = Dictionary::new();
        let mut string = |text| dictionary.string(text).expect("an empty dictionary has room");
        let (file, races_file) = (string("src/worker.rs"), string("src/races.rs"));
        let circles_files = [string("src/deadlocks.rs"), string("src/circles.rs")];
        let circles = Circles::new(plan);
        let due = seeds::all(plan, &circles.sections, &mut random);
        let mut world = Self {
            plan,
            random,
            write,
            dictionary,
            file,
            races_file,
            circles_files,
            threads: (0..plan.threads).map(|_| Thread::default()).collect(),
            holders: vec![None; plan.locks],
            values: vec![0; plan.vars],
            race_values: vec![0; plan.near_races + plan.far_races],
            loose_values: [0; LOOSE],
            sections: circles.sections,
            turns: vec![0; plan.deadlocks + plan.false_circles],
            due,
            events: 0,
            fresh: 0,
        };
        world.name_objects(circles.locks);
        world
    }

    fn name_objects(&mut self, locks: Vec<(LockId, String)>) {
        let plan = self.plan;
        let mut name = |object, name: String| {
            self.dictionary.name(object, &name).expect("a new name for a new object");
        };
        for race in 0..plan.near_races + plan.far_races {
            let kind = if race < plan.near_races { "near" } else { "far" };
            name(Object::Var(VarId::new((plan.vars + race) as u32)), format!("{kind}{race}"));
        }
        for (lock, text) in locks {
            name(Object::Lock(lock), text);
        }
    }

    /// Half of the threads, the later ones, are listeners.
    fn is_listener(&self, thread: usize) -> bool {
        thread >= self.plan.threads.div_ceil(2)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.random_range(0..limit)
    }

    fn chance(&mut self, part: f64) -> bool {
        self.random.random_bool(part)
    }

    pub(super) fn run(mut self) -> Result<Dictionary, SinkError> {
        for thread in 1..self.plan.threads {
            self.emit(0, Op::Fork(ThreadId::new(thread as u32)), 1)?;
        }
        while self.events < self.plan.events || !self.due.is_empty() {
            self.plan_seeds();
            let thread = self.below(self.plan.threads);
            self.turn(thread, true)?;
        }
        self.wind_up()?;
        Ok(self.dictionary)
    }

    /// All threads finish the steps that they have begun. A thread may begin to wait after the
    /// others have sent their last notification, so the first thread, which never waits, wakes it.
    fn wind_up(&mut self) -> Result<(), SinkError> {
        for condvar in 0..self.plan.condvars {
            self.emit(0, Op::NotifyAll(CondvarId::new(condvar as u32)), 2)?;
        }
        for thread in self.threads.iter_mut().filter(|thread| thread.waits) {
            thread.notified = true;
        }
        let mut unfinished = self.threads.iter().filter(|thread| !thread.steps.is_empty()).count();
        for turn in 0_usize.. {
            if unfinished == 0 {
                break;
            }
            // Looking at all threads takes time, so it is done once for that many turns.
            if turn.is_multiple_of(self.plan.threads)
                && self.threads[0].steps.is_empty()
                && let Some(condvar) = self.awaited_in_vain()
            {
                self.notify_all(0, condvar)?;
            }
            let thread = self.below(self.plan.threads);
            let had_steps = !self.threads[thread].steps.is_empty();
            self.turn(thread, false)?;
            unfinished -= usize::from(had_steps && self.threads[thread].steps.is_empty());
        }
        for thread in 1..self.plan.threads {
            self.emit(0, Op::Join(ThreadId::new(thread as u32)), 3)?;
        }
        Ok(())
    }

    /// A condvar on which a thread waits that is not notified.
    fn awaited_in_vain(&self) -> Option<usize> {
        let waiting = self.threads.iter().filter(|thread| thread.waits && !thread.notified);
        waiting.filter_map(|thread| thread.steps.front()).find_map(|step| match step {
            Step::Wake { condvar } => Some(*condvar),
            _ => None,
        })
    }

    /// Gives what is seeded and due to its threads.
    fn plan_seeds(&mut self) {
        while let Some(due) = self.due.front().filter(|due| due.at <= self.events).copied() {
            self.due.pop_front();
            let steps = &mut self.threads[due.thread].steps;
            match due.what {
                Seed::Access { race, second } => steps.push_back(Step::Race { race, second }),
                Seed::Section { number, turn } => {
                    let Section { circle, steps: section, .. } = &mut self.sections[number];
                    let circle = *circle;
                    steps.push_back(Step::Enter { circle, turn });
                    steps.extend(std::mem::take(section));
                    steps.push_back(Step::Leave { circle });
                }
            }
        }
    }

    /// A thread takes a step, if it can. If it has none and is to go on, it thinks of some.
    fn turn(&mut self, thread: usize, go_on: bool) -> Result<(), SinkError> {
        if self.threads[thread].steps.is_empty() && go_on {
            self.think(thread);
        }
        let Some(step) = self.threads[thread].steps.front().copied() else { return Ok(()) };
        match step {
            Step::Acquire(lock) => {
                if self.holders[lock].is_some() {
                    return Ok(());
                }
                self.holders[lock] = Some(thread);
                self.emit(thread, Op::Acquire(LockId::new(lock as u32)), 10)?;
            }
            Step::Release(lock) => {
                self.holders[lock] = None;
                self.emit(thread, Op::Release(LockId::new(lock as u32)), 11)?;
            }
            Step::Read { var, branch } => {
                let value = Value::Nat(self.values[var].into());
                let line = self.line(thread, var, false);
                self.emit(thread, Op::Read { var: VarId::new(var as u32), value }, line)?;
                if branch {
                    self.emit(thread, Op::Branch, line + 1)?;
                }
            }
            Step::Write { var } => {
                self.fresh += 1;
                // Some values come again, others do not.
                let fresh = if self.chance(0.5) { self.fresh } else { self.fresh % 4 };
                self.values[var] = fresh;
                let line = self.line(thread, var, true);
                let value = Value::Nat(fresh.into());
                self.emit(thread, Op::Write { var: VarId::new(var as u32), value }, line)?;
            }
            Step::Wait { condvar } => {
                let lock = self.lock_of(condvar);
                self.holders[lock] = None;
                self.threads[thread].waits = true;
                let (condvar, lock) = (CondvarId::new(condvar as u32), LockId::new(lock as u32));
                self.emit(thread, Op::Wait { condvar, lock }, 12)?;
            }
            Step::Wake { condvar } => {
                let lock = self.lock_of(condvar);
                if !self.threads[thread].notified || self.holders[lock].is_some() {
                    return Ok(());
                }
                self.holders[lock] = Some(thread);
                (self.threads[thread].waits, self.threads[thread].notified) = (false, false);
                let (condvar, lock) = (CondvarId::new(condvar as u32), LockId::new(lock as u32));
                self.emit(thread, Op::Wake { condvar, lock }, 12)?;
            }
            Step::NotifyAll { condvar } => self.notify_all(thread, condvar)?,
            Step::Race { race, second } => self.race(thread, race, second)?,
            Step::Loose { var, writes, branch } => self.loose(thread, var, writes, branch)?,
            Step::Enter { circle, turn } => {
                if self.turns[circle] < turn {
                    return Ok(());
                }
            }
            Step::Leave { circle } => self.turns[circle] += 1,
            Step::Seeded(seeded) => self.seeded(thread, &seeded)?,
            Step::Work => {
                let work = self.section(thread);
                self.threads[thread].steps.pop_front();
                work.into_iter().rev().for_each(|s| self.threads[thread].steps.push_front(s));
                return Ok(());
            }
        }
        self.threads[thread].steps.pop_front();
        Ok(())
    }

    /// The lock that guards a variable or goes with a condvar.
    fn lock_of(&self, number: usize) -> usize {
        number % self.plan.locks
    }

    fn notify_all(&mut self, thread: usize, condvar: usize) -> Result<(), SinkError> {
        self.emit(thread, Op::NotifyAll(CondvarId::new(condvar as u32)), 13)?;
        for other in &mut self.threads {
            let wakes =
                matches!(other.steps.front(), Some(Step::Wake { condvar: c }) if *c == condvar);
            other.notified |= other.waits && wakes;
        }
        Ok(())
    }

    fn race(&mut self, thread: usize, race: usize, second: bool) -> Result<(), SinkError> {
        let var = VarId::new((self.plan.vars + race) as u32);
        let line = 1 + 2 * race as u32 + u32::from(second);
        // Every other race is a read and a write, the others are two writes. No talker reads, for
        // then what it does would depend on a listener.
        let op = if !second && race.is_multiple_of(2) {
            Op::Read { var, value: Value::Nat(self.race_values[race].into()) }
        } else {
            self.race_values[race] += 1;
            Op::Write { var, value: Value::Nat(self.race_values[race].into()) }
        };
        let location = Location::Source { file: self.races_file, line, column: Some(5) };
        self.emit_at(thread, op, location)
    }

    /// An event of a circle. Only one thread at a time is in a circle, so it can always happen.
    fn seeded(&mut self, thread: usize, seeded: &Seeded) -> Result<(), SinkError> {
        let Seeded { op, patience, by, circle, line } = *seeded;
        let file = self.circles_files[usize::from(circle >= self.plan.deadlocks)];
        let location = Location::Source { file, line, column: Some(5) };
        self.emit_patient(by.unwrap_or(thread), op, patience, location)
    }

    fn loose(
        &mut self,
        thread: usize,
        var: usize,
        writes: bool,
        branch: bool,
    ) -> Result<(), SinkError> {
        let races = self.race_values.len();
        let id = VarId::new((self.plan.vars + races + var) as u32);
        // Few values, so that a read has many writes to choose from.
        if writes {
            self.loose_values[var] = self.below(3) as u64;
        }
        let value = Value::Nat(self.loose_values[var].into());
        let line = 5000 + 4 * var as u32 + u32::from(writes);
        let op = if writes { Op::Write { var: id, value } } else { Op::Read { var: id, value } };
        self.emit(thread, op, line)?;
        if branch { self.emit(thread, Op::Branch, line + 2) } else { Ok(()) }
    }

    /// A thread decides what to do next.
    fn think(&mut self, thread: usize) {
        if self.plan.condvars > 0 && self.chance(0.002) {
            return self.think_of_condvar(thread);
        }
        if self.chance(self.plan.unguarded) {
            let (var, writes) = (self.below(LOOSE), self.chance(0.4));
            let branch = !writes && self.chance(self.plan.branches);
            self.threads[thread].steps.push_back(Step::Loose { var, writes, branch });
            return;
        }
        let steps = self.section(thread);
        self.threads[thread].steps.extend(steps);
    }

    /// A critical section, perhaps with another one in it.
    fn section(&mut self, thread: usize) -> Vec<Step> {
        let lock = self.below(self.plan.locks.min(self.plan.vars));
        let mut steps = vec![Step::Acquire(lock)];
        self.think_of_accesses(thread, lock, &mut steps);
        let inner = lock + 1;
        if inner < self.plan.locks.min(self.plan.vars) && self.chance(self.plan.nested) {
            steps.push(Step::Acquire(inner));
            self.think_of_accesses(thread, inner, &mut steps);
            steps.push(Step::Release(inner));
        }
        steps.push(Step::Release(lock));
        steps
    }

    /// Talkers wait for one another, as long as one is left to talk.
    fn think_of_condvar(&mut self, thread: usize) {
        let condvar = self.below(self.plan.condvars);
        let talkers = self.plan.threads.div_ceil(2);
        let waiting = self.threads[..talkers].iter().filter(|thread| {
            thread.waits || thread.steps.iter().any(|step| matches!(step, Step::Wait { .. }))
        });
        let enough = waiting.count() + 1 < talkers.div_ceil(2);
        let lock = self.lock_of(condvar);
        // The first thread does not wait: in the end it has to wake the others. Nor does any thread
        // where there are circles: all that could wake it may wait for its turn in one of them.
        let may_wait = thread > 0 && !self.is_listener(thread) && enough && self.turns.is_empty();
        let steps = if may_wait && self.chance(0.3) {
            let wait = [Step::Wait { condvar }, Step::Wake { condvar }];
            [Step::Acquire(lock)].into_iter().chain(wait).chain([Step::Release(lock)]).collect()
        } else if self.is_listener(thread) {
            Vec::new()
        } else {
            vec![Step::NotifyAll { condvar }]
        };
        self.threads[thread].steps.extend(steps);
    }

    fn think_of_accesses(&mut self, thread: usize, lock: usize, steps: &mut Vec<Step>) {
        for _ in 0..1 + self.below(4) {
            let var = self.guarded_by(lock);
            let mine = self.owner(var).is_none_or(|owner| owner == thread);
            let shared = self.owner(var).is_none();
            if shared && !self.is_listener(thread) && self.chance(0.4)
                || mine && !shared && self.chance(0.5)
            {
                steps.push(Step::Write { var });
            } else if mine {
                let branch = self.chance(self.plan.branches);
                steps.push(Step::Read { var, branch });
            }
        }
    }

    /// One of a lock's variables; half of the time a hot one.
    fn guarded_by(&mut self, lock: usize) -> usize {
        let (locks, vars) = (self.plan.locks, self.plan.vars);
        let count = (vars - lock).div_ceil(locks);
        let hot = ((count as f64 * self.plan.hot).ceil() as usize).clamp(1, count);
        let place = if self.chance(0.5) { self.below(hot) } else { self.below(count) };
        lock + place * locks
    }

    /// The listener that owns a variable: every fourth has an owner.
    fn owner(&self, var: usize) -> Option<usize> {
        let talkers = self.plan.threads.div_ceil(2);
        let listeners = self.plan.threads - talkers;
        let place = var / self.plan.locks;
        (place % 4 == 3).then(|| talkers + place / 4 % listeners)
    }

    /// The place in the program of an access: a few for each kind.
    fn line(&self, thread: usize, var: usize, writes: bool) -> u32 {
        let kind = 2 * u32::from(self.is_listener(thread)) + u32::from(writes);
        100 + 40 * (var as u32 % 50) + 10 * kind
    }

    fn emit(&mut self, thread: usize, op: Op<Value>, line: u32) -> Result<(), SinkError> {
        let location = Location::Source { file: self.file, line, column: Some(9) };
        self.emit_at(thread, op, location)
    }

    fn emit_at(
        &mut self,
        thread: usize,
        op: Op<Value>,
        location: Location,
    ) -> Result<(), SinkError> {
        self.emit_patient(thread, op, Patience::Forever, location)
    }

    fn emit_patient(
        &mut self,
        thread: usize,
        op: Op<Value>,
        patience: Patience,
        location: Location,
    ) -> Result<(), SinkError> {
        let location: LocId = self.dictionary.location(location).expect("the file is known");
        self.events += 1;
        let event = Event {
            thread: ThreadId::new(thread as u32),
            stamp: Stamp::new(self.events as u64),
            op,
            location: Some(location),
            recorded: true,
            patience,
        };
        (self.write)(&self.dictionary, &Item::Event(event))
    }
}
