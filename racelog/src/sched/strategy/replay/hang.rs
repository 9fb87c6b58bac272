//! The end of a schedule in which threads stand still.
//!
//! All steps are done. Now each thread is let go until it stands where it is to wait. It may have
//! to do something before that leaves no event; whatever leaves one is none of the schedule's, and
//! the replay diverges. The clock of the run decides by itself when a time is up: a wait that ends
//! by its time is no wait for ever.
//!
//! Claim: a deadlock is confirmed only if none of its threads can go on, and each of them waits for
//! a lock or an initialiser that another of them holds, for one of them that waits to take that
//! lock before it, or for the end of one of them. So none of them ever goes on, whatever the others
//! do. A stall is confirmed only if its threads wait and no thread of the program can go on at all,
//! nor blocks outside of racelog, and no time-out is left.

use super::{
    Choice, Intent, Operation, Phase, Replay, Slot, Status, Stop, Why, find, is_at, stands,
};
use crate::contract::schedule::Aim;
use crate::sched::model::slot::obstacle;

impl Replay {
    /// Brings the threads to where they are to wait, and looks whether they wait for each other.
    pub(super) fn deadlock(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        let stuck = match self.bring_to_wait(choice)? {
            Brought::Goes(slot) => return Ok(slot),
            Brought::Wait(stuck) => stuck,
        };
        let by_others = |slot: usize| {
            let mut others = stuck.iter().filter(|other| **other != slot);
            others.any(|other| obstacle(choice.slots, slot, *other).is_some())
        };
        if let Some(apart) = stuck.iter().position(|slot| !by_others(*slot)) {
            return self.diverge(self.done.len() + apart, Why::Apart);
        }
        self.confirm();
        Err(Stop::Circle(stuck))
    }

    /// Brings the threads to where they are to wait, and looks whether any other can go on.
    pub(super) fn stall(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        if let Brought::Goes(slot) = self.bring_to_wait(choice)? {
            return Ok(slot);
        }
        if let Some(&other) = choice.enabled.iter().chain(choice.spinning).next() {
            self.turn = Some((choice.slots[other].path.clone(), false));
            return Ok(other);
        }
        self.confirm();
        Err(Stop::StandStill)
    }

    /// Picks a thread that is not yet where it is to wait. If all are, gives their slots.
    fn bring_to_wait(&mut self, choice: &Choice<'_>) -> Result<Brought, Stop> {
        // Who is there already comes last: it may be another's waiting that keeps it from going
        // on. If it can go on nevertheless, it is let go, for some operations look first and wait
        // then; what it does tells.
        for there in [false, true] {
            for step in &self.schedule.next {
                let operation = &step.operation;
                if let Some(slot) = find(choice, &operation.thread) {
                    if waits_at(operation, &choice.slots[slot].intent) == there {
                        self.turn = Some((operation.thread.clone(), false));
                        return Ok(Brought::Goes(slot));
                    }
                }
            }
        }
        if let Some(deadline) = self.undecided(choice) {
            return Err(Stop::Sleep(deadline));
        }
        let mut stuck = Vec::new();
        for at in 0..self.schedule.next.len() {
            let operation = &self.schedule.next[at].operation;
            let waits = |slot: &Slot| {
                slot.path == operation.thread
                    && slot.status == Status::Ready
                    && waits_at(operation, &slot.intent)
            };
            match choice.slots.iter().position(waits) {
                Some(slot) => stuck.push(slot),
                None => {
                    let why = stands(choice.slots, &operation.thread);
                    self.diverge(self.done.len() + at, why)?;
                }
            }
        }
        Ok(Brought::Wait(stuck))
    }

    /// Whether all that is left is to look at threads that wait for each other, which those that
    /// block elsewhere have no part in.
    pub(in crate::sched::strategy) fn needs_nobody_else(&self, slots: &[Slot]) -> bool {
        let is_ready = |thread: &str| {
            slots.iter().any(|slot| slot.path == thread && slot.status == Status::Ready)
        };
        self.schedule.aim == Aim::Deadlock
            && matches!(self.phase, Phase::End(_))
            && self.is_on_its_way()
            && self.schedule.next.iter().all(|step| is_ready(&step.operation.thread))
    }
}

/// Where the threads are that are to stand still.
enum Brought {
    /// This one is let go, to get there.
    Goes(usize),
    /// All wait there, in these slots.
    Wait(Vec<usize>),
}

/// Whether a thread stands before an operation that may wait, at the place of this one.
fn waits_at(operation: &Operation, intent: &Intent) -> bool {
    intent.action.waits_for().is_some()
        && operation.place.as_ref().is_none_or(|place| is_at(place, intent.here))
}

#[cfg(test)]
mod tests {
    use super::super::Reached;
    use super::*;
    use crate::rt::Action;
    use crate::sched::model::slot::Held;

    /// Threads 0, 1, … that stand before these operations.
    fn slots(intents: &[Intent]) -> Vec<Slot> {
        let slot = |(at, intent): (usize, &Intent)| {
            let mut slot = Slot::new(at.to_string(), None, None);
            slot.intent = *intent;
            slot
        };
        intents.iter().enumerate().map(slot).collect()
    }

    fn lock(object: usize) -> Intent {
        Intent::new(Action::Lock, object, None)
    }

    const fn held(lock: usize) -> Held {
        Held { lock, shared: false, here: None }
    }

    /// What a replay whose steps are done picks of threads of which these can go on.
    fn pick(ends: &str, slots: &[Slot], enabled: &[usize]) -> (Result<usize, Stop>, Replay) {
        let schedule = format!("racelog-schedule 4\n{ends}");
        let mut replay = Replay::new(schedule.parse().unwrap());
        let choice = Choice { enabled, spinning: &[], slots, current: None, step: 1, now: 0 };
        assert_eq!(replay.pick(&choice), Err(Stop::Sleep(0)), "it asks anew who can go on");
        (replay.pick(&choice), replay)
    }

    fn is_confirmed(replay: &Replay) -> bool {
        replay.progress().reached == Reached::Confirmed
    }

    const CIRCLE: &str = "deadlock 0 acquire b\ndeadlock 1 acquire a\n";

    #[test]
    fn threads_that_wait_for_each_other_are_a_deadlock_whatever_others_do() {
        let mut slots = slots(&[lock(8), lock(16), Intent::new(Action::Yield, 0, None)]);
        (slots[0].held, slots[1].held) = (vec![held(16)], vec![held(8)]);
        let (picked, replay) = pick(CIRCLE, &slots, &[2]);
        assert_eq!(picked, Err(Stop::Circle(vec![0, 1])));
        assert!(is_confirmed(&replay));
    }

    #[test]
    fn threads_that_wait_for_a_third_are_no_deadlock() {
        let mut slots = slots(&[lock(8), lock(16), lock(24)]);
        (slots[0].held, slots[2].held) = (vec![held(16)], vec![held(8)]);
        let (picked, replay) = pick(CIRCLE, &slots, &[2]);
        assert_eq!(picked, Err(Stop::Diverged));
        let Reached::Diverged(divergence) = replay.progress().reached else {
            panic!("it diverged")
        };
        assert_eq!((divergence.step, divergence.why), (1, Why::Apart));
    }

    #[test]
    fn who_can_go_on_does_and_is_found_out_by_what_it_does() {
        let slots = slots(&[lock(8), lock(16)]);
        let (picked, mut replay) = pick(CIRCLE, &slots, &[1]);
        assert_eq!(picked, Ok(1));
        let taken = crate::trace::Op::Acquire(crate::trace::LockId::new(1));
        replay.observe("1", &taken, None);
        let Reached::Diverged(divergence) = replay.progress().reached else {
            panic!("it diverged")
        };
        assert_eq!((divergence.step, divergence.why), (2, Why::GoesOn));
    }

    #[test]
    fn a_stall_needs_all_to_wait() {
        let park = Intent::new(Action::Park, 0, None);
        let slots = slots(&[Intent::new(Action::Join, 2, None), park, lock(8)]);
        let (picked, replay) = pick("stall 1 park -\n", &slots, &[2]);
        assert_eq!((picked, is_confirmed(&replay)), (Ok(2), false));
        let (picked, replay) = pick("stall 1 park -\n", &slots, &[]);
        assert_eq!((picked, is_confirmed(&replay)), (Err(Stop::StandStill), true));
        // Beside threads that are not under control it is none.
        assert!(matches!(replay.progress_beside_others().reached, Reached::Diverged(_)));
    }

    #[test]
    fn a_thread_that_waits_elsewhere_is_not_where_it_should() {
        let mut slots = slots(&[lock(8), Intent::new(Action::Write, 16, None)]);
        slots[0].held = vec![held(16)];
        let (picked, replay) = pick(CIRCLE, &slots, &[]);
        assert_eq!(picked, Err(Stop::Diverged));
        let Reached::Diverged(divergence) = replay.progress().reached else {
            panic!("it diverged")
        };
        assert!(matches!(divergence.why, Why::Blocked(_)), "{divergence:?}");
    }
}
