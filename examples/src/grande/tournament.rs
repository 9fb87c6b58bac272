//! The barrier of the Java Grande benchmarks: a tournament of flags.
//!
//! In each round of the tournament one thread of four waits for the other three, and goes on for
//! them. The one who is left announces the end by its flag, on which all others spin. The meaning
//! of the flags changes from one use to the next, so that they need not be set back.
//!
//! In the original the flags are plain memory behind a volatile reference: racy, and all that the
//! barrier should order is racy with them. Here they are atomics, of the orderings that are asked
//! for: `Acquire` and `Release` make a barrier, `Relaxed` does not.

use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

/// How many threads play in a match.
const RADIX: usize = 4;

/// A barrier for a fixed number of threads.
pub(super) struct Tournament {
    flags: Vec<AtomicBool>,
    set: Ordering,
    look: Ordering,
}

impl Tournament {
    /// A barrier that orders what is before it and what is after it.
    pub(super) fn new(threads: usize) -> Self {
        Self::with(threads, Ordering::Release, Ordering::Acquire)
    }

    /// A barrier that threads wait at, but that orders nothing else.
    pub(super) fn relaxed(threads: usize) -> Self {
        Self::with(threads, Ordering::Relaxed, Ordering::Relaxed)
    }

    fn with(threads: usize, set: Ordering, look: Ordering) -> Self {
        Self { flags: (0..threads).map(|_| AtomicBool::new(false)).collect(), set, look }
    }

    /// Waits until all threads are here. `sense` is false at first, and changes every time.
    pub(super) fn wait(&self, me: usize, sense: &mut bool) {
        *sense = !*sense;
        let mut spacing = 1;
        while spacing < self.flags.len() && me.is_multiple_of(spacing * RADIX) {
            for other in (1..RADIX).map(|place| me + place * spacing) {
                if other < self.flags.len() {
                    self.spin(other, *sense);
                }
            }
            spacing *= RADIX;
        }
        self.flags[me].store(*sense, self.set);
        self.spin(0, *sense);
    }

    fn spin(&self, thread: usize, sense: bool) {
        while self.flags[thread].load(self.look) != sense {
            thread::yield_now();
        }
    }
}
