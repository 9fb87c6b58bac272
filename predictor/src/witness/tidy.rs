//! Makes a witness easier to read: the same execution with fewer thread switches.
//!
//! Two neighbouring events that have nothing to do with each other may change places. So whatever
//! touches the same object stays in order, and apart from that each thread runs on for as long as
//! it can.

use racelog::trace::Object;
use rustc_hash::FxHashMap;

use super::touched::touched;
use crate::trace::{EventId, Trace};

/// How many times another thread takes over.
pub fn switches(trace: &Trace, schedule: &[EventId]) -> usize {
    schedule.windows(2).filter(|pair| trace.thread(pair[0]) != trace.thread(pair[1])).count()
}

/// An equivalent order of a sequence of events, with fewer thread switches if that is to be had.
pub fn tidy(trace: &Trace, sequence: &[EventId]) -> Vec<EventId> {
    // Nothing changes places with an event of a foreign thread.
    let foreign = |event: &EventId| trace.is_foreign(trace.thread(*event));
    let mut tidied = Vec::with_capacity(sequence.len());
    for stretch in sequence.chunk_by(|a, b| !foreign(a) && !foreign(b)) {
        tidied.extend(Dependences::of(trace, stretch).run_threads(trace, stretch));
    }
    if switches(trace, &tidied) < switches(trace, sequence) { tidied } else { sequence.to_vec() }
}

/// Which places of a sequence have to wait for which.
struct Dependences {
    followers: Vec<Vec<u32>>,
    waits_for: Vec<u32>,
}

impl Dependences {
    fn of(trace: &Trace, sequence: &[EventId]) -> Self {
        #[derive(Default)]
        struct Last {
            change: Option<usize>,
            looks: Vec<usize>,
        }
        let mut graph = Self {
            followers: vec![Vec::new(); sequence.len()],
            waits_for: vec![0; sequence.len()],
        };
        let mut last: FxHashMap<Object, Last> = FxHashMap::default();
        for (place, event) in sequence.iter().enumerate() {
            for (object, looks) in touched(trace, *event) {
                let last = last.entry(object).or_default();
                if looks {
                    graph.add(last.change, place);
                    last.looks.push(place);
                } else {
                    graph.add(last.change, place);
                    for look in last.looks.drain(..) {
                        graph.add(Some(look), place);
                    }
                    last.change = Some(place);
                }
            }
        }
        graph
    }

    fn add(&mut self, from: Option<usize>, to: usize) {
        if let Some(from) = from.filter(|from| *from != to) {
            self.followers[from].push(to as u32);
            self.waits_for[to] += 1;
        }
    }

    /// Runs each thread for as long as it can; then the one whose turn was first.
    fn run_threads(&mut self, trace: &Trace, sequence: &[EventId]) -> Vec<EventId> {
        let mut queues: Vec<std::collections::VecDeque<usize>> =
            vec![Default::default(); trace.thread_count()];
        for (place, event) in sequence.iter().enumerate() {
            queues[trace.thread(*event).index()].push_back(place);
        }
        let mut order = Vec::with_capacity(sequence.len());
        let mut current = 0;
        while order.len() < sequence.len() {
            let ready = |thread: usize| {
                queues[thread].front().copied().filter(|place| self.waits_for[*place] == 0)
            };
            let next = ready(current).map(|place| (place, current)).or_else(|| {
                (0..queues.len()).filter_map(|t| ready(t).map(|place| (place, t))).min()
            });
            let Some((place, thread)) = next else { return sequence.to_vec() };
            queues[thread].pop_front();
            current = thread;
            order.push(sequence[place]);
            for follower in std::mem::take(&mut self.followers[place]) {
                self.waits_for[follower as usize] -= 1;
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_events_are_gathered_by_thread() {
        let text = "a fork b\na write x 1\nb write y 1\na write x 2\nb write y 2\na read y 2\n";
        let trace: Trace = text.parse().expect("the trace is valid");
        let observed: Vec<EventId> = trace.events().collect();
        let tidied = tidy(&trace, &observed);
        let numbers: Vec<u64> = tidied.iter().map(|event| event.number()).collect();
        assert_eq!(numbers, [1, 2, 4, 3, 5, 6]);
        assert_eq!((switches(&trace, &observed), switches(&trace, &tidied)), (4, 2));
    }
}
