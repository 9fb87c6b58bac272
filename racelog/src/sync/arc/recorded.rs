//! What `Arc`s leave in the trace.

use std::collections::HashMap;
use std::thread;

use super::Arc;
use crate::cell::Shared;
use crate::child_trace::{events, in_child};
use crate::trace::MemoryOrdering::{Acquire, Release};
use crate::trace::{Event, Op, Value};

/// The events of a test of this file, whose counts are checked to fit together.
fn trace(test: &str) -> Vec<Event> {
    let trace = events(&format!("sync::arc::recorded::{test}"));
    let mut values = HashMap::new();
    for event in &trace {
        let (var, found, left) = match event.op {
            Op::Load { var, value, .. } => (var, Some(value), value),
            Op::CasFail { var, seen, .. } => (var, Some(seen), seen),
            Op::Rmw { var, old, new, .. } | Op::Cas { var, old, new, .. } => (var, Some(old), new),
            Op::Store { var, value, .. } | Op::Exclusive { var, value } => (var, None, value),
            _ => continue,
        };
        let before = values.insert(var, left);
        assert!(before.is_none() || found.is_none() || before == found, "{event:?}");
    }
    trace
}

/// Operations with their operands, as in the text format.
fn words(trace: &[Event]) -> Vec<String> {
    let number = |value| match value {
        Value::Nat(number) => number,
        other => panic!("a count is a number, not {other:?}"),
    };
    let word = |event: &Event| {
        let word = event.op.keyword();
        match event.op {
            Op::Load { value, ordering, .. } | Op::Store { value, ordering, .. } => {
                Some(format!("{word} {} {:?}", number(value), ordering?))
            }
            Op::CasFail { seen, ordering, .. } => {
                Some(format!("{word} {} {:?}", number(seen), ordering?))
            }
            Op::Rmw { old, new, ordering, .. } | Op::Cas { old, new, ordering, .. } => {
                Some(format!("{word} {} {} {:?}", number(old), number(new), ordering?))
            }
            _ => None,
        }
    };
    trace.iter().filter_map(word).collect()
}

#[test]
fn each_operation_has_its_events() {
    if in_child() {
        let mut a = Arc::new(1);
        let b = a.clone();
        assert!(Arc::get_mut(&mut a).is_none());
        let b = Arc::try_unwrap(b).expect_err("there is another");
        drop(b);
        let w = Arc::downgrade(&a);
        drop(w.upgrade());
        assert!(Arc::get_mut(&mut a).is_none());
        *Arc::make_mut(&mut a) = 2;
        assert!(w.upgrade().is_none());
        drop(w);
        assert!(Arc::get_mut(&mut a).is_some());
        drop(a);
        return;
    }
    let expected = [
        // The first clone, and two attempts that it lets fail.
        "rmw 1 2 Relaxed",
        "load 2 Acquire",
        "cas_fail 2 Relaxed",
        "rmw 2 1 Release",
        // The Weak, upgraded; and the attempt that it lets fail.
        "rmw 0 1 Acquire",
        "rmw 1 2 Acquire",
        "rmw 2 1 Release",
        "load 1 Acquire",
        // The contents move away, and the Weak has lost them.
        "cas 1 0 Acquire",
        "load 1 Acquire",
        "load 0 Relaxed",
        "rmw 1 0 Release",
        // The new Arc.
        "cas 1 0 Acquire",
        "load 0 Acquire",
        "store 1 Release",
        "rmw 1 0 Release",
        "load 0 Acquire",
    ];
    assert_eq!(words(&trace("each_operation_has_its_events")), expected);
}

#[test]
fn get_mut_comes_after_the_drop_that_allows_it() {
    if in_child() {
        let mut ours = Arc::new(Shared::new(0));
        let theirs = ours.clone();
        // A thread of std: nothing but the Arc puts what they do in order.
        let other = thread::spawn(move || theirs.set(1));
        loop {
            if let Some(cell) = Arc::get_mut(&mut ours) {
                assert_eq!(*cell.get_mut(), 1);
                break;
            }
            thread::yield_now();
        }
        other.join().expect("it does not panic");
        return;
    }
    let trace = trace("get_mut_comes_after_the_drop_that_allows_it");
    let position = |found: &dyn Fn(&Op) -> bool| {
        trace.iter().position(|event| found(&event.op)).expect("it is recorded")
    };
    let [one, two] = [Value::Nat(1), Value::Nat(2)];
    let write = position(&|op| matches!(op, Op::Write { .. }));
    let dropped = position(
        &|op| matches!(op, Op::Rmw { old, new, ordering: Some(Release), .. } if (*old, *new) == (two, one)),
    );
    let taken =
        position(&|op| matches!(op, Op::Cas { old, ordering: Some(Acquire), .. } if *old == one));
    let access = position(&|op| matches!(op, Op::Exclusive { .. }));
    assert!(write < dropped && dropped < taken && taken < access);
    assert_eq!(trace[write].thread, trace[dropped].thread);
    assert_eq!(trace[taken].thread, trace[access].thread);
    assert_ne!(trace[dropped].thread, trace[taken].thread);
    assert_eq!(trace[dropped].op.var(), trace[taken].op.var());
    let stamps = [write, dropped, taken, access].map(|at| trace[at].stamp);
    assert!(stamps.is_sorted() && trace[taken].location.is_some());
}

#[test]
fn many_threads_leave_counts_that_fit_together() {
    const THREADS: usize = 4;
    if in_child() {
        let arc = Arc::new(());
        let weak = Arc::downgrade(&arc);
        let threads = [(); THREADS].map(|()| {
            let (arc, weak) = (arc.clone(), weak.clone());
            thread::spawn(move || {
                for _ in 0..50 {
                    drop(weak.clone().upgrade());
                }
                drop(arc);
                drop(weak.upgrade());
            })
        });
        drop(arc);
        // A scope would not wait until the threads have written all that they record.
        for thread in threads {
            thread.join().expect("it does not panic");
        }
        assert!(weak.upgrade().is_none());
        return;
    }
    let words = words(&trace("many_threads_leave_counts_that_fit_together"));
    let count = |word: &str| words.iter().filter(|other| *other == word).count();
    // One drops the contents; then the Weak of the main thread goes, the last.
    assert_eq!(count("load 0 Acquire"), 1);
    assert_eq!(words.last().map(String::as_str), Some("rmw 1 0 Release"));
}
