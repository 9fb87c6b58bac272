//! A run from a closure: the forced events, as near to the observed order as the forced order lets
//! them be.

use super::Closure;
use crate::trace::EventId;

impl Closure<'_> {
    /// The forced events. At every step, of the threads whose next event has all before it that the
    /// order asks for, the one goes on whose next event was observed first.
    pub(super) fn linearize(&self) -> Vec<EventId> {
        let threads = self.included.len();
        let mut done = vec![0_u32; threads];
        let mut run = Vec::with_capacity(self.included.iter().map(|count| *count as usize).sum());
        let mut waiting: Vec<(EventId, usize)> = (0..threads)
            .filter(|thread| self.included[*thread] > 0)
            .map(|thread| (self.event((thread, 0)), thread))
            .collect();
        while !waiting.is_empty() {
            waiting.sort_unstable();
            let ready = |(_, thread): &(EventId, usize)| {
                let next = (*thread, done[*thread]);
                (0..threads).all(|other| self.order.count_before(next, other) <= done[other])
            };
            // The order has no cycle, so that a thread can always go on.
            let Some(at) = waiting.iter().position(ready) else { break };
            let (event, thread) = waiting[at];
            run.push(event);
            done[thread] += 1;
            if done[thread] < self.included[thread] {
                waiting[at].0 = self.event((thread, done[thread]));
            } else {
                waiting.remove(at);
            }
        }
        run
    }
}
