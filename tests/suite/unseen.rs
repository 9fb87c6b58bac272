//! What orders accesses although nobody writes it down: that a lock was not poisoned, and threads
//! that nobody who is recorded starts. Each program has a twin in which there is a race.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use predictor::detect::{Scope, hb};
use predictor::goal::Pair;
use predictor::predict::{Options, predict};
use predictor::trace::format::{Format, Source};
use predictor::trace::{Op, Trace};

use crate::support::convert;

/// Records a program, and loads the trace of this name that it leaves.
fn record(arguments: &[&str], is_wanted: impl Fn(&str) -> bool) -> (Trace, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder for traces");
    run(arguments, folder.path());
    for entry in folder.path().read_dir().expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if is_wanted(&path.file_name().expect("a name").to_string_lossy()) {
            let bytes = std::fs::read(&path).expect("the trace can be read");
            return (load(bytes.clone(), arguments), bytes);
        }
    }
    panic!("{arguments:?} has left no such trace");
}

fn run(arguments: &[&str], folder: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_unseen"))
        .args(arguments)
        .env("RACELOG", "1")
        .env("RACELOG_DIR", folder)
        .env_remove("RACELOG_MAX_BYTES")
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

fn load(bytes: Vec<u8>, arguments: &[&str]) -> Trace {
    let mut source = Source::of_bytes(bytes, Some(Format::Binary)).expect("the trace opens");
    let loaded = Trace::load(&mut source, |_| {});
    loaded.unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

fn predicted(trace: &Trace) -> BTreeSet<Pair> {
    let options = Options { goal_time: None, ..Options::default() };
    let found = predict(trace, &options, |_, _| {});
    assert_eq!(found.counts.unknown.total(), 0);
    found.races().collect()
}

/// A program has no race, and its twin has one.
fn check(program: &str) {
    for (arguments, races) in [(&[program][..], false), (&[program, "racy"][..], true)] {
        let (trace, bytes) = record(arguments, |_| true);
        let found = predicted(&trace);
        assert_eq!(!found.is_empty(), races, "{arguments:?}: {found:?}");
        if !races {
            let observed = hb::races(&trace, Scope::AllPairs).pairs;
            assert!(observed.is_empty(), "{arguments:?}: {observed:?}");
        }
        // What is added to the trace stays there, once, in every format.
        let text = convert(&bytes, Format::Binary, Format::Text);
        let again = convert(&text, Format::Text, Format::Binary);
        assert!(convert(&again, Format::Binary, Format::Text) == text, "{arguments:?}");
        assert_eq!(load(again, arguments).len(), trace.len(), "{arguments:?}");
    }
}

macro_rules! twins {
    ($($name:ident: $program:literal;)*) => {$(
        #[test]
        fn $name() {
            check($program);
        }
    )*};
}

twins! {
    a_mutex_that_was_found_sound: "mutex";
    a_mutex_that_was_tried: "try-lock";
    a_mutex_that_is_sound_after_a_wait: "condvar";
    a_lock_that_was_read: "rwlock-read";
    a_lock_that_was_written: "rwlock-write";
    a_lock_that_was_asked: "rwlock-is-poisoned";
    a_mutex_that_was_asked: "is-poisoned";
    poison_that_is_cleared: "clear-poison";
    poison_that_comes_back: "poisoned-twice";
    a_once_that_was_not_done: "once";
    a_once_that_was_poisoned: "once-poisoned";
    a_once_lock_that_was_empty: "once-lock";
    a_lazy_lock_that_was_empty: "lazy";
    a_lazy_lock_that_cannot_be_had: "lazy-poisoned";
    threads_of_std: "scope";
    a_message_by_way_of_a_thread_of_std: "messenger";
}

#[test]
fn a_lock_that_is_never_poisoned_costs_no_event() {
    let (trace, _) = record(&["scope"], |_| true);
    assert!(trace.ops().iter().all(|op| !matches!(op, Op::Load { .. })));
}

#[test]
fn a_crowd_of_both_kinds_leaves_a_trace_that_is_possible() {
    for _ in 0..3 {
        // To load it is to replay it.
        let (trace, _) = record(&["crowd"], |_| true);
        assert!(trace.len() > 100_000, "{} events", trace.len());
        assert_eq!(trace.foreign_threads().count(), 3);
        let observed = hb::races(&trace, Scope::Signatures).pairs;
        assert!(observed.is_empty(), "{observed:?}");
    }
}

#[test]
fn foreign_threads_are_counted_and_named_by_place() {
    let (trace, _) = record(&["scope"], |_| true);
    let foreign: Vec<_> = trace.foreign_threads().collect();
    let [(_, Some(place))] = foreign[..] else { panic!("{foreign:?}") };
    assert!(trace.printer().place(place).contains("unseen.rs:"));
    assert!(trace.unattributed().is_empty());
}

#[test]
fn a_pool_belongs_to_the_test_that_runs() {
    for test in ["one", "two", "three"] {
        let (trace, _) = record(&["pool"], |name| name.contains(test));
        assert_eq!(trace.foreign_threads().count(), 1, "{test}");
        assert!(trace.unattributed().is_empty(), "{test}");
        assert_eq!(predicted(&trace), BTreeSet::new(), "{test}");
        let foreign = trace.foreign_threads().next().expect("there is one").0;
        let events = trace.events_of_thread(foreign);
        let taken = events.iter().filter(|event| matches!(trace.op(**event), Op::Acquire(_)));
        assert_eq!(taken.count(), 3, "{test}");
    }
}

#[test]
fn of_two_tests_at_once_nobody_knows_whose_a_pool_is() {
    let (left, _) = record(&["two-tests"], |name| name.contains("left"));
    let (right, _) = record(&["two-tests"], |name| name.contains("right"));
    assert_eq!((left.unattributed().len(), right.unattributed().len()), (1, 1));
    let place = left.unattributed()[0].expect("the place is known");
    assert!(left.printer().place(place).contains("unseen.rs:"));
    // When there is but one, it is that one's.
    assert_eq!((left.foreign_threads().count(), right.foreign_threads().count()), (1, 0));
    assert_eq!(predicted(&left), BTreeSet::new());
}
