//! No, by flags that are taken by compare-exchange.
//!
//! A variable that holds `v` can be taken away from it, by a compare-exchange from `v` to something
//! else, once: another such compare-exchange needs that something leaves `v` there in between. So
//! in every execution there are no more of these than there are writes that leave `v`, and one more
//! if the variable begins with it. If the events before a goal's next ones take `v` more often than
//! all threads can have left it by then, no execution gets there. That is how a spin lock keeps
//! threads apart, and a ticket, and a slot that is claimed.
//!
//! Soundness: how far the threads of a goal have come is known, and so how often each has taken and
//! left `v`. Of another thread it is not known, so the stretch from its beginning counts in which
//! it has left `v` most often, beyond what it took. A write by a thread that is not clean leaves
//! nothing that is known: it counts all the same, and so do writes that find `v` there already.
//! What finds and leaves `v` changes nothing.
//!
//! Known misses: only compare-exchanges take. An exchange that found `v` in the observed run may
//! find something else in another one. Mixed memory is not looked at.

use racelog::trace::{ThreadId, VarId};
use rustc_hash::FxHashSet;

use crate::goal::Goal;
use crate::trace::{EventId, Op, Trace, ValueId};

/// How many flags of a thread are looked at for a goal.
const LIMIT: usize = 1 << 11;

/// The flags of a trace.
#[derive(Debug)]
pub(super) struct Flags {
    all: Vec<Flag>,
    /// The numbers of the flags that a thread takes.
    taken_by: Vec<Vec<usize>>,
}

/// A variable with a value that it is taken from.
#[derive(Debug)]
struct Flag {
    /// Whether it begins with that value, and how often the threads leave it at most.
    most: i64,
    /// What each thread does to it, in the order of the threads.
    threads: Vec<(ThreadId, Course)>,
}

/// What a thread does to a flag.
#[derive(Debug)]
struct Course {
    /// Where in the thread it takes or leaves the value, and how often it has left it beyond what
    /// it took, including that.
    balances: Vec<(usize, i64)>,
    /// The largest of these; 0 if all are less, for a thread need not have begun.
    most: i64,
}

impl Flags {
    pub(super) fn new(trace: &Trace) -> Self {
        let takes = trace.ops().iter().filter_map(taken);
        let takes: FxHashSet<(VarId, ValueId)> = takes.collect();
        let mut takes: Vec<_> =
            takes.into_iter().filter(|(var, _)| !trace.is_mixed(*var)).collect();
        takes.sort_unstable();
        let mut taken_by = vec![Vec::new(); trace.thread_count()];
        let mut all = Vec::with_capacity(takes.len());
        for (var, value) in takes {
            let flag = Flag::new(trace, var, value);
            for (thread, course) in &flag.threads {
                // Who only leaves the value keeps nobody apart.
                if course.balances.iter().any(|(_, balance)| *balance < 0) {
                    taken_by[thread.index()].push(all.len());
                }
            }
            all.push(flag);
        }
        Self { all, taken_by }
    }

    /// Whether flags rule out that all of a goal's next events are next at once.
    pub(super) fn exclude(&self, trace: &Trace, goal: &Goal) -> bool {
        // What is computed may leave, or expect, something else.
        if trace.has_data() {
            return false;
        }
        let next = goal.next();
        next.iter().any(|event| {
            let flags = &self.taken_by[trace.thread(*event).index()];
            flags.iter().rev().take(LIMIT).any(|flag| self.all[*flag].excludes(trace, next))
        })
    }
}

impl Flag {
    fn new(trace: &Trace, var: VarId, value: ValueId) -> Self {
        let mut threads: Vec<(ThreadId, Course)> = Vec::new();
        for event in trace.events_of_var(var) {
            let change = match change(&trace.op(*event), value) {
                0 => continue,
                change => change,
            };
            let thread = trace.thread(*event);
            let at = match threads.binary_search_by_key(&thread, |(thread, _)| *thread) {
                Ok(at) => at,
                Err(at) => {
                    threads.insert(at, (thread, Course { balances: Vec::new(), most: 0 }));
                    at
                }
            };
            threads[at].1.add(trace.position(*event), change);
        }
        let initially = i64::from(trace.initial_value(var) == value);
        let most = initially + threads.iter().map(|(_, course)| course.most).sum::<i64>();
        Self { most, threads }
    }

    fn excludes(&self, trace: &Trace, next: &[EventId]) -> bool {
        let less: i64 = next
            .iter()
            .filter_map(|event| {
                let thread = trace.thread(*event);
                let at = self.threads.binary_search_by_key(&thread, |(thread, _)| *thread).ok()?;
                let course = &self.threads[at].1;
                Some(course.most - course.before(trace.position(*event)))
            })
            .sum();
        self.most < less
    }
}

impl Course {
    fn add(&mut self, position: usize, change: i64) {
        let balance = self.balances.last().map_or(0, |(_, balance)| *balance) + change;
        self.balances.push((position, balance));
        self.most = self.most.max(balance);
    }

    /// The balance when a thread has come to a place.
    fn before(&self, position: usize) -> i64 {
        let count = self.balances.partition_point(|(at, _)| *at < position);
        count.checked_sub(1).map_or(0, |last| self.balances[last].1)
    }
}

/// The variable and the value that an operation takes it from.
fn taken(op: &Op) -> Option<(VarId, ValueId)> {
    match op {
        Op::Cas { var, old, new, .. } if old != new => Some((*var, *old)),
        _ => None,
    }
}

/// Whether an operation may leave a value where it was not, or takes it away.
fn change(op: &Op, value: ValueId) -> i64 {
    let [finds, leaves] = [op.found(), op.left()].map(|it| it == Some(&value));
    match (finds, leaves) {
        (false, true) => 1,
        (true, false) => -i64::from(taken(op).is_some()),
        (true, true) | (false, false) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Circle;

    fn excluded(text: &str, next: [u64; 2]) -> bool {
        let trace: Trace = text.parse().unwrap();
        let next = next.map(|number| EventId::from_number(number).unwrap());
        Flags::new(&trace).exclude(&trace, &Goal::Deadlock(Circle::new(next.to_vec())))
    }

    /// Two rounds of each thread.
    const BUSY: &str = "\
t cas busy 0 1
t acquire a
t release a
t store busy 0
u cas busy 0 1
u acquire a
u release a
u store busy 0
t cas busy 0 1
t acquire a
t release a
t store busy 0
u cas busy 0 1
u acquire a
u release a
u store busy 0
";

    #[test]
    fn a_flag_is_taken_once_at_a_time() {
        for t in [2, 3, 4, 10, 11, 12] {
            for u in [6, 7, 8, 14, 15, 16] {
                assert!(excluded(BUSY, [t, u]), "({t}, {u})");
            }
        }
    }

    #[test]
    fn who_stands_outside_is_kept_from_nothing() {
        for (t, u) in [(1, 6), (9, 6), (2, 5), (2, 13), (1, 5), (9, 13)] {
            assert!(!excluded(BUSY, [t, u]), "({t}, {u})");
        }
    }

    #[test]
    fn whoever_else_leaves_the_value_may_have_done_so() {
        let text = format!("{BUSY}w load x 0\nw store busy 0\n");
        assert!(!excluded(&text, [2, 6]));
        // Unless it takes it first.
        let text = format!("{BUSY}w cas busy 0 1\nw store busy 0\n");
        assert!(excluded(&text, [2, 6]));
        // Or leaves what is there.
        let text = format!("{BUSY}w cas busy 0 0\n");
        assert!(excluded(&text, [2, 6]));
    }

    #[test]
    fn an_exchange_need_not_find_what_it_found() {
        let text = BUSY.replace("t cas busy 0 1", "t rmw busy 0 1");
        assert!(!excluded(&text, [2, 6]));
    }
}
