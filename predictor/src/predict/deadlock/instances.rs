//! The goals that a circle of requests stands for.

use crate::goal::Circle;
use crate::lock_graph::{AbstractCircle, Request, Requests};
use crate::predict::MustOrder;
use crate::trace::{EventId, Trace};

/// The goals of a circle that no order rules out: one event of each request, none of which has to
/// have happened before another is reached.
#[derive(Debug)]
pub(in crate::predict) struct Instances<'a> {
    trace: &'a Trace,
    requests: Vec<&'a Request>,
    fair: bool,
    orders: [Option<&'a MustOrder>; 2],
    /// For each request the place of the event to try next; the first so many are chosen.
    at: Vec<usize>,
    chosen: Vec<EventId>,
    done: bool,
}

impl<'a> Instances<'a> {
    pub(in crate::predict) fn new(
        trace: &'a Trace,
        requests: &'a Requests,
        circle: &AbstractCircle,
        orders: [Option<&'a MustOrder>; 2],
    ) -> Self {
        let members: Vec<&Request> = circle.requests.iter().map(|n| &requests.all[*n]).collect();
        let at = vec![0; members.len()];
        let fair = circle.fair;
        Self { trace, requests: members, fair, orders, at, chosen: Vec::new(), done: false }
    }

    /// The first event of a list, from a place on, that can be next at the same time as another;
    /// and none beyond which there are none.
    fn first_beside(&self, events: &[EventId], from: usize, other: EventId) -> usize {
        // What comes before a chosen event is over when that is reached.
        let over = |event: &EventId| self.is_over_at(*event, other);
        from + events[from..].partition_point(over)
    }

    /// Whether reaching an event takes that another, of another thread, has happened.
    fn is_over_at(&self, other: EventId, reached: EventId) -> bool {
        let (trace, thread) = (self.trace, self.trace.thread(reached));
        let before = match trace.position(reached).checked_sub(1) {
            Some(at) => trace.events_of_thread(thread)[at],
            None => match trace.fork_of(thread) {
                Some(fork) => fork,
                None => return false,
            },
        };
        let is_before =
            |order: &&MustOrder| before == other || order.is_before(trace, other, before);
        // The fork may be of the other's own thread.
        let by_program = trace.thread(other) == trace.thread(before) && other <= before;
        by_program || self.orders.iter().flatten().any(is_before)
    }
}

impl Iterator for Instances<'_> {
    type Item = Circle;

    fn next(&mut self) -> Option<Circle> {
        while !self.done {
            let level = self.chosen.len();
            if level == self.requests.len() {
                let events = self.chosen.clone();
                let circle = if self.fair { Circle::fair(events) } else { Circle::new(events) };
                self.chosen.pop();
                self.at[level - 1] += 1;
                return Some(circle);
            }
            let events = &self.requests[level].events;
            let mut at = self.at[level];
            for other in &self.chosen {
                at = self.first_beside(events, at, *other);
            }
            let event = events.get(at).copied();
            let passed =
                |event: EventId| self.chosen.iter().any(|other| self.is_over_at(*other, event));
            match event {
                // Later ones of the same thread pass it as well.
                Some(event) if !passed(event) => {
                    self.at[level] = at;
                    self.chosen.push(event);
                    if let Some(next) = self.at.get_mut(level + 1) {
                        *next = 0;
                    }
                }
                _ => {
                    self.done = self.chosen.pop().is_none();
                    if let Some(before) = level.checked_sub(1) {
                        self.at[before] += 1;
                    }
                }
            }
        }
        None
    }
}
