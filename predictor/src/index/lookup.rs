//! What is looked up by event or by value: sorted lists, which are smaller than hash tables and
//! need no allocation an entry.

use std::ops::Index;

use racelog::trace::VarId;

use super::near;
use crate::trace::{EventId, Trace, ValueId};

/// A map from events that is filled in the trace's order.
#[derive(Debug)]
pub(crate) struct EventMap<T> {
    entries: Vec<(EventId, T)>,
}

impl<T> Default for EventMap<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> EventMap<T> {
    /// Adds an event that comes after all that are in the map.
    pub(crate) fn insert(&mut self, event: EventId, value: T) {
        debug_assert!(self.entries.last().is_none_or(|(last, _)| *last < event));
        self.entries.push((event, value));
    }

    pub(crate) fn get(&self, event: &EventId) -> Option<&T> {
        let last = self.entries.last()?.0;
        let likely = near::likely(self.entries.len(), event.index(), last.index() + 1);
        let at = near::partition_point(&self.entries, likely, |(other, _)| other < event);
        self.entries.get(at).filter(|(other, _)| other == event).map(|(_, value)| value)
    }
}

impl<T> Index<&EventId> for EventMap<T> {
    type Output = T;

    fn index(&self, event: &EventId) -> &T {
        self.get(event).expect("the event is in the map")
    }
}

/// The writes of a trace by variable and value.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    /// Where the writes of each variable start, and at last where those of the last one end.
    starts: Vec<u32>,
    /// What each of the events writes; sorted, for each variable.
    values: Vec<ValueId>,
    events: Vec<EventId>,
}

impl Writes {
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut writes = Self { starts: vec![0], ..Self::default() };
        let mut of_var: Vec<(ValueId, EventId)> = Vec::new();
        for var in trace.vars() {
            let accesses = trace.events_of_var(var).iter();
            of_var.clear();
            of_var.extend(accesses.filter_map(|event| {
                let value = trace.op(*event).left().copied()?;
                Some((value, *event))
            }));
            of_var.sort_unstable();
            writes.values.extend(of_var.iter().map(|(value, _)| *value));
            writes.events.extend(of_var.iter().map(|(_, event)| *event));
            writes.starts.push(writes.events.len() as u32);
        }
        writes
    }

    /// The writes of a value to a variable, in the trace's order.
    pub(crate) fn get(&self, var: VarId, value: ValueId) -> &[EventId] {
        let (start, end) =
            (self.starts[var.index()] as usize, self.starts[var.index() + 1] as usize);
        let values = &self.values[start..end];
        let first = values.partition_point(|other| *other < value);
        // Most values are written once or a few times: the end is near.
        let mut reach = 1;
        while values.get(first + reach) == Some(&value) {
            reach *= 2;
        }
        let near = &values[first..values.len().min(first + reach)];
        let count = near.partition_point(|other| *other == value);
        &self.events[start + first..][..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_by_what_they_write() {
        let trace: Trace =
            "t write x 1\nt write y 1\nt write x 2\nt read x 2\nt write x 1\n".parse().unwrap();
        let writes = Writes::new(&trace);
        let value = |number| trace.op(EventId::from_number(number).unwrap()).left().copied();
        let (one, two) = (value(1).unwrap(), value(3).unwrap());
        let [x, y] = [0, 1].map(VarId::new);
        let numbers =
            |var, value| writes.get(var, value).iter().map(|e| e.number()).collect::<Vec<_>>();
        assert_eq!(numbers(x, one), [1, 5]);
        assert_eq!(numbers(x, two), [3]);
        assert_eq!(numbers(y, one), [2]);
        assert!(numbers(y, two).is_empty());
    }

    #[test]
    fn events_that_were_not_inserted_are_not_found() {
        let mut map = EventMap::default();
        map.insert(EventId::from_index(3), 'a');
        map.insert(EventId::from_index(7), 'b');
        assert_eq!(map.get(&EventId::from_index(7)), Some(&'b'));
        assert_eq!(map.get(&EventId::from_index(5)), None);
    }
}
