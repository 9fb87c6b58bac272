//! The end of a schedule that leads to a race.

use std::collections::VecDeque;

use super::{Choice, Phase, Replay, Stop, Why, find, is_free, stands};
use crate::contract::operation::{FREE, Operation};
use crate::contract::schedule::{Aim, Step};
use crate::rt::Action;
use crate::sched::model::intent::Intent;
use crate::sched::model::place::is_at;
use crate::sched::model::slot::Slot;

impl Replay {
    /// Brings both threads to their accesses, and then lets them go in the order that is asked for.
    pub(super) fn race(
        &mut self,
        choice: &Choice<'_>,
        done: usize,
        goes_first: usize,
    ) -> Result<usize, Stop> {
        let slots = [0, 1].map(|at| find(choice, &self.schedule.next[at].operation.thread));
        if done == 0 {
            // Where a free stands is known only by what the other thread is about to access.
            let first = usize::from(is_free(&self.schedule.next[0]));
            for at in [first, 1 - first] {
                let access = &self.schedule.next[at].operation;
                let Some(slot) = slots[at] else {
                    // The thread that frees may stand at an earlier free, before what lets the
                    // other come.
                    if let Some(freeing) = slots[1 - at]
                        .filter(|slot| choice.slots[*slot].intent.action == Action::Free)
                    {
                        let other = &self.schedule.next[1 - at].operation;
                        self.turn = Some((other.thread.clone(), false));
                        return Ok(freeing);
                    }
                    if let Some(deadline) = self.undecided(choice) {
                        return Err(Stop::Sleep(deadline));
                    }
                    let why = stands(choice.slots, &access.thread);
                    return self.diverge(self.done.len() + at, why);
                };
                if !is_before(access, &choice.slots[slot].intent) {
                    self.turn = Some((access.thread.clone(), false));
                    return Ok(slot);
                }
            }
        }
        let order = [goes_first, 1 - goes_first];
        let slot = slots[order[done]];
        if let [Some(a), Some(b)] = slots {
            if done == 0 {
                if !choice.slots[a].intent.races_with(&choice.slots[b].intent) {
                    // A thread may free several things one after the other.
                    if let Some(at) = self.schedule.next.iter().position(is_free) {
                        let thread = &self.schedule.next[at].operation.thread;
                        self.turn = Some((thread.clone(), false));
                        return Ok([a, b][at]);
                    }
                    return self.diverge(self.done.len(), Why::Apart);
                }
                self.confirm();
            }
        }
        self.turn = None;
        self.phase = if done == 0 { Phase::End(1) } else { Phase::After };
        // What the first did may have ended the other's chance; then the rest is free.
        Ok(slot.unwrap_or(choice.enabled[0]))
    }

    /// Whether a thread is to stop before a free: it has done all its steps and is to free what the
    /// other thread is about to access. As long as that one is not there, it may be any free.
    pub(in crate::sched) fn waits_for_free(
        &self,
        slot: usize,
        intent: &Intent,
        slots: &[Slot],
    ) -> bool {
        let own = |access: &Step| access.operation.thread == slots[slot].path;
        if !matches!(self.schedule.aim, Aim::Race { .. }) {
            return false;
        }
        let Some(at) = self.schedule.next.iter().position(|access| is_free(access) && own(access))
        else {
            return false;
        };
        let other = &self.schedule.next[1 - at].operation;
        let its_slot = slots.iter().find(|slot| slot.path == other.thread);
        let stands = its_slot.filter(|slot| is_before(other, &slot.intent));
        self.is_on_its_way()
            && self.coming.get(&slots[slot].path).is_none_or(VecDeque::is_empty)
            && stands.is_none_or(|slot| slot.intent.races_with(intent))
    }
}

/// Whether a thread stands before an access.
fn is_before(access: &Operation, intent: &Intent) -> bool {
    let is_there = |place| is_at(place, intent.here);
    intent.action.is_access()
        && (access.op == FREE) == (intent.action == Action::Free)
        && access.place.as_ref().is_none_or(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Op, ThreadId};

    #[test]
    fn a_thread_stops_before_the_free_that_its_schedule_ends_with() {
        let text = "racelog-schedule 4\nstep 0 fork 0.1\nrace 0 free x\nrace 0.1 write x\n";
        let mut replay = Replay::new(text.parse().unwrap());
        let slot = |path: &str, action, address: usize| {
            let mut slot = Slot::new(path.to_owned(), None, None);
            slot.intent = Intent::new(action, address, None).with_size(8);
            slot
        };
        let free = |address| Intent::new(Action::Free, address, None).with_size(64);
        let alone = [slot("0", Action::Spawn, 0)];
        assert!(!replay.waits_for_free(0, &free(0x100), &alone), "a step is to come");
        replay.observe("0", &Op::Fork(ThreadId::new(1)), None);
        assert!(replay.waits_for_free(0, &free(0x100), &alone), "it may be any free");
        let both = [slot("0", Action::Spawn, 0), slot("0.1", Action::Write, 0x108)];
        assert!(replay.waits_for_free(0, &free(0x100), &both));
        assert!(!replay.waits_for_free(0, &free(0x200), &both), "that is another's memory");
        assert!(!replay.waits_for_free(1, &free(0x100), &both), "the other thread frees nothing");
    }
}
