//! What `since` relies on: the reads of a thread that may have found something else.

use racelog::trace::Stamp;

/// What a thread has read since it was last sure to have found what it found: at a branch that
/// nobody passes otherwise. It says up to which event of the thread an expression relies on its
/// reads: no further than to the last of these.
#[derive(Debug, Default)]
pub(super) struct UnsureReads {
    /// The stamps of these events, and their numbers.
    events: Vec<(u64, u64)>,
}

/// So many are remembered.
const MOST: usize = 1 << 16;

impl UnsureReads {
    /// The thread is sure of all so far.
    pub(super) fn clear(&mut self) {
        self.events.clear();
    }

    pub(super) fn add(&mut self, stamp: Stamp, number: u64) {
        if self.events.len() >= MOST {
            // To rely on more than was said is safe.
            self.events.drain(..MOST / 2);
        }
        self.events.push((stamp.get(), number));
    }

    /// The number of the last of them up to a stamp.
    pub(super) fn up_to(&self, stamp: Stamp) -> Option<u64> {
        let count = self.events.partition_point(|(known, _)| *known <= stamp.get());
        // Those that are forgotten may have been up to there.
        let last = count.checked_sub(1).or_else(|| (self.events.len() >= MOST / 2).then_some(0));
        Some(self.events[last?].1)
    }
}
