//! Puts the events of one operation side by side.
//!
//! An operation can be several events: a bounded channel is two of them, a lock with readers two locks. To
//! a witness any order of events is as good as another; a program does an operation as a whole. The
//! trace does not say which events belong together, so neighbours of a thread that come from the
//! same place in the source are tried.
//!
//! Soundness: every change is replayed by the checker, and taken back if that refuses it. Where no order
//! keeps an operation whole the witness stays as it is, and the program may diverge there.

use crate::semantics::Machine;
use crate::trace::{EventId, Trace};
use crate::witness::{Checker, Schedule};

/// How often the checker is asked at most: each time takes as long as the witness.
const ATTEMPTS: usize = 2_000;

/// The same witness, with fewer operations that others interrupt, if that is to be had.
pub(super) fn keep_operations_whole(trace: &Trace, witness: &[EventId]) -> Vec<EventId> {
    let machine = Machine::new(trace);
    let mut whole = Whole {
        trace,
        checker: Checker::new(&machine),
        witness: witness.to_vec(),
        attempts: ATTEMPTS,
    };
    for group in whole.groups() {
        if !whole.is_split(&group) || whole.gather(&group) {
            continue;
        }
        // There may be more than one operation in it.
        for two in group.windows(2) {
            if whole.is_split(two) {
                whole.gather(two);
            }
        }
    }
    whole.witness
}

struct Whole<'m, 'a> {
    trace: &'a Trace,
    checker: Checker<'m, 'a>,
    witness: Vec<EventId>,
    attempts: usize,
}

impl Whole<'_, '_> {
    fn steps(&self) -> &[EventId] {
        &self.witness[..self.witness.len().saturating_sub(2)]
    }

    /// Neighbours of a thread that have the same place in the source.
    fn groups(&self) -> Vec<Vec<EventId>> {
        let mut threads = vec![Vec::new(); self.trace.thread_count()];
        for &event in self.steps() {
            threads[self.trace.thread(event).get() as usize].push(event);
        }
        let same = |a: &EventId, b: &EventId| {
            let place = self.trace.location(*a);
            place.is_some() && place == self.trace.location(*b)
        };
        let groups = threads.iter().flat_map(|events| events.chunk_by(same));
        groups.filter(|group| group.len() > 1).map(<[EventId]>::to_vec).collect()
    }

    fn position(&self, event: EventId) -> Option<usize> {
        self.steps().iter().position(|step| *step == event)
    }

    fn is_split(&self, group: &[EventId]) -> bool {
        let start = group.first().and_then(|first| self.position(*first));
        start.is_some_and(|start| self.steps().get(start..start + group.len()) != Some(group))
    }

    /// Moves all of a group to where its first event is, or its last.
    fn gather(&mut self, group: &[EventId]) -> bool {
        for place in [group.first(), group.last()] {
            let Some(at) = place.and_then(|event| self.position(*event)) else { return false };
            let (before, after) = self.witness.split_at(at);
            let others = |events: &[EventId]| -> Vec<EventId> {
                events.iter().filter(|event| !group.contains(event)).copied().collect()
            };
            let rest = [others(before), group.to_vec(), others(after)].concat();
            let Some(left) = self.attempts.checked_sub(1) else { return false };
            self.attempts = left;
            let schedule = Schedule { observed: 0, rest };
            if self.checker.check(&schedule).is_ok() {
                self.witness = schedule.rest;
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::format::{Format, Source};

    fn whole(text: &str, witness: &[u64]) -> Vec<u64> {
        let mut source = Source::of_bytes(text.as_bytes().to_vec(), Some(Format::Text)).unwrap();
        let trace = Trace::load(&mut source, |_| {}).unwrap();
        let events = witness.iter().map(|number| EventId::from_number(*number).unwrap());
        let whole = keep_operations_whole(&trace, &events.collect::<Vec<_>>());
        whole.iter().map(|event| event.number()).collect()
    }

    const TRACE: &str = "\
        a acquire gate @ m.rs:1\n\
        a acquire lock @ m.rs:1\n\
        a write x 1 @ m.rs:2\n\
        a release lock @ m.rs:1\n\
        a release gate @ m.rs:1\n\
        b write y 1 @ m.rs:3\n\
        b write x 2 @ m.rs:4\n";

    #[test]
    fn the_events_of_an_operation_come_together() {
        assert_eq!(whole(TRACE, &[1, 6, 2, 3, 7]), [1, 2, 6, 3, 7]);
    }

    #[test]
    fn what_the_checker_refuses_stays_as_it_was() {
        // Two operations at one place: the first finds nothing, the second what was sent meanwhile.
        let text = "b recv_empty c @ m.rs:2\na send c 1 @ m.rs:1\nb recv c 1 @ m.rs:2\n\
                    a write y 1\nb write y 2\n";
        assert_eq!(whole(text, &[1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]);
    }
}
