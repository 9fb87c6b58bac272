//! Probabilistic concurrency testing.
//!
//! After Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic
//! Guarantees of Finding Bugs" (ASPLOS 2010). Every thread has a random priority, and the highest
//! that can go on goes on. At `depth` - 1 random steps the thread that would go drops below all
//! others. A bug of that depth is found with probability of at least 1 / (n·k^(depth-1)), of n
//! threads and k steps, if the length of the run was guessed right.
//!
//! Deviations: k is the length of the longest run so far, which the seed carries along. A thread
//! that says that it spins is passed over until another has moved, whatever its priority: the
//! paper's guarantee is for programs that do not spin.

use super::choice::Choice;
use super::random::Numbers;

pub(in crate::sched) struct Pct {
    pub(super) numbers: Numbers,
    /// By slot; the greater goes first. Those that were lowered are below [`FIRST`].
    priorities: Vec<u64>,
    /// The steps at which a priority is lowered, and to what.
    changes: Vec<(u64, u64)>,
}

/// Priorities that threads start with are not below this.
const FIRST: u64 = 1 << 32;

impl Pct {
    pub(in crate::sched) fn new(depth: u32, length: u64, seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let length = usize::try_from(length.max(1)).unwrap_or(usize::MAX).min(u32::MAX as usize);
        let changes = (1..depth)
            .map(|lowest| (numbers.below(length) as u64 + 1, u64::from(lowest)))
            .collect();
        Self { numbers, priorities: Vec::new(), changes }
    }

    pub(super) fn pick(&mut self, choice: &Choice<'_>) -> usize {
        while self.priorities.len() < choice.slots.len() {
            let random = self.numbers.below(1 << 24) as u64;
            // The slot's number decides between equals.
            self.priorities.push(FIRST + (random << 20) + self.priorities.len() as u64);
        }
        let mut at = self.highest(choice.enabled);
        for &(step, lowered) in &self.changes {
            if step == choice.step {
                self.priorities[at] = lowered;
                at = self.highest(choice.enabled);
            }
        }
        at
    }

    fn highest(&self, enabled: &[usize]) -> usize {
        let highest = enabled.iter().copied().max_by_key(|&at| self.priorities[at]);
        highest.expect("there is always somebody to choose")
    }
}
