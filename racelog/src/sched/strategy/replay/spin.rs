//! Threads that wait by spinning for what is not under control.
//!
//! A thread that spins is let go when it is its turn, and looks again. What it looks at may be
//! nothing that is recorded, such as the count of an `Arc` of std's, and change only when a thread
//! goes on that the schedule holds up. Then it would spin until time is up. So after a million
//! rounds in which nobody has done anything the replay ends, as with a thread that blocks where
//! nobody sees it.

use super::{Action, Choice, Intent, Replay, Stands, Stop, Why, slot};

/// How often threads spin or sleep while nobody does anything.
const MAX_SPINS: u32 = 1_000_000;

impl Replay {
    /// Lets the thread go that was picked, if it has not spun too often.
    pub(super) fn unless_it_spins(
        &mut self,
        choice: &Choice<'_>,
        picked: usize,
    ) -> Result<usize, Stop> {
        let Intent { action, .. } = choice.slots[picked].intent;
        if self.confirmed || !matches!(action, Action::Yield | Action::Sleep) {
            return Ok(picked);
        }
        self.spins += 1;
        if self.spins <= MAX_SPINS {
            return Ok(picked);
        }
        let thread = &choice.slots[picked].path;
        let coming = self.coming.get(thread).and_then(|steps| steps.front().copied());
        let at_end = self.schedule.next.iter().position(|step| step.operation.thread == *thread);
        let at = coming.unwrap_or_else(|| self.done.len() + at_end.unwrap_or(0));
        let mut wait = slot::wait(choice.slots, picked);
        wait.outside = true;
        self.diverge(at, Why::Blocked(Stands { ended: false, wait }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::outcome::Reached;
    use crate::sched::model::slot::Slot;
    use crate::trace::{Op, Value, VarId};

    #[test]
    fn a_thread_that_spins_while_nothing_happens_is_given_up() {
        let text = "racelog-schedule 4\nrace 0 write x\nrace 0.1 write x\n";
        let mut replay = Replay::new(text.parse().unwrap());
        let slot = |path: &str, action| {
            let mut slot = Slot::new(path.to_owned(), None, None);
            slot.intent = Intent::new(action, 8, None);
            slot
        };
        let slots = [slot("0", Action::Yield), slot("0.1", Action::Write)];
        let choice =
            Choice { enabled: &[1], spinning: &[0], slots: &slots, current: None, step: 0, now: 0 };
        let spin = |replay: &mut Replay| (0..MAX_SPINS).all(|_| replay.pick(&choice) == Ok(0));
        assert!(spin(&mut replay));
        // Something has happened.
        replay.observe("0.2", &Op::Exclusive { var: VarId::new(9), value: Value::Nat(1) }, None);
        assert!(spin(&mut replay));
        assert_eq!(replay.pick(&choice), Err(Stop::Diverged));
        let Reached::Diverged(divergence) = replay.progress().reached else {
            panic!("it diverged")
        };
        let Why::Blocked(stands) = divergence.why else { panic!("{divergence}") };
        assert_eq!((divergence.step, stands.wait.outside), (1, true));
    }
}
