//! Which threads are known to have come to their ends.
//!
//! A program may exit while its threads run: their events then stop, and what they would have done
//! next is not in the trace. A recorder writes an `end` for every thread that came to its end, so
//! in a trace with such events a thread without one is not known to have ended, unless it was
//! joined, or a scope has waited for what it did there: the program may exit before such a thread
//! has written its end, while at most destructors of thread-locals run. Traces without any `end`
//! leave it out for all, as those that are written by hand.

use std::sync::OnceLock;

use racelog::trace::{BarrierId, End, ThreadId};
use rustc_hash::FxHashSet;

use super::{Op, Trace};

/// Of each thread whether it is known to have ended, once a caller has asked.
#[derive(Debug, Default)]
pub(super) struct Endings(OnceLock<Vec<bool>>);

impl Trace {
    /// Whether all that a thread does is in the trace: it came to its end after its last event. Not
    /// known of any thread if the trace was cut off or has lost events.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.endings.0.get_or_init(|| endings(self))[thread.index()]
    }
}

fn endings(trace: &Trace) -> Vec<bool> {
    if trace.end() != End::Clean || trace.lost_events() > 0 {
        return vec![false; trace.thread_count()];
    }
    let last = |thread| trace.events_of_thread(thread).last();
    let has_end = |thread| last(thread).is_some_and(|last| trace.op(*last) == Op::End);
    let mut ended: Vec<bool> = trace.threads().map(has_end).collect();
    if !ended.contains(&true) {
        return vec![true; trace.thread_count()];
    }
    let scopes: FxHashSet<(BarrierId, u64)> = trace
        .ends_of_scopes()
        .iter()
        .filter_map(|end| match trace.op(*end) {
            Op::Leave { barrier, generation } => Some((barrier, generation)),
            _ => None,
        })
        .collect();
    for event in trace.events() {
        match trace.op(event) {
            Op::Join(child) => ended[child.index()] = true,
            Op::Arrive { barrier, generation } if scopes.contains(&(barrier, generation)) => {
                ended[trace.thread(event).index()] = true;
            }
            _ => {}
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each thread, in the order of their first events, whether it has ended.
    fn endings(text: &str) -> Vec<bool> {
        let trace: Trace = text.parse().unwrap();
        trace.threads().map(|thread| trace.has_ended(thread)).collect()
    }

    #[test]
    fn without_any_end_all_threads_have_ended() {
        assert_eq!(endings("t0 fork t1\nt1 write x 1\n"), [true, true]);
    }

    #[test]
    fn where_one_thread_has_an_end_the_others_need_one_or_a_join() {
        let text = "t0 fork t1\nt0 fork t2\nt0 fork t3\nt1 write x 1\nt1 end\nt2 write x 2\n\
                    t3 write x 3\nt0 join t3\nt0 end\n";
        assert_eq!(endings(text), [true, true, false, true]);
    }

    #[test]
    fn a_thread_that_a_scope_has_waited_for_needs_no_end() {
        let text = "t0 fork t1\nt0 fork t2\nt1 arrive s 0\nt2 write x 1\nt0 leave s 0\nt0 end\n";
        assert_eq!(endings(text), [true, true, false]);
    }

    #[test]
    fn of_a_trace_that_was_cut_off_no_end_is_known() {
        assert_eq!(endings("#racelog end full\nt0 fork t1\nt1 end\nt0 end\n"), [false, false]);
    }
}
