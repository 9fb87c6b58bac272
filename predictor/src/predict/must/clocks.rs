//! A vector clock for each event, kept only where it changes.

use racelog::trace::ThreadId;

use crate::index::near;

/// A clock for each event.
#[derive(Debug)]
pub(super) struct Clocks {
    threads: Vec<OfThread>,
}

/// The clocks of a thread's events.
#[derive(Clone, Debug)]
struct OfThread {
    /// The positions at which the clock changes.
    starts: Vec<u32>,
    /// What the clock is from there on: one number a thread, for each start.
    counts: Vec<u32>,
}

impl Clocks {
    pub(super) fn new(threads: usize) -> Self {
        let zero = OfThread { starts: vec![0], counts: vec![0; threads] };
        Self { threads: vec![zero; threads] }
    }

    pub(super) fn at(&self, thread: ThreadId, position: usize) -> &[u32] {
        let OfThread { starts, counts } = &self.threads[thread.index()];
        let last = starts.last().map_or(0, |last| *last as usize);
        let likely = near::likely(starts.len(), position, last);
        let after = near::partition_point(starts, likely, |start| *start as usize <= position);
        &counts[(after - 1) * self.threads.len()..][..self.threads.len()]
    }

    pub(super) fn raised_at(&self, thread: ThreadId, position: usize) -> Option<&[u32]> {
        let OfThread { starts, counts } = &self.threads[thread.index()];
        let at = starts.binary_search(&(position as u32)).ok()?;
        Some(&counts[at * self.threads.len()..][..self.threads.len()])
    }

    /// The thread's clock as it is now.
    pub(super) fn last(&self, thread: ThreadId) -> &[u32] {
        let counts = &self.threads[thread.index()].counts;
        &counts[counts.len() - self.threads.len()..]
    }

    /// The first position of a thread whose clock has more of another thread than this.
    pub(super) fn first_beyond(
        &self,
        thread: ThreadId,
        other: ThreadId,
        count: usize,
    ) -> Option<usize> {
        let OfThread { starts, counts } = &self.threads[thread.index()];
        // Clocks never fall, so the places are sorted by what is looked for.
        let (mut low, mut high) = (0, starts.len());
        while low < high {
            let middle = (low + high) / 2;
            if counts[middle * self.threads.len() + other.index()] as usize <= count {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        starts.get(low).map(|start| *start as usize)
    }

    /// From this position on, the thread's clock is at least this.
    pub(super) fn raise(&mut self, thread: ThreadId, position: usize, least: &[u32]) {
        let last = self.last(thread);
        if last.iter().zip(least).all(|(mine, least)| mine >= least) {
            return;
        }
        let width = self.threads.len();
        let OfThread { starts, counts } = &mut self.threads[thread.index()];
        if starts.last() != Some(&(position as u32)) {
            starts.push(position as u32);
            counts.extend_from_within(counts.len() - width..);
        }
        let at = counts.len() - width;
        for (mine, least) in counts[at..].iter_mut().zip(least) {
            *mine = (*mine).max(*least);
        }
    }
}
