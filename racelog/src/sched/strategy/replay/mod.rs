//! Replays a schedule up to its aim: a race, threads that stand still, or a message to nobody.
//!
//! The schedule is a witness: an order of events, and the operations that the threads are about to
//! do after that. Here the threads are let go in that order, and their operations are compared with
//! those of the schedule, event by event, as the recorder sees them. An operation that is several
//! events happens as a whole: when the schedule comes to the first of them, or as soon after that
//! as the operation does not block. The aim says which state is looked for at the end: see `race`,
//! `hang` and `send`.
//!
//! Whom a notification wakes and whether a wait ends by its time is the schedule's, too: see
//! `decisions`.
//!
//! Claim: if a race is confirmed, both threads stood before the racing accesses at the same time.
//! If a deadlock or a stall is, its threads were asked, and can no longer go on. If a message to
//! nobody is, the channel has refused it. If nothing is confirmed, the replay says at which step,
//! and why: a thread did something else, which is that of a program that depends on more than its
//! schedule; or it is not there, or cannot go on.
//!
//! Known misses: an operation of several events that others interrupt in the schedule, and where it
//! makes a difference to them. Such a schedule diverges.

mod decisions;
mod failure;
mod hang;
mod progress;
mod race;
mod send;

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use self::progress::Divergence;
pub(in crate::sched) use self::progress::{Progress, Reached, Stands, Why};
use super::choice::{Choice, Stop};
use super::random::Numbers;
use crate::contract::operation::{AccessValues, FREE, Operation};
use crate::contract::outcome::{EarlyStep, OtherValue, ThreadValues};
use crate::contract::schedule::{Aim, Schedule, Step};
use crate::rt::{Action, CallSite};
use crate::sched::model::intent::Intent;
use crate::sched::model::place::{is_at, place_of};
use crate::sched::model::slot::{self, Slot, Status};
use crate::sched::schedule::steps_to_follow;
use crate::trace::{self, Op, Value};

/// How far a replay is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Before the end of the schedule.
    Approach,
    /// All steps are done; of a race this many of the racing accesses, too.
    End(usize),
    /// It was seen.
    After,
}

pub(in crate::sched) struct Replay {
    schedule: Schedule,
    done: Vec<bool>,
    /// The steps of each thread that are not done.
    coming: FxHashMap<String, VecDeque<usize>>,
    /// The step that each thread did last.
    last: FxHashMap<String, usize>,
    /// All steps before this are done.
    next: usize,
    phase: Phase,
    /// Names of the schedule, and the objects that they turned out to be.
    objects: FxHashMap<String, trace::Object>,
    names: FxHashMap<trace::Object, String>,
    /// Who has its turn, and whether it has done one of its steps in it.
    turn: Option<(String, bool)>,
    divergence: Option<Divergence>,
    /// The first step that came before its time, with the operation that it belongs to.
    early: Option<usize>,
    /// The first access with another value than the schedule says.
    value: Option<OtherValue>,
    confirmed: bool,
    /// Something has happened that is to be told.
    news: bool,
    /// What the racing accesses read or wrote.
    values: Vec<ThreadValues>,
    pub(super) numbers: Numbers,
}

impl Replay {
    pub(in crate::sched) fn new(schedule: Schedule) -> Self {
        let schedule = steps_to_follow(schedule);
        let mut coming: FxHashMap<String, VecDeque<usize>> = FxHashMap::default();
        for (at, step) in schedule.steps.iter().enumerate() {
            coming.entry(step.operation.thread.clone()).or_default().push_back(at);
        }
        Self {
            coming,
            last: FxHashMap::default(),
            done: vec![false; schedule.steps.len()],
            schedule,
            next: 0,
            phase: Phase::Approach,
            objects: FxHashMap::default(),
            names: FxHashMap::default(),
            turn: None,
            divergence: None,
            early: None,
            value: None,
            confirmed: false,
            news: false,
            values: Vec::new(),
            numbers: Numbers::new(0),
        }
    }

    /// Whether its aim is still ahead, and can be reached.
    pub(super) fn is_on_its_way(&self) -> bool {
        !self.confirmed && self.divergence.is_none()
    }

    /// Whether something has happened since this was last asked.
    pub(super) fn has_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    /// Whether threads that share a lock pass by others that wait to take it: in the program those
    /// may not have asked yet, so it is the schedule's to say until all its steps are done.
    pub(super) fn lets_readers_pass(&self) -> bool {
        self.is_on_its_way() && !self.is_to_stand_still()
    }

    /// Whether its threads are to wait for ever.
    fn leads_to_standstill(&self) -> bool {
        matches!(self.schedule.aim, Aim::Deadlock | Aim::Stall)
    }

    /// Whether all its steps are done, and its threads are to wait for ever now.
    fn is_to_stand_still(&self) -> bool {
        self.leads_to_standstill() && self.phase != Phase::Approach
    }

    /// What a thread has to do yet, up to where the schedule ends.
    fn coming(&self, thread: &str) -> impl Iterator<Item = &Operation> {
        let steps = self.coming.get(thread).into_iter().flatten();
        let next = self.schedule.next.iter().filter(move |step| step.operation.thread == thread);
        let steps = steps.map(|&at| &self.schedule.steps[at]);
        steps.chain(next).map(|step| &step.operation)
    }

    /// The aim is reached.
    fn confirm(&mut self) {
        (self.confirmed, self.news) = (true, true);
    }

    /// How many steps were followed.
    pub(in crate::sched) fn followed(&self) -> usize {
        self.done.iter().filter(|done| **done).count()
    }

    pub(in crate::sched) fn progress(&self) -> Progress {
        if self.confirmed {
            return Progress { reached: Reached::Confirmed, values: self.values.clone() };
        }
        let reached = match &self.divergence {
            Some(divergence) => Reached::Diverged(Box::new(divergence.clone())),
            None => {
                let expected = self.expected(self.next).operation.clone();
                Reached::Unreached { step: number_of(self.next), expected }
            }
        };
        Progress { reached, values: Vec::new() }
    }

    /// How far it came if there are threads that are not under control: no stall was seen, for any
    /// of them may do what is waited for.
    pub(in crate::sched) fn progress_beside_others(&self) -> Progress {
        if !self.confirmed || self.schedule.aim != Aim::Stall {
            return self.progress();
        }
        let step = number_of(self.done.len());
        let expected = self.schedule.next[0].operation.clone();
        let (why, early, differs) = (Why::GoesOn, None, None);
        let divergence = Divergence { step, expected, why, early, differs };
        Progress { reached: Reached::Diverged(Box::new(divergence)), values: Vec::new() }
    }

    /// The step at this place, or the first operation of its end if there are no more.
    fn expected(&self, at: usize) -> &Step {
        self.schedule.steps.get(at).unwrap_or(&self.schedule.next[0])
    }

    pub(super) fn pick(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        if self.divergence.is_some() {
            return Err(Stop::Diverged);
        }
        if self.phase == Phase::Approach {
            while self.done.get(self.next) == Some(&true) {
                self.next += 1;
            }
            if self.next < self.done.len() {
                return self.approach(choice);
            }
            self.phase = Phase::End(0);
            if self.leads_to_standstill() {
                // From here on writers that wait keep readers out: it is asked anew who can go on.
                return Err(Stop::Sleep(choice.now));
            }
        }
        if let Phase::End(done) = self.phase {
            return match self.schedule.aim {
                Aim::Race { first } => self.race(choice, done, first),
                Aim::Deadlock => self.deadlock(choice),
                Aim::Stall => self.stall(choice),
                Aim::SendToNobody | Aim::Failure => self.send(choice),
            };
        }
        // What follows is anybody's guess: a random walk.
        let all = if choice.enabled.is_empty() { choice.spinning } else { choice.enabled };
        Ok(all[self.numbers.below(all.len())])
    }

    /// Lets the thread of the next step go; while it blocks, those of later steps.
    fn approach(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        let mut blocked = FxHashSet::default();
        for at in self.next..self.done.len() {
            let thread = &self.schedule.steps[at].operation.thread;
            if self.done[at] || blocked.contains(thread) {
                continue;
            }
            if let Some(slot) = find(choice, thread) {
                self.turn = Some((thread.clone(), false));
                return Ok(slot);
            }
            blocked.insert(thread.clone());
        }
        if let Some(deadline) = self.undecided(choice) {
            return Err(Stop::Sleep(deadline));
        }
        let step = self.next;
        let why = stands(choice.slots, &self.schedule.steps[step].operation.thread);
        self.diverge(step, why)
    }

    fn diverge(&mut self, at: usize, why: Why) -> Result<usize, Stop> {
        let expected = match at.checked_sub(self.done.len()) {
            Some(access) => self.schedule.next[access].operation.clone(),
            None => self.schedule.steps[at].operation.clone(),
        };
        // What comes later in the schedule than this, and nevertheless came before.
        let early = self.early.filter(|early| at < *early);
        let early = early.map(|early| EarlyStep {
            step: number_of(early),
            operation: self.schedule.steps[early].operation.clone(),
        });
        let (step, differs) = (number_of(at), self.value.clone());
        self.divergence = Some(Divergence { step, expected, why, early, differs });
        Err(Stop::Diverged)
    }

    /// The thread has done this.
    pub(in crate::sched) fn observe(&mut self, thread: &str, op: &Op, here: Option<CallSite>) {
        if self.confirmed {
            self.note_value(thread, op);
            return;
        }
        if self.divergence.is_some() {
            return;
        }
        if self.is_sent_to_nobody(thread, op, here) {
            self.phase = Phase::After;
            self.confirm();
            return;
        }
        if self.is_failure(thread) {
            return self.fail();
        }
        let (name, object) = (op.keyword(), object_of(op));
        let at = self.coming.get(thread).and_then(|steps| steps.front().copied());
        let matches = at.is_some_and(|at| {
            let step = &self.schedule.steps[at].operation;
            step.op == name
                && step.place.as_ref().is_none_or(|place| is_at(place, here))
                && self.is_same(step.object.as_ref(), object)
        });
        if let (true, Some(at)) = (matches, at) {
            if let (Some(name), Some(object)) =
                (self.schedule.steps[at].operation.object.clone(), object)
            {
                self.names.insert(object, name.clone());
                self.objects.insert(name, object);
            }
            self.done[at] = true;
            self.last.insert(thread.to_owned(), at);
            self.coming.entry(thread.to_owned()).and_modify(|steps| _ = steps.pop_front());
            if let Some((_, stepped)) = &mut self.turn {
                // The first event of a turn is where others have let it; the next ones come with
                // it.
                while self.done.get(self.next) == Some(&true) {
                    self.next += 1;
                }
                if std::mem::replace(stepped, true) && self.next < at {
                    self.early.get_or_insert(at);
                }
            }
            self.compare_value(at, op);
            return;
        }
        // Of an operation that is several events, the schedule may need the first ones only, if
        // these are a thread's last steps; and what nobody else can reach at the time has no part
        // in any order.
        let in_turn = self.turn.as_ref().is_some_and(|(turn, stepped)| turn == thread && *stepped);
        if in_turn && at.is_none() || is_passed_over(op) {
            return;
        }
        let object = object.and_then(|object| self.names.get(&object)).cloned();
        let (thread_name, op) = (thread.to_owned(), name.to_owned());
        let (woken, place) = (None, place_of(here));
        let found = Operation { thread: thread_name, op, object, woken, place };
        let at_end = self.schedule.next.iter().position(|step| step.operation.thread == thread);
        let why = match at_end {
            // What it was to wait for has come, or it never had to.
            Some(end) if at.is_none() && self.is_next_operation(end, &found) => Why::GoesOn,
            _ => Why::Other(found),
        };
        let at = at.unwrap_or_else(|| self.done.len() + at_end.unwrap_or(0));
        let _ = self.diverge(at, why);
    }

    /// Whether a thread has done what it was to be about to do in the end, or the first event of
    /// that.
    fn is_next_operation(&self, end: usize, found: &Operation) -> bool {
        let next = &self.schedule.next[end].operation;
        !matches!(self.schedule.aim, Aim::Race { .. })
            && next.op == found.op
            && (next.place.is_none() || next.place == found.place)
    }

    /// Notes the first access whose value is not the one of its step.
    fn compare_value(&mut self, at: usize, op: &Op) {
        let access = &self.schedule.steps[at];
        let (Some(expected), Some(found)) = (&access.values, values_of(op)) else { return };
        let unknown = [&found.read, &found.wrote].iter().any(|it| it.as_deref() == Some(UNKNOWN));
        if self.value.is_none() && *expected != found && !unknown {
            let (access, predicted) = (access.operation.clone(), expected.clone());
            self.value = Some(OtherValue { step: number_of(at), access, predicted, found });
        }
    }

    /// Whether an object can be the one of this name.
    fn is_same(&self, name: Option<&String>, object: Option<trace::Object>) -> bool {
        let (Some(name), Some(object)) = (name, object) else { return true };
        match (self.objects.get(name), self.names.get(&object)) {
            (Some(known), _) => *known == object,
            (None, Some(known)) => known == name,
            (None, None) => true,
        }
    }

    fn note_value(&mut self, thread: &str, op: &Op) {
        // A free has no value, nor is it observed.
        let racing = |access: &Step| access.operation.thread == thread && !is_free(access);
        let is_race = matches!(self.schedule.aim, Aim::Race { .. });
        let racing = is_race && self.schedule.next.iter().any(racing);
        let noted = self.values.iter().any(|known| known.thread == thread);
        if !racing || noted {
            return;
        }
        let Some(values) = values_of(op) else { return };
        self.values.push(ThreadValues { thread: thread.to_owned(), values });
        self.news = true;
    }
}

/// The number of the step at this place: they are counted from 1.
fn number_of(at: usize) -> u64 {
    at as u64 + 1
}

/// The slot of a thread that can go on.
fn find(choice: &Choice<'_>, thread: &str) -> Option<usize> {
    let mut all = choice.enabled.iter().chain(choice.spinning).copied();
    all.find(|&slot| choice.slots[slot].path == thread)
}

/// Whether an access is the free of a destructor.
fn is_free(access: &Step) -> bool {
    access.operation.op == FREE
}

/// Stands for a value that has no number.
const UNKNOWN: &str = "_";

/// What an access reads and writes; nothing if it is no access.
fn values_of(op: &Op) -> Option<AccessValues> {
    AccessValues::of(op, |value| {
        Some(match value {
            Value::Nat(number) => number.to_string(),
            Value::Neg(number) => number.to_string(),
            _ => UNKNOWN.to_owned(),
        })
    })
}

/// Why a thread does not come.
fn stands(slots: &[Slot], thread: &str) -> Why {
    let find = |path: &str| slots.iter().position(|slot| slot.path == path);
    let stands = |at: usize| Stands {
        ended: slots[at].status == Status::Finished,
        wait: slot::wait(slots, at),
    };
    match find(thread) {
        None => {
            let parent = thread.rsplit_once('.').and_then(|(parent, _)| find(parent));
            Why::Absent(parent.map(stands))
        }
        Some(at) if slots[at].status == Status::Finished => Why::Ended,
        Some(at) => Why::Blocked(stands(at)),
    }
}

/// What an operation is done to. Not threads: they have their names, in every run.
fn object_of(op: &Op) -> Option<trace::Object> {
    op.object().filter(|object| !matches!(object, trace::Object::Thread(_)))
}

/// Whether an operation has no part in the order of a schedule: nobody else can notice it.
fn is_passed_over(op: &Op) -> bool {
    matches!(
        op,
        Op::Exclusive { .. }
            | Op::Assert(_)
            | Op::Check { .. }
            | Op::AtomicBegin(_)
            | Op::AtomicEnd
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::VarId;

    fn read(var: u32, value: u128) -> Op {
        Op::Read { var: VarId::new(var), value: Value::Nat(value) }
    }

    fn write(var: u32, value: u128) -> Op {
        Op::Write { var: VarId::new(var), value: Value::Nat(value) }
    }

    /// Replays the steps; each thread has a turn of its own for what it does in a row.
    fn diverge(steps: &str, turns: &[(&str, &[Op])]) -> Divergence {
        let text = format!("racelog-schedule 4\n{steps}race 0.1 write z\nrace 0.2 write z\n");
        let mut replay = Replay::new(text.parse().unwrap());
        for (thread, ops) in turns {
            replay.turn = Some(((*thread).to_owned(), false));
            ops.iter().for_each(|op| replay.observe(thread, op, None));
        }
        match replay.progress().reached {
            Reached::Diverged(divergence) => *divergence,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_program_does_at_once_is_told() {
        let steps = "step 0.1 read x\nstep 0.2 write x\nstep 0.2 read y\nstep 0.1 write x\n\
                     step 0.2 write y\n";
        // The update is one operation, so the write comes before its time, and the other thread
        // goes on as it can.
        let update = [read(1, 0), write(1, 1)];
        let found = diverge(steps, &[("0.1", &update), ("0.2", &[write(2, 1)])]);
        assert_eq!(found.step, 2);
        let Some(EarlyStep { step: 4, operation: early }) = &found.early else {
            panic!("{found:?}")
        };
        assert_eq!((early.thread.as_str(), early.op.as_str()), ("0.1", "write"));
        // In the order of the schedule nothing is early.
        let turns: [(&str, &[Op]); 3] =
            [("0.1", &update[..1]), ("0.2", &[write(1, 5), read(2, 0)]), ("0.1", &[write(3, 1)])];
        assert_eq!(diverge(steps, &turns).early, None);
    }

    #[test]
    fn the_first_value_that_differs_is_told() {
        let steps = "step 0.1 write x = wrote 7\nstep 0.2 read x = read 7\nstep 0.2 read y\n";
        let turns: [(&str, &[Op]); 2] =
            [("0.1", &[write(1, 8)]), ("0.2", &[read(1, 8), write(2, 1)])];
        let value = diverge(steps, &turns).differs.unwrap();
        assert_eq!((value.step, value.found.to_string()), (1, "wrote 8".to_owned()));
        let turns: [(&str, &[Op]); 2] =
            [("0.1", &[write(1, 7)]), ("0.2", &[read(1, 7), write(2, 1)])];
        assert_eq!(diverge(steps, &turns).differs, None);
    }
}
