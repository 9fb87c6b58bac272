//! Threads that nobody who is recorded has started.
//!
//! Nothing is known of what orders them, so each of their events keeps its place: all that was
//! observed before it comes before it, and all that was observed after it comes after it. It is
//! enough to say so of neighbours: of a foreign event and the last one of each thread since the
//! foreign event before, and of a foreign event and the first one of each thread after it. There
//! are at most twice as many such pairs as events.

use racelog::trace::ThreadId;

use super::EventId;

/// The foreign threads of a trace, and the order that they keep.
#[derive(Clone, Debug, Default)]
pub(super) struct Foreign {
    /// Whether each thread is foreign; empty if none is.
    threads: Vec<bool>,
    /// The events that wait for others, in the trace's order, and where the list of these ends.
    waiting: Vec<(EventId, u32)>,
    awaited: Vec<EventId>,
}

impl Foreign {
    /// The order around the events of foreign threads. `events` has the thread of each event.
    pub(super) fn new(threads: Vec<bool>, events: &[ThreadId]) -> Self {
        if !threads.contains(&true) {
            return Self::default();
        }
        let mut foreign = Self { threads, ..Self::default() };
        // The last foreign event, and the last event of each thread since.
        let mut barrier: Option<EventId> = None;
        let mut since: Vec<Option<EventId>> = vec![None; foreign.threads.len()];
        let mut seen: Vec<ThreadId> = Vec::new();
        for (index, thread) in events.iter().enumerate() {
            let event = EventId::from_index(index);
            if foreign.is_foreign(*thread) {
                for other in &seen {
                    foreign.awaited.extend(since[other.index()].take());
                }
                if seen.is_empty()
                    && let Some(before) = barrier
                    && events[before.index()] != *thread
                {
                    foreign.awaited.push(before);
                }
                seen.clear();
                barrier = Some(event);
            } else if since[thread.index()].replace(event).is_none() {
                foreign.awaited.extend(barrier);
                seen.push(*thread);
            }
            let end = foreign.awaited.len() as u32;
            if foreign.waiting.last().map_or(0, |(_, end)| *end) < end {
                foreign.waiting.push((event, end));
            }
        }
        foreign
    }

    #[inline]
    pub(super) fn is_foreign(&self, thread: ThreadId) -> bool {
        self.threads.get(thread.index()).is_some_and(|foreign| *foreign)
    }

    #[inline]
    pub(super) fn awaited(&self, event: EventId) -> &[EventId] {
        if self.threads.is_empty() {
            return &[];
        }
        let Ok(at) = self.waiting.binary_search_by_key(&event, |(event, _)| *event) else {
            return &[];
        };
        let start = at.checked_sub(1).map_or(0, |before| self.waiting[before].1);
        &self.awaited[start as usize..self.waiting[at].1 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each event waits for, by numbers from 0. Thread 0 and 9 are foreign.
    fn awaited(threads: &[u32]) -> Vec<Vec<usize>> {
        let events: Vec<ThreadId> = threads.iter().map(|thread| ThreadId::new(*thread)).collect();
        let foreign = (0..10).map(|thread| thread == 0 || thread == 9).collect();
        let foreign = Foreign::new(foreign, &events);
        let events = (0..events.len()).map(EventId::from_index);
        let of = |event| foreign.awaited(event).iter().map(|before| before.index()).collect();
        events.map(of).collect()
    }

    #[test]
    fn neighbours_are_ordered() {
        let none = Vec::new;
        assert_eq!(
            awaited(&[1, 2, 1, 0, 0, 2, 2, 1, 0]),
            [none(), none(), none(), vec![2, 1], none(), vec![4], none(), vec![4], vec![6, 7]]
        );
        assert_eq!(awaited(&[0, 9, 0, 1]), [none(), vec![0], vec![1], vec![2]]);
        assert_eq!(awaited(&[1, 2, 3]), [none(), none(), none()]);
    }
}
