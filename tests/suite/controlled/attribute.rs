//! `#[racelog::test(schedules = …)]`, and what the environment can say to it.

use std::env;
use std::fs;
use std::process::Command;
use std::sync::atomic::Ordering;

use predictor::trace::Trace;
use predictor::trace::format::{Format, Source};
use racelog::sync::atomic::AtomicU32;
use racelog::sync::{Arc, Mutex};
use racelog::thread;
use tempfile::TempDir;

use crate::support::run;

/// Says to the test below what to do.
const ASKED: &str = "RACELOG_TEST_ASKED";

#[racelog::test(schedules = 100)]
fn passes() {
    let sum = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *sum.lock().unwrap() += 1);
        scope.spawn(|| *sum.lock().unwrap() += 2);
    });
    assert_eq!(sum.into_inner().unwrap(), 3);
}

fn lose_an_update() -> u32 {
    let counter = Arc::new(AtomicU32::new(0));
    let add = |counter: &AtomicU32| {
        counter.store(counter.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    };
    let other = {
        let counter = counter.clone();
        thread::spawn(move || add(&counter))
    };
    add(&counter);
    other.join().unwrap();
    counter.load(Ordering::SeqCst)
}

#[racelog::test(schedules = 500, strategy = "pct:2", seed = 3)]
#[should_panic(expected = "an update is lost")]
fn panics_as_the_body_does() {
    assert_eq!(lose_an_update(), 2, "an update is lost");
}

#[racelog::test(schedules = 500, strategy = "exhaustive")]
#[should_panic(expected = "the test returned an error: 1")]
fn an_error_is_a_failure() -> Result<(), u32> {
    match lose_an_update() {
        2 => Ok(()),
        other => Err(other),
    }
}

/// Not a test of its own: what others run again as a child.
#[racelog::test(schedules = 500)]
fn does_what_it_is_asked_to() {
    match env::var(ASKED).as_deref() {
        Ok("fail") => assert_eq!(lose_an_update(), 2),
        Ok("exit") if lose_an_update() == 1 => std::process::exit(7),
        _ => {}
    }
}

fn child(asked: &str, seed: Option<&str>, folder: &TempDir) -> (i32, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    let test = "controlled::attribute::does_what_it_is_asked_to";
    command.args([test, "--exact", "--nocapture"]).env(ASKED, asked);
    command.env("RACELOG", "1").env("RACELOG_DIR", folder.path()).env_remove("RACELOG_SEED");
    if let Some(seed) = seed {
        command.env("RACELOG_SEED", seed);
    }
    let (code, _, err) = run(&mut command, b"");
    (code, err)
}

fn seed(printed: &str) -> &str {
    let (_, rest) = printed.split_once("RACELOG_SEED=").expect("the seed is printed");
    rest.lines().next().unwrap()
}

#[test]
fn the_printed_seed_runs_the_failing_schedule_and_records_it() {
    let folder = TempDir::new().unwrap();
    let (code, err) = child("fail", None, &folder);
    assert_eq!(code, 101);
    let trace = |folder: &TempDir| {
        let mut traces = fs::read_dir(folder.path()).unwrap();
        traces.next().map(|trace| trace.unwrap().path())
    };
    assert_eq!(trace(&folder), None, "many schedules are not recorded");
    let (code, again) = child("fail", Some(seed(&err)), &folder);
    assert_eq!(code, 101);
    assert!(again.contains("racelog: schedule 1 fails: thread 0 (main) panicked"), "{again}");
    assert_eq!(seed(&again), seed(&err));
    let trace = trace(&folder).expect("one schedule is");
    let mut source = Source::open(&trace, Some(Format::Binary)).unwrap();
    let trace = Trace::load(&mut source, |_| {}).unwrap();
    assert_eq!(trace.thread_count(), 2);
}

#[test]
fn a_body_that_ends_the_process_leaves_its_seed() {
    let folder = TempDir::new().unwrap();
    let (code, err) = child("exit", None, &folder);
    assert_eq!(code, 7);
    assert!(err.contains("racelog: the process ends within a schedule: RACELOG_SEED="), "{err}");
    assert_eq!(child("exit", Some(seed(&err)), &folder).0, 7);
}

#[test]
fn a_seed_that_is_none_is_an_error() {
    let (code, err) = child("pass", Some("7"), &TempDir::new().unwrap());
    assert_eq!(code, 101);
    assert!(err.contains("RACELOG_SEED: `7` is no seed"), "{err}");
}
