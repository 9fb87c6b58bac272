//! Which proposition to decide next: the most active one.

/// A binary heap of propositions, the most active on top.
#[derive(Debug, Default)]
pub(super) struct ActivityHeap {
    heap: Vec<u32>,
    /// Where each proposition stands in the heap.
    place: Vec<u32>,
    activity: Vec<f64>,
    increment: f64,
}

const NOWHERE: u32 = u32::MAX;
const DECAY: f64 = 0.95;
const LARGEST: f64 = 1e100;

impl ActivityHeap {
    /// Adds a proposition.
    pub(super) fn grow(&mut self) {
        if self.activity.is_empty() {
            self.increment = 1.0;
        }
        self.place.push(NOWHERE);
        self.activity.push(0.0);
        self.insert(self.place.len() - 1);
    }

    pub(super) fn insert(&mut self, proposition: usize) {
        if self.place[proposition] == NOWHERE {
            self.heap.push(proposition as u32);
            self.place[proposition] = self.heap.len() as u32 - 1;
            self.rise(self.heap.len() - 1);
        }
    }

    pub(super) fn pop(&mut self) -> Option<usize> {
        let top = *self.heap.first()?;
        let last = self.heap.pop()?;
        self.place[top as usize] = NOWHERE;
        if last != top {
            self.heap[0] = last;
            self.place[last as usize] = 0;
            self.sink(0);
        }
        Some(top as usize)
    }

    pub(super) fn bump(&mut self, proposition: usize) {
        self.activity[proposition] += self.increment;
        if self.activity[proposition] > LARGEST {
            for activity in &mut self.activity {
                *activity /= LARGEST;
            }
            self.increment /= LARGEST;
        }
        if self.place[proposition] != NOWHERE {
            self.rise(self.place[proposition] as usize);
        }
    }

    pub(super) fn decay(&mut self) {
        self.increment /= DECAY;
    }

    fn is_above(&self, a: u32, b: u32) -> bool {
        // Of equally active ones, the older: the order of the encoding is a sensible order.
        let (x, y) = (self.activity[a as usize], self.activity[b as usize]);
        x > y || (x == y && a < b)
    }

    fn rise(&mut self, mut at: usize) {
        let moving = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.is_above(moving, self.heap[parent]) {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, moving);
    }

    fn sink(&mut self, mut at: usize) {
        let moving = self.heap[at];
        loop {
            let left = 2 * at + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let child =
                if right < self.heap.len() && self.is_above(self.heap[right], self.heap[left]) {
                    right
                } else {
                    left
                };
            if !self.is_above(self.heap[child], moving) {
                break;
            }
            self.put(at, self.heap[child]);
            at = child;
        }
        self.put(at, moving);
    }

    fn put(&mut self, at: usize, proposition: u32) {
        self.heap[at] = proposition;
        self.place[proposition as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_active_comes_first_then_the_oldest() {
        let mut heap = ActivityHeap::default();
        (0..6).for_each(|_| heap.grow());
        heap.bump(4);
        heap.decay();
        heap.bump(2);
        let order: Vec<usize> = std::iter::from_fn(|| heap.pop()).collect();
        assert_eq!(order, [2, 4, 0, 1, 3, 5]);
        heap.insert(3);
        heap.insert(4);
        assert_eq!(heap.pop(), Some(4));
    }
}
