//! A partial order of the events of some threads that grows by edges.
//!
//! For each two threads, a *staircase*: how many events of the one come before each event of the
//! other, kept where that changes. The order is closed under transitivity at all times, so that to
//! ask is a binary search, and to add an edge raises a staircase for each two threads.

/// An event: its thread, and its place there.
pub(super) type Event = (usize, u32);

/// What was added contradicts what is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Contradiction;

/// How many events of one thread come before each event of another: where that changes, and what it
/// is from there on. Both rise.
#[derive(Clone, Debug, Default)]
struct Staircase {
    steps: Vec<(u32, u32)>,
}

impl Staircase {
    fn at(&self, position: u32) -> u32 {
        let after = self.steps.partition_point(|(start, _)| *start <= position);
        if after == 0 { 0 } else { self.steps[after - 1].1 }
    }

    /// The first position with more than this.
    fn first_beyond(&self, count: u32) -> Option<u32> {
        let after = self.steps.partition_point(|(_, other)| *other <= count);
        self.steps.get(after).map(|(start, _)| *start)
    }

    /// From a position on, it is at least this.
    fn raise(&mut self, position: u32, count: u32) {
        let after = self.steps.partition_point(|(start, _)| *start < position);
        if after > 0 && self.steps[after - 1].1 >= count {
            return;
        }
        let covered = self.steps[after..].partition_point(|(_, other)| *other <= count);
        if self.steps.get(after).is_some_and(|(start, other)| *start == position && *other > count)
        {
            return;
        }
        self.steps.splice(after..after + covered, [(position, count)]);
    }
}

/// A partial order.
#[derive(Clone, Debug)]
pub(super) struct PartialOrder {
    threads: usize,
    /// Of each thread before each thread.
    stairs: Vec<Staircase>,
    before: Vec<u32>,
}

impl PartialOrder {
    /// Program order alone.
    pub(super) fn new(threads: usize) -> Self {
        Self { threads, stairs: vec![Staircase::default(); threads * threads], before: Vec::new() }
    }

    /// How many events of a thread come before an event.
    pub(super) fn count_before(&self, (thread, position): Event, other: usize) -> u32 {
        if thread == other {
            return position;
        }
        self.stairs[other * self.threads + thread].at(position)
    }

    /// The first event of a thread that comes after an event.
    pub(super) fn first_after(&self, (thread, position): Event, other: usize) -> Option<u32> {
        if thread == other {
            return Some(position + 1);
        }
        self.stairs[thread * self.threads + other].first_beyond(position)
    }

    /// Whether one event comes before another.
    pub(super) fn is_before(&self, a: Event, b: Event) -> bool {
        self.count_before(b, a.0) > a.1
    }

    /// Puts one event before another. Says whether that is new.
    pub(super) fn add(&mut self, a: Event, b: Event) -> Result<bool, Contradiction> {
        if a == b || self.is_before(b, a) {
            return Err(Contradiction);
        }
        if self.is_before(a, b) {
            return Ok(false);
        }
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        before.extend((0..self.threads).map(|other| self.count_before(a, other)));
        before[a.0] = a.1 + 1;
        for later in 0..self.threads {
            let first = if later == b.0 { Some(b.1) } else { self.first_after(b, later) };
            let Some(first) = first else { continue };
            for (earlier, count) in before.iter().enumerate() {
                if earlier != later && *count > 0 {
                    self.stairs[earlier * self.threads + later].raise(first, *count);
                }
            }
        }
        self.before = before;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_staircase_keeps_the_highest_steps() {
        let mut stairs = Staircase::default();
        stairs.raise(10, 3);
        stairs.raise(20, 2);
        assert_eq!((stairs.at(9), stairs.at(10), stairs.at(25)), (0, 3, 3));
        stairs.raise(5, 1);
        stairs.raise(10, 5);
        stairs.raise(10, 4);
        assert_eq!((stairs.at(5), stairs.at(10)), (1, 5));
        stairs.raise(4, 7);
        assert_eq!(stairs.steps, [(4, 7)]);
        assert_eq!((stairs.first_beyond(6), stairs.first_beyond(7)), (Some(4), None));
    }

    #[test]
    fn the_order_equals_a_search_for_paths() {
        const THREADS: usize = 3;
        const LENGTH: u32 = 6;
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut contradictions = 0;
        for _ in 0..300 {
            let mut order = PartialOrder::new(THREADS);
            let mut edges: Vec<(Event, Event)> = Vec::new();
            for _ in 0..12 {
                let mut event =
                    || (random.random_range(0..THREADS), random.random_range(0..LENGTH));
                let (a, b) = (event(), event());
                match order.add(a, b) {
                    Ok(new) => {
                        assert_eq!(new, !reaches(&edges, a, b));
                        edges.push((a, b));
                    }
                    Err(Contradiction) => {
                        assert!(a == b || reaches(&edges, b, a));
                        contradictions += 1;
                    }
                }
                for thread in 0..THREADS {
                    for position in 0..LENGTH {
                        for other in 0..THREADS {
                            let event = (thread, position);
                            let first = (0..LENGTH).find(|p| reaches(&edges, event, (other, *p)));
                            let known = order.first_after(event, other).filter(|p| *p < LENGTH);
                            assert_eq!(known, first, "{edges:?} {event:?} {other}");
                        }
                    }
                }
            }
        }
        assert!(contradictions > 300, "only {contradictions} contradictions");
    }

    /// Whether program order and edges lead from one event to another that is not the same.
    fn reaches(edges: &[(Event, Event)], from: Event, to: Event) -> bool {
        from.0 == to.0 && from.1 < to.1
            || edges.iter().any(|(start, end)| {
                start.0 == from.0
                    && from.1 <= start.1
                    && (end.0 == to.0 && end.1 <= to.1 || reaches(edges, *end, to))
            })
    }
}
