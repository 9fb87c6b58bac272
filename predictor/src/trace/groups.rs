//! Events grouped by what they belong to, each group in the trace's order.

use super::EventId;

/// A list of events for each of a row of ids, in one piece of memory.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Where each group starts, and at last where the last one ends.
    starts: Vec<u32>,
    events: Vec<EventId>,
}

impl Groups {
    /// Groups the events for which `keys` gives an index below `groups`; `keys` must give the same
    /// each time it is called.
    pub fn new<I: Iterator<Item = Option<usize>>>(groups: usize, keys: impl Fn() -> I) -> Self {
        let mut starts = vec![0; groups + 1];
        for key in keys().flatten() {
            starts[key + 1] += 1;
        }
        for group in 0..groups {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut events = vec![EventId::from_index(0); starts[groups] as usize];
        for (index, key) in keys().enumerate() {
            if let Some(key) = key {
                events[next[key] as usize] = EventId::from_index(index);
                next[key] += 1;
            }
        }
        Self { starts, events }
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events of a group.
    #[inline]
    pub fn get(&self, group: usize) -> &[EventId] {
        &self.events[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_the_order_and_may_be_empty() {
        let keys = [Some(2), None, Some(0), Some(2)];
        let groups = Groups::new(3, || keys.into_iter());
        let numbers = |group| groups.get(group).iter().map(|e| e.number()).collect::<Vec<_>>();
        assert_eq!((numbers(0), numbers(1), numbers(2)), (vec![3], vec![], vec![1, 4]));
        assert_eq!(groups.len(), 3);
    }
}
