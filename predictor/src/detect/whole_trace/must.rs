//! What must happen before what, in whatever order: Φ_mhb of the PLDI 2014 paper, α of Said et al.
//!
//! Program order, fork and join; and for what those papers do not have: exclusive accesses keep
//! their place, a message is sent before it is received, all senders are dropped before the end of
//! a channel is seen, and all threads of a barrier's generation arrive before any leaves it or
//! arrives for the next. Threads that nobody who is recorded has started keep their place among all
//! events.

use racelog::trace::ThreadId;
use rustc_hash::FxHashMap;

use crate::index::Index;
use crate::solve::formula::Formula;
use crate::trace::{EventId, Op, Trace};

/// The orders between threads. Those within a thread are in the trace.
#[derive(Debug, Default)]
pub(in crate::detect) struct MustHappenBefore {
    /// For an event, what has to come before it.
    incoming: FxHashMap<EventId, Vec<EventId>>,
}

/// What must happen before some event.
#[derive(Debug)]
pub(in crate::detect) struct Past {
    /// How many events of each thread.
    pub(in crate::detect) positions: Vec<usize>,
    /// The threads that were joined.
    pub(in crate::detect) joined: Vec<ThreadId>,
}

impl MustHappenBefore {
    pub(super) fn new(trace: &Trace, index: &Index) -> Self {
        let mut must = Self::default();
        for event in trace.events() {
            let op = trace.op(event);
            if trace.position(event) == 0 {
                must.add(trace, trace.fork_of(trace.thread(event)).as_slice(), event);
            }
            must.add(trace, trace.awaited(event), event);
            if op.var().is_some() {
                must.add_exclusive(trace, index, event);
            }
            match op {
                Op::Join(thread) => {
                    let last = trace.events_of_thread(thread).last();
                    must.add(trace, last.copied().as_slice(), event);
                }
                Op::Recv { channel, .. } => {
                    let number = index.message_at[&event] as usize;
                    let message = index.channels[channel.index()].messages[number];
                    must.add(trace, &[message.send], event);
                }
                Op::RecvClosed(channel) => {
                    must.add(trace, &index.channels[channel.index()].closes, event);
                }
                Op::SendClosed { channel, .. } => {
                    must.add(trace, &index.channels[channel.index()].receiver_closes, event);
                }
                Op::Arrive { barrier, generation } => {
                    must.add(trace, index.previous_arrivals(barrier, generation), event);
                }
                Op::Leave { barrier, generation } => {
                    must.add(trace, &index.arrivals[&(barrier, generation)], event);
                }
                _ => {}
            }
        }
        must
    }

    fn add(&mut self, trace: &Trace, earlier: &[EventId], event: EventId) {
        let thread = trace.thread(event);
        let others = earlier.iter().filter(|other| trace.thread(**other) != thread);
        let mut others = others.copied().peekable();
        if others.peek().is_some() {
            self.incoming.entry(event).or_default().extend(others);
        }
    }

    /// An exclusive access comes after all accesses since the last exclusive one; any other comes
    /// after that one.
    fn add_exclusive(&mut self, trace: &Trace, index: &Index, access: EventId) {
        let exclusive = index.exclusive_before.get(&access).copied();
        self.add(trace, exclusive.as_slice(), access);
        let op = trace.op(access);
        if let (Op::Exclusive { .. }, Some(var)) = (op, op.var()) {
            let accesses = trace.events_of_var(var);
            let first =
                exclusive.map_or(0, |before| accesses.partition_point(|other| *other <= before));
            let last = accesses.partition_point(|other| *other < access);
            self.add(trace, &accesses[first..last], access);
        }
    }

    /// States all of it.
    pub(super) fn state(&self, trace: &Trace, formula: &mut Formula) {
        for thread in trace.threads() {
            for two in trace.events_of_thread(thread).windows(2) {
                formula.order(two[0], two[1]);
            }
        }
        for event in trace.events() {
            for earlier in self.incoming(event) {
                formula.order(*earlier, event);
            }
        }
    }

    fn incoming(&self, event: EventId) -> &[EventId] {
        self.incoming.get(&event).map_or(&[], Vec::as_slice)
    }

    /// What must come right before an event.
    pub(super) fn before(&self, trace: &Trace, event: EventId) -> Vec<EventId> {
        let mut before = self.incoming(event).to_vec();
        if let Some(position) = trace.position(event).checked_sub(1) {
            before.push(trace.events_of_thread(trace.thread(event))[position]);
        }
        before
    }

    /// All that must happen before an event.
    pub(in crate::detect) fn past(&self, trace: &Trace, event: EventId) -> Past {
        let mut past = Past { positions: vec![0; trace.thread_count()], joined: Vec::new() };
        let mut open = self.before(trace, event);
        while let Some(event) = open.pop() {
            let thread = trace.thread(event);
            let reached = &mut past.positions[thread.index()];
            let position = trace.position(event) + 1;
            for new in trace.events_of_thread(thread).get(*reached..position).unwrap_or_default() {
                open.extend(self.incoming(*new));
                if let Op::Join(joined) = trace.op(*new) {
                    past.joined.push(joined);
                }
            }
            *reached = position.max(*reached);
        }
        past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_goes_through_forks_and_joins() {
        let text = "t1 write x 1\nt2 write x 2\nt1 fork t3\nt3 write y 1\nt2 write x 3\n\
                    t1 join t3\nt1 write x 4\n";
        let trace: Trace = text.parse().unwrap();
        let must = MustHappenBefore::new(&trace, &Index::new(&trace));
        let past = must.past(&trace, EventId::from_index(6));
        assert_eq!(past.positions, [3, 0, 1]);
        assert_eq!(past.joined, [ThreadId::new(2)]);
        let past = must.past(&trace, EventId::from_index(3));
        assert_eq!(past.positions, [2, 0, 0]);
        assert!(past.joined.is_empty());
    }

    #[test]
    fn an_exclusive_access_keeps_its_place() {
        let text = "t1 write x 1\nt2 read x 1\nt3 exclusive x 2\nt2 read x 2\n";
        let trace: Trace = text.parse().unwrap();
        let must = MustHappenBefore::new(&trace, &Index::new(&trace));
        assert_eq!(must.past(&trace, EventId::from_index(2)).positions, [1, 1, 0]);
        assert_eq!(must.past(&trace, EventId::from_index(3)).positions, [1, 1, 1]);
    }
}
