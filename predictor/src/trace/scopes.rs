//! Ends of scopes.
//!
//! Who waits at a barrier has arrived there itself, and how many threads it takes is the program's
//! affair: any thread may come. The end of a scope waits for the threads of the scope, and for
//! nobody else. In a trace it is a `leave` by a thread that never arrives for that generation: those
//! who do are the threads that it waits for.

use std::sync::OnceLock;

use racelog::trace::{BarrierId, ThreadId};
use rustc_hash::FxHashSet;

use super::{EventId, Op, Trace};

/// The ends of scopes of a trace, once a caller has asked for them. Sorted.
#[derive(Debug, Default)]
pub(super) struct Scopes(OnceLock<Vec<EventId>>);

impl Trace {
    /// Whether an event is the end of a scope: a `leave` that waits for the threads that arrive for
    /// its generation, each of which has to.
    pub fn ends_scope(&self, event: EventId) -> bool {
        self.ends_of_scopes().binary_search(&event).is_ok()
    }

    /// The events that are ends of scopes, in order.
    pub fn ends_of_scopes(&self) -> &[EventId] {
        self.scopes.0.get_or_init(|| ends(self))
    }
}

fn ends(trace: &Trace) -> Vec<EventId> {
    if trace.barrier_count() == 0 {
        return Vec::new();
    }
    let arrivals = trace.events().filter_map(|event| match trace.op(event) {
        Op::Arrive { barrier, generation } => Some((trace.thread(event), barrier, generation)),
        _ => None,
    });
    let arrivals: FxHashSet<(ThreadId, BarrierId, u64)> = arrivals.collect();
    let ends = trace.events().filter(|event| match trace.op(*event) {
        Op::Leave { barrier, generation } => {
            !arrivals.contains(&(trace.thread(*event), barrier, generation))
        }
        _ => false,
    });
    ends.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_without_having_arrived_ends_a_scope() {
        let text = "t0 fork t1\nt0 fork t2\nt1 arrive s 0\nt2 arrive s 0\nt0 leave s 0\n\
                    t1 arrive b 0\nt2 arrive b 0\nt1 leave b 0\nt2 leave b 0\n\
                    t2 leave s 0\nt1 leave b 1\n";
        let trace: Trace = text.parse().unwrap();
        let ends: Vec<u64> = trace.ends_of_scopes().iter().map(|event| event.number()).collect();
        assert_eq!(ends, [5, 11]);
        assert!(trace.ends_scope(trace.ends_of_scopes()[0]));
        assert!(!trace.ends_scope(EventId::from_index(0)));
    }
}
