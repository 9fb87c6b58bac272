//! Which propositions conflicts have been about lately, and which of those to decide next.

/// How active each proposition is, and a heap of those that wait for a decision.
#[derive(Debug)]
pub(super) struct Activity {
    of: Vec<f64>,
    increment: f64,
    /// The waiting ones: each is at least as active as those at twice its place, plus one and two.
    heap: Vec<u32>,
    /// The place of each proposition in the heap.
    places: Vec<u32>,
}

const DECAY: f64 = 0.95;
const LARGEST: f64 = 1e100;
const NOWHERE: u32 = u32::MAX;

impl Default for Activity {
    fn default() -> Self {
        Self { of: Vec::new(), increment: 1.0, heap: Vec::new(), places: Vec::new() }
    }
}

impl Activity {
    /// Adds a proposition.
    pub(super) fn grow(&mut self) {
        self.of.push(0.0);
        self.places.push(NOWHERE);
    }

    pub(super) fn of(&self, proposition: usize) -> f64 {
        self.of[proposition]
    }

    pub(super) fn bump(&mut self, proposition: usize) {
        self.of[proposition] += self.increment;
        if self.of[proposition] > LARGEST {
            for activity in &mut self.of {
                *activity /= LARGEST;
            }
            self.increment /= LARGEST;
        }
        let place = self.places[proposition];
        if place != NOWHERE {
            self.rise(place as usize);
        }
    }

    /// What was bumped before counts less than what is bumped from now on.
    pub(super) fn decay(&mut self) {
        self.increment /= DECAY;
    }

    /// Has a proposition wait for a decision, if it has been active at all.
    pub(super) fn wait(&mut self, proposition: usize) {
        if self.places[proposition] == NOWHERE && self.of[proposition] > 0.0 {
            self.heap.push(proposition as u32);
            self.rise(self.heap.len() - 1);
        }
    }

    /// The most active one that waits; it waits no longer.
    pub(super) fn next(&mut self) -> Option<usize> {
        let next = *self.heap.first()?;
        let last = self.heap.pop()?;
        self.places[next as usize] = NOWHERE;
        if last != next {
            self.heap[0] = last;
            self.sink(0);
        }
        Some(next as usize)
    }

    fn less(&self, a: u32, b: u32) -> bool {
        self.of[a as usize] < self.of[b as usize]
    }

    fn put(&mut self, place: usize, proposition: u32) {
        self.heap[place] = proposition;
        self.places[proposition as usize] = place as u32;
    }

    fn rise(&mut self, mut place: usize) {
        let moved = self.heap[place];
        while place > 0 && self.less(self.heap[(place - 1) / 2], moved) {
            self.put(place, self.heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        self.put(place, moved);
    }

    fn sink(&mut self, mut place: usize) {
        let moved = self.heap[place];
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let larger = match (self.heap.get(left), self.heap.get(right)) {
                (Some(a), Some(b)) if self.less(*a, *b) => right,
                (Some(_), _) => left,
                (None, _) => break,
            };
            if !self.less(moved, self.heap[larger]) {
                break;
            }
            self.put(place, self.heap[larger]);
            place = larger;
        }
        self.put(place, moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_count_most() {
        let mut activity = Activity::default();
        (0..3).for_each(|_| activity.grow());
        activity.bump(0);
        activity.decay();
        activity.bump(1);
        assert!(activity.of(1) > activity.of(0) && activity.of(0) > activity.of(2));
        (0..10_000).for_each(|_| {
            activity.bump(2);
            activity.decay();
        });
        assert!(activity.of(2).is_finite() && activity.of(2) > activity.of(1));
    }

    #[test]
    fn the_most_active_comes_first_and_once() {
        let mut activity = Activity::default();
        (0..100).for_each(|_| activity.grow());
        for proposition in 1..100 {
            activity.bump(proposition);
            (0..proposition * 37 % 100).for_each(|_| activity.bump(proposition));
            activity.wait(proposition);
            activity.wait(proposition);
        }
        // What has never been active does not wait.
        activity.wait(0);
        activity.bump(50);
        let order: Vec<usize> = std::iter::from_fn(|| activity.next()).collect();
        assert_eq!(order.len(), 99);
        assert!(order.is_sorted_by(|a, b| activity.of(*a) >= activity.of(*b)));
    }
}
