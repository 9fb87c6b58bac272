//! Vector clocks and epochs.
//!
//! After Flanagan and Freund, "FastTrack" (PLDI 2009). A thread's own component counts how often it
//! has published what it knows, so all that it does between two publications has one epoch: a
//! thread and a number. Whether an access comes before an event is then one comparison.

use racelog::trace::ThreadId;

use super::flow::{Knower, Knowledge};

/// A stretch of a thread in which it publishes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epoch {
    /// The thread.
    pub thread: ThreadId,
    /// Which stretch, from 1.
    pub count: u32,
}

/// A vector clock for each knower, in one piece of memory.
#[derive(Debug)]
pub struct Clocks {
    /// How many threads there are, and so how long each clock is.
    threads: usize,
    counts: Vec<u32>,
    /// If a knower has exactly the clock that a thread published, the epoch that ended with it. Who
    /// has seen that epoch knows all that the clock knows.
    published: Vec<Option<Epoch>>,
    free: Vec<Knower>,
}

impl Clocks {
    /// The clocks at the start of a trace with so many threads.
    pub fn new(threads: usize) -> Self {
        let mut counts = vec![0; threads * threads];
        for thread in 0..threads {
            counts[thread * threads + thread] = 1;
        }
        Self { threads, counts, published: vec![None; threads], free: Vec::new() }
    }

    /// The clock of a thread: how much of each thread it has seen.
    pub fn of(&self, thread: ThreadId) -> &[u32] {
        self.get(Knower::of(thread))
    }

    /// The epoch that a thread is in.
    pub fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch { thread, count: self.of(thread)[thread.index()] }
    }

    fn get(&self, knower: Knower) -> &[u32] {
        &self.counts[knower.index() * self.threads..][..self.threads]
    }

    /// Two different knowers.
    fn get_two(&mut self, to: Knower, from: Knower) -> (&mut [u32], &[u32]) {
        let (to, from, threads) = (to.index(), from.index(), self.threads);
        if to < from {
            let (low, high) = self.counts.split_at_mut(from * threads);
            (&mut low[to * threads..][..threads], &high[..threads])
        } else {
            let (low, high) = self.counts.split_at_mut(to * threads);
            (&mut high[..threads], &low[from * threads..][..threads])
        }
    }

    fn is_thread(&self, knower: Knower) -> bool {
        knower.index() < self.threads
    }
}

impl Knowledge for Clocks {
    fn new_knower(&mut self) -> Knower {
        if let Some(knower) = self.free.pop() {
            return knower;
        }
        let knower = Knower::from_index(self.published.len());
        self.counts.resize(self.counts.len() + self.threads, 0);
        self.published.push(None);
        knower
    }

    fn free(&mut self, knower: Knower) {
        self.clear(knower);
        self.free.push(knower);
    }

    fn clear(&mut self, knower: Knower) {
        let threads = self.threads;
        self.counts[knower.index() * threads..][..threads].fill(0);
        self.published[knower.index()] = None;
    }

    fn copy(&mut self, to: Knower, from: Knower) {
        let (target, source) = self.get_two(to, from);
        target.copy_from_slice(source);
        self.published[to.index()] = if self.is_thread(from) {
            Some(self.epoch(ThreadId::new(from.index() as u32)))
        } else {
            self.published[from.index()]
        };
    }

    fn join(&mut self, to: Knower, from: Knower) {
        if self.is_thread(to) {
            let seen = |epoch: Epoch| self.get(to)[epoch.thread.index()] >= epoch.count;
            if self.published[from.index()].is_some_and(seen) {
                return;
            }
        } else {
            self.published[to.index()] = None;
        }
        let (target, source) = self.get_two(to, from);
        for (target, source) in target.iter_mut().zip(source) {
            *target = (*target).max(*source);
        }
    }

    fn publish(&mut self, thread: ThreadId) {
        self.counts[thread.index() * self.threads + thread.index()] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_is_the_greater_of_each() {
        let (t0, t1) = (ThreadId::new(0), ThreadId::new(1));
        let mut clocks = Clocks::new(2);
        let knower = clocks.new_knower();
        clocks.copy(knower, Knower::of(t0));
        clocks.publish(t0);
        clocks.publish(t0);
        clocks.join(Knower::of(t1), knower);
        assert_eq!((clocks.of(t0), clocks.of(t1)), (&[3, 0][..], &[1, 1][..]));
        clocks.join(knower, Knower::of(t1));
        clocks.join(Knower::of(t0), knower);
        assert_eq!(clocks.of(t0), [3, 1]);
        assert_eq!(clocks.epoch(t0), Epoch { thread: t0, count: 3 });
    }

    #[test]
    fn a_place_that_is_free_knows_nothing_when_it_comes_back() {
        let mut clocks = Clocks::new(1);
        let knower = clocks.new_knower();
        clocks.copy(knower, Knower::of(ThreadId::new(0)));
        clocks.free(knower);
        assert_eq!(clocks.new_knower(), knower);
        assert_eq!(clocks.get(knower), [0]);
    }
}
