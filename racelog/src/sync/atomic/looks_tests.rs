//! Looks that a thread repeats are one event with a count.

use std::sync::Barrier;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::child_trace::{in_child, items};
use crate::instrument::HOOKS;
use crate::rt::{Expected, with};
use crate::sync::atomic::AtomicBool;
use crate::thread;
use crate::trace::{Item, Said, ThreadId};

/// What a thread did, with how often it looked again.
fn words(test: &str, thread: u32) -> String {
    let mut words = Vec::new();
    for item in items(&format!("sync::atomic::looks_tests::{test}")) {
        match item {
            Item::Said { said: Said::Again(times), thread: by } if by.get() == thread => {
                words.push(format!("+{times}"));
            }
            Item::Event(event) if event.thread == ThreadId::new(thread) => {
                words.push(event.op.keyword().to_owned());
            }
            _ => {}
        }
    }
    // It finds what its closure brings along, and says what that leaves behind.
    let words = words.join(" ");
    // The process may be over before the thread comes to its end: a scope waits for the closure.
    let words = words.strip_suffix(" end").unwrap_or(&words);
    let body = words.strip_prefix("begin load ").and_then(|it| it.strip_suffix(" store arrive"));
    body.unwrap_or(words).to_owned()
}

/// Runs it in a thread that recorded code has started: one of libtest's keeps its place in time.
fn in_recorded_thread(body: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(body);
    });
}

#[test]
fn looks_that_are_repeated_are_one_event_with_a_count() {
    if in_child() {
        let (flag, other) = (AtomicBool::new(false), AtomicBool::new(true));
        return in_recorded_thread(|| {
            for _ in 0..5 {
                flag.load(Acquire);
            }
            // Another place in the program, and another ordering.
            flag.load(Acquire);
            for ordering in [Acquire, Acquire, Relaxed] {
                flag.load(ordering);
            }
            // These take turns.
            for _ in 0..2 {
                flag.load(Acquire);
                other.load(Acquire);
            }
            for _ in 0..4 {
                let _ = flag.compare_exchange(true, false, Acquire, Relaxed);
            }
        });
    }
    let found = words("looks_that_are_repeated_are_one_event_with_a_count", 1);
    let expected = "load +4 load load +1 load load load load load cas_fail +3";
    assert_eq!(found, expected);
}

#[test]
fn the_branch_that_a_look_brings_is_repeated_with_it() {
    if in_child() {
        let flag = AtomicBool::new(false);
        return in_recorded_thread(|| {
            for _ in 0..4 {
                // As instrumented code does at one place.
                with(|log| log.expect(Expected::Bare));
                flag.load(Acquire);
                with(|log| log.expect(Expected::Nothing));
                HOOKS.branch();
            }
            flag.store(true, Release);
        });
    }
    let found = words("the_branch_that_a_look_brings_is_repeated_with_it", 1);
    assert_eq!(found, "load branch +3 store");
}

#[test]
fn a_write_in_between_is_noticed_though_it_leaves_what_was_there() {
    if in_child() {
        let flag = AtomicBool::new(false);
        let turn = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..3 {
                    flag.load(Acquire);
                    turn.wait();
                    turn.wait();
                }
            });
            turn.wait();
            flag.store(false, Release);
            turn.wait();
            turn.wait();
            // Who looks writes nothing.
            flag.load(Acquire);
            turn.wait();
            turn.wait();
            turn.wait();
        });
        return;
    }
    let test = "a_write_in_between_is_noticed_though_it_leaves_what_was_there";
    assert_eq!(words(test, 1), "load load +1");
}
