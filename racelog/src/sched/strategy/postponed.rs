//! Threads that stand where they are to wait for others, while the others go on at random.
//!
//! Counts of steps decide when a thread has waited long enough, so that a seed does: one that was
//! postponed for very long goes on, and so does one while the others do no more than spin.

use std::collections::VecDeque;

use super::choice::Choice;
use super::random::Numbers;

/// For how many steps a thread stays postponed at most.
const PATIENCE: u64 = 250_000;

/// How often those who are not postponed may do no more than spin.
const SPINS: u32 = 1_000;

/// Threads that are postponed.
#[derive(Default)]
pub(super) struct Postponed {
    /// Since which step.
    threads: Vec<(usize, u64)>,
    /// Threads that go on before anybody else does.
    released: VecDeque<usize>,
    /// How often a thread has spun since the last change of the set.
    spins: u32,
}

/// Who is next.
pub(super) enum Next {
    /// This thread goes on, whatever it stands before.
    Goes(usize),
    /// This thread is next, unless it is to be postponed.
    Asks(usize),
}

impl Postponed {
    pub(super) fn next(&mut self, numbers: &mut Numbers, choice: &Choice<'_>) -> Next {
        if let Some(released) = self.released.pop_front() {
            return Next::Goes(released);
        }
        let long = |&(_, since): &(usize, u64)| choice.step - since > PATIENCE;
        if let Some(at) = self.threads.iter().position(long) {
            return Next::Goes(self.relieve(at));
        }
        let is_free = |at: &&usize| !self.threads.iter().any(|(slot, _)| slot == *at);
        let free = choice.enabled.iter().filter(is_free).count();
        if free == 0 {
            if !choice.spinning.is_empty() && self.spins < SPINS {
                self.spins += 1;
                return Next::Goes(choice.spinning[numbers.below(choice.spinning.len())]);
            }
            let at = numbers.below(self.threads.len());
            return Next::Goes(self.relieve(at));
        }
        let picked = if free == 1 { 0 } else { numbers.below(free) };
        let mut free = choice.enabled.iter().filter(is_free);
        Next::Asks(*free.nth(picked).expect("there are so many"))
    }

    /// The threads that are postponed.
    pub(super) fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.threads.iter().map(|(slot, _)| *slot)
    }

    pub(super) fn add(&mut self, at: usize, step: u64) {
        self.threads.push((at, step));
        self.spins = 0;
    }

    /// These go on next.
    pub(super) fn release(&mut self, threads: &[usize]) {
        self.threads.retain(|(slot, _)| !threads.contains(slot));
        self.released.extend(threads);
    }

    fn relieve(&mut self, at: usize) -> usize {
        self.spins = 0;
        self.threads.remove(at).0
    }
}
