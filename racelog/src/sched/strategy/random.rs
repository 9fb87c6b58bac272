//! Uniform random walk: every thread that can go on is as likely as any other.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::choice::Choice;

/// Random numbers that a seed alone decides.
///
/// Boxed: guides are handed on, and these are large.
pub(super) struct Numbers(Box<ChaCha8Rng>);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(Box::new(ChaCha8Rng::seed_from_u64(seed)))
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // The bias of a 32-bit number among so few threads is nothing that a test could notice.
        ((u64::from(self.0.next_u32()) * bound as u64) >> 32) as usize
    }

    pub(super) fn coin(&mut self) -> bool {
        self.0.next_u32() & 1 == 1
    }
}

pub(in crate::sched) struct Random {
    pub(super) numbers: Numbers,
}

impl Random {
    pub(in crate::sched) fn new(seed: u64) -> Self {
        Self { numbers: Numbers::new(seed) }
    }

    pub(super) fn pick(&mut self, choice: &Choice<'_>) -> usize {
        match choice.enabled {
            [only] => *only,
            several => several[self.numbers.below(several.len())],
        }
    }
}
