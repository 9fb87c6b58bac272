//! Puts the events of one operation side by side.
//!
//! An operation can be several events: a bounded channel is two of them, a lock with readers two
//! locks. To a witness any order of events is as good as another; a program does an operation as a
//! whole. The trace does not say which events belong together, so neighbours of a thread that come
//! from the same place in the source are tried. What is done to a bounded channel is kept together
//! by a lock that the recorder adds, the only ones that are taken without a place in the source; an
//! operation of which the witness has only the first events is left out, where nobody needs them.
//!
//! Soundness: every change is replayed by the checker, and taken back if that refuses it. Where no
//! order keeps an operation whole the witness stays as it is, and the program may diverge there; so
//! it may if the witness has only the first events of an operation, and the others make a
//! difference.

use racelog::trace::LocId;

use crate::goal::Goal;
use crate::trace::{EventId, Op, Trace};
use crate::witness::{Checker, Witness};

/// How often the checker is asked at most: each time takes as long as the witness.
const ATTEMPTS: usize = 2_000;

/// How often each operation is looked at.
const ROUNDS: usize = 3;

/// The events of a witness in an order in which others interrupt fewer operations, if that is to be
/// had.
pub(super) fn keep_operations_whole(trace: &Trace, witness: &Witness) -> Vec<EventId> {
    let mut whole = Whole {
        trace,
        checker: Checker::new(trace),
        goal: &witness.goal,
        steps: witness.prefix().collect(),
        attempts: ATTEMPTS,
    };
    for operation in whole.unfinished() {
        whole.leave_out(&operation);
    }
    // What is in the way of one operation may be another one that is not whole yet.
    for _ in 0..ROUNDS {
        let before = whole.steps.clone();
        for group in whole.groups() {
            if whole.is_split(&group) && !whole.gather(&group, &group) {
                // There may be more than one operation in it.
                (1..group.len()).for_each(|at| whole.close_gap(&group, at));
            }
        }
        if whole.steps == before {
            break;
        }
    }
    whole.steps
}

/// Whether an event is not seen when the program is replayed: that of a lock that the recorder adds
/// to keep the events of an operation together, since programs say where they take their locks; the
/// look at whether a lock that was just taken is poisoned, which is not there as long as none is;
/// that a thread has come to the end of what it does in a scope; or a free by a destructor.
pub(super) fn is_hidden(trace: &Trace, event: EventId) -> bool {
    is_look_at_poison(trace, event)
        || is_of_hidden_lock(trace, event)
        || is_end_in_scope(trace, event)
        || is_free_by_destructor(trace, event)
}

/// Whether an event belongs to the same operation as the one that follows it in its thread, and is
/// recorded only when that has happened: a writer takes the writers' own lock along with the lock,
/// and a reader that becomes a writer gives the lock back as it takes it. So a program that waits
/// for the one has not done the other.
pub(super) fn comes_with_next(trace: &Trace, event: EventId) -> bool {
    let own = trace.events_of_thread(trace.thread(event));
    let Some(next) = own.get(trace.position(event) + 1) else { return false };
    let same_place = trace.location(event).is_some_and(|at| trace.location(*next) == Some(at));
    let takes = trace.op(*next).taken_lock();
    same_place
        && match trace.op(event) {
            Op::Acquire(_) => trace.is_of_added_lock(event) && takes.is_some(),
            Op::ReadRelease(lock) => trace.op(*next) == Op::Acquire(lock),
            _ => false,
        }
}

/// Whether an event is a free that no code of the program asks for at any place.
pub(super) fn is_free_by_destructor(trace: &Trace, event: EventId) -> bool {
    trace.location(event).is_none() && trace.frees(event)
}

fn is_look_at_poison(trace: &Trace, event: EventId) -> bool {
    let Op::Load { .. } = trace.op(event) else { return false };
    let before = trace.position(event).checked_sub(1);
    let before = before.map(|at| trace.op(trace.events_of_thread(trace.thread(event))[at]));
    let takes_lock = matches!(
        before,
        Some(Op::Acquire(_) | Op::ReadAcquire(_) | Op::Wake { .. } | Op::WakeTimeout { .. })
    );
    takes_lock && trace.location(event).is_none() && trace.metadata().program.is_some()
}

/// Programs say where they arrive at a barrier.
fn is_end_in_scope(trace: &Trace, event: EventId) -> bool {
    matches!(trace.op(event), Op::Arrive { .. })
        && trace.location(event).is_none()
        && trace.metadata().program.is_some()
}

fn is_of_hidden_lock(trace: &Trace, event: EventId) -> bool {
    let (Op::Acquire(lock) | Op::Release(lock)) = trace.op(event) else { return false };
    let taken = trace.events_of_lock(lock).iter().find(|e| matches!(trace.op(**e), Op::Acquire(_)));
    // Traces that say nothing of places are not recorded.
    taken.is_some_and(|taken| trace.location(*taken).is_none())
        && trace.metadata().program.is_some()
}

/// Where an event stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Place(LocId),
    /// In an operation without a place that starts with this event.
    Region(EventId),
}

struct Whole<'a> {
    trace: &'a Trace,
    checker: Checker<'a>,
    goal: &'a Goal,
    steps: Vec<EventId>,
    attempts: usize,
}

impl Whole<'_> {
    /// The steps of each thread.
    fn threads(&self) -> Vec<Vec<EventId>> {
        let mut threads = vec![Vec::new(); self.trace.thread_count()];
        for &event in &self.steps {
            threads[self.trace.thread(event).index()].push(event);
        }
        threads
    }

    /// Neighbours of a thread that have the same place in the source.
    fn groups(&self) -> Vec<Vec<EventId>> {
        let mut groups = Vec::new();
        for events in self.threads() {
            let spots = self.spots(&events);
            let located: Vec<(EventId, Option<Spot>)> = events.into_iter().zip(spots).collect();
            let chunks = located.chunk_by(|(_, a), (_, b)| a.is_some() && a == b);
            let chunks = chunks.filter(|chunk| chunk.len() > 1);
            groups.extend(chunks.map(|chunk| chunk.iter().map(|(event, _)| *event).collect()));
        }
        groups
    }

    /// Where the steps of a thread stand in the source. What a lock of the recorder's keeps
    /// together stands at one place.
    fn spots(&self, events: &[EventId]) -> Vec<Option<Spot>> {
        let place = |event: &EventId| self.trace.location(*event).map(Spot::Place);
        let mut spots: Vec<Option<Spot>> = events.iter().map(place).collect();
        // Who takes a lock looks at once whether it is poisoned.
        for at in 1..events.len() {
            if is_look_at_poison(self.trace, events[at]) {
                spots[at] = spots[at - 1];
            }
        }
        for region in self.regions(events) {
            let place = spots[region.clone()].iter().flatten().next().copied();
            let spot = place.unwrap_or(Spot::Region(events[region.start]));
            spots[region].fill(Some(spot));
        }
        spots
    }

    /// What locks of the recorder's keep together, of the steps of a thread.
    fn regions(&self, events: &[EventId]) -> Vec<std::ops::Range<usize>> {
        let mut regions = Vec::new();
        let mut start = 0;
        while start < events.len() {
            let hidden = match self.trace.op(events[start]) {
                Op::Acquire(lock) if is_hidden(self.trace, events[start]) => Some(lock),
                _ => None,
            };
            let Some(lock) = hidden else {
                start += 1;
                continue;
            };
            let ends = |event: &EventId| self.trace.op(*event) == Op::Release(lock);
            let end = events[start..].iter().position(ends);
            let end = end.map_or(events.len(), |length| start + length + 1);
            // What threads have left in a scope is found at its end.
            let before = start.checked_sub(1).filter(|at| self.trace.ends_scope(events[*at]));
            regions.push(before.unwrap_or(start)..end);
            start = end;
        }
        regions
    }

    /// The operations of which the witness has only the first events.
    fn unfinished(&self) -> Vec<Vec<EventId>> {
        let last = |events: Vec<EventId>| {
            let end = *events.last()?;
            if self.trace.ends_scope(end) {
                return Some(vec![end]);
            }
            let region = self.regions(&events).pop().filter(|region| region.end == events.len())?;
            let finished = matches!(self.trace.op(*events.last()?), Op::Release(_));
            (!finished).then(|| events[region].to_vec())
        };
        self.threads().into_iter().filter_map(last).collect()
    }

    fn is_witness(&self, steps: &[EventId]) -> bool {
        let (rest, goal) = (steps.to_vec(), self.goal.clone());
        self.checker.check(&Witness { observed: 0, rest, goal }).is_ok()
    }

    /// Leaves events out, if the witness is one without them.
    fn leave_out(&mut self, events: &[EventId]) {
        let rest = self.steps.iter().filter(|event| !events.contains(event)).copied();
        let steps: Vec<EventId> = rest.collect();
        if self.is_witness(&steps) {
            self.steps = steps;
        }
    }

    fn position(&self, event: EventId) -> Option<usize> {
        self.steps.iter().position(|step| *step == event)
    }

    fn is_split(&self, group: &[EventId]) -> bool {
        let start = group.first().and_then(|first| self.position(*first));
        start.is_some_and(|start| self.steps.get(start..start + group.len()) != Some(group))
    }

    /// Brings what is before the gap at this place in a group to what comes after it, or the other
    /// way round. The program does at once what belongs to one operation, which is likely not to
    /// start in the middle of what is moved if that is as much as can be.
    fn close_gap(&mut self, group: &[EventId], at: usize) {
        if !self.is_split(&group[at - 1..=at]) {
            return;
        }
        let up_to = |from: usize| (&group[from..=at], &group[at..=at]);
        let down_from = |to: usize| (&group[at - 1..to], &group[at - 1..at]);
        let moves = (0..at).map(up_to).chain((at + 1..=group.len()).rev().map(down_from));
        for (events, place) in moves {
            if self.gather(events, place) {
                return;
            }
        }
    }

    /// Moves all of a group to where the first of some of its events is, or the last.
    fn gather(&mut self, group: &[EventId], places: &[EventId]) -> bool {
        for place in [places.first(), places.last()] {
            let Some(at) = place.and_then(|event| self.position(*event)) else { return false };
            let (before, after) = self.steps.split_at(at);
            let others = |events: &[EventId]| -> Vec<EventId> {
                events.iter().filter(|event| !group.contains(event)).copied().collect()
            };
            let rest = [others(before), group.to_vec(), others(after)].concat();
            let Some(left) = self.attempts.checked_sub(1) else { return false };
            self.attempts = left;
            if self.is_witness(&rest) {
                self.steps = rest;
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Pair;
    use crate::trace::format::{Format, Source};

    fn whole(text: &str, witness: &[u64]) -> Vec<u64> {
        let mut source = Source::of_bytes(text.as_bytes().to_vec(), Some(Format::Text)).unwrap();
        let trace = Trace::load(&mut source, |_| {}).unwrap();
        let events = witness.iter().map(|number| EventId::from_number(*number).unwrap());
        let events: Vec<EventId> = events.collect();
        let (prefix, next) = events.split_at(events.len() - 2);
        let goal = Goal::Race(Pair::new(next[0], next[1]));
        let witness = Witness { observed: 0, rest: prefix.to_vec(), goal };
        let whole = keep_operations_whole(&trace, &witness);
        whole.iter().chain(next).map(|event| event.number()).collect()
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
    fn what_the_recorder_keeps_together_comes_together() {
        let text = "a acquire gate\na recv c 1 @ m.rs:1\na release gate\na write x 1 @ m.rs:2\n\
                    b write y 1 @ m.rs:3\nb write x 2 @ m.rs:4\n";
        let text = format!("#racelog program p\nb send c 1\n{text}");
        assert_eq!(whole(&text, &[1, 2, 6, 3, 4, 5, 7]), [1, 2, 3, 4, 6, 5, 7]);
    }

    #[test]
    fn an_operation_that_is_not_finished_is_left_out() {
        let text = "#racelog program p\nc acquire gate\nc send c 1 @ m.rs:1\nc release gate\na write x 1 @ m.rs:2\n\
                    b write x 2 @ m.rs:4\n";
        assert_eq!(whole(text, &[1, 2, 4, 5]), [4, 5]);
    }

    #[test]
    fn what_comes_before_a_gap_is_moved_as_far_as_it_can() {
        // To take the lock and to give it back are two operations of one place.
        let text = "b acquire l @ m.rs:2\nb read x 0 @ m.rs:2\nb write x 1 @ m.rs:2\n\
                    a acquire_fail l @ m.rs:1\nb release l @ m.rs:2\na write y 1\nb write y 2\n";
        assert_eq!(whole(text, &[1, 2, 3, 4, 5, 6, 7]), [1, 4, 2, 3, 5, 6, 7]);
    }

    #[test]
    fn an_operation_makes_room_for_another() {
        // Who looks for a value that is made once finds it while its maker says that it is made.
        let text = "a once_begin o @ m.rs:1\na store v 1 @ m.rs:1\na once_end o @ m.rs:1\n\
                    b once_wait o @ m.rs:1\nb load v 1 @ m.rs:1\nb branch\na write x 1\nb write x 2\n";
        let threads_swapped = text.replace("a ", "c ").replace("b ", "a ").replace("c ", "b ");
        for text in [text, &threads_swapped] {
            assert_eq!(whole(text, &[4, 1, 2, 5, 3, 6, 7, 8]), [1, 2, 3, 4, 5, 6, 7, 8]);
        }
    }

    #[test]
    fn what_the_checker_refuses_stays_as_it_was() {
        // Two operations at one place: the first finds nothing, the second what was sent meanwhile.
        let text = "b recv_empty c @ m.rs:2\na send c 1 @ m.rs:1\nb recv c 1 @ m.rs:2\n\
                    a write y 1\nb write y 2\n";
        assert_eq!(whole(text, &[1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]);
    }
}
