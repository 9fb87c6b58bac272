//! Recorded programs, ended in all the ways that a process can end: their traces load, validate,
//! and miss nothing that was done.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use predictor::detect::{Scope, hb};
use predictor::explore::explore;
use predictor::goal::GoalKinds;
use predictor::trace::format::{Format, Source};
use predictor::trace::{Op, Trace};
use racelog::trace::End;
use tempfile::TempDir;

use crate::support::run;

fn recorded(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recorded"));
    command.args(args).env("RACELOG", "1").env("RACELOG_DIR", folder);
    command.env_remove("RACELOG_MAX_BYTES");
    command
}

fn traces(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The one trace in the folder; it must be valid.
fn load(folder: &Path) -> Trace {
    let paths = traces(folder);
    assert_eq!(paths.len(), 1, "{paths:?}");
    let mut source = Source::open(&paths[0], Some(Format::Binary)).unwrap();
    Trace::load(&mut source, |_| {}).unwrap_or_else(|error| {
        let kept = std::env::temp_dir().join("racelog-invalid.rlog");
        fs::copy(&paths[0], &kept).unwrap();
        panic!("{error}; the trace is in {}", kept.display());
    })
}

fn count(trace: &Trace, wanted: impl Fn(&Op) -> bool) -> usize {
    trace.events().filter(|event| wanted(&trace.op(*event))).count()
}

fn updates(trace: &Trace) -> usize {
    count(trace, |op| matches!(op, Op::Rmw { .. }))
}

/// Runs a program that prints how many updates it has made, and compares.
fn check(args: &[&str], exit_code: Option<i32>, end: End) {
    let folder = TempDir::new().unwrap();
    let output = crate::support::run_raw(&mut recorded(folder.path(), args), b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), exit_code, "{args:?}: {errors}");
    let said: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    let trace = load(folder.path());
    assert_eq!(trace.end(), end, "{args:?}");
    if args[0] == "exit" {
        // Another thread went on updating.
        assert!(updates(&trace) >= said, "{args:?}");
    } else {
        assert_eq!(updates(&trace), said, "{args:?}");
    }
}

#[test]
fn nothing_is_missing_however_a_process_ends() {
    check(&["count", "3000"], Some(0), End::Clean);
    check(&["exit", "3000"], Some(3), End::Clean);
    check(&["panic", "3000"], Some(0), End::Clean);
    check(&["never", "3000"], Some(0), End::Clean);
    check(&["abort", "3000"], None, End::CutOff);
    check(&["threads", "500"], Some(0), End::Clean);
    check(&["small-stacks", "40"], Some(0), End::Clean);
}

#[test]
fn threads_with_small_stacks_run_when_nothing_is_recorded() {
    let folder = TempDir::new().unwrap();
    let mut command = recorded(folder.path(), &["small-stacks", "40"]);
    let output = crate::support::run_raw(command.env_remove("RACELOG"), b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"40\n"[..]), "{errors}");
    assert!(traces(folder.path()).is_empty());
}

#[test]
fn nothing_is_missing_when_a_process_is_killed() {
    let (folder, done) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let files = done.path().join("thread-").display().to_string();
    let mut child = recorded(folder.path(), &["endless", "3", &files])
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let written = || -> u64 {
        let lens = fs::read_dir(done.path()).unwrap().map(|file| file.unwrap().metadata().unwrap());
        lens.map(|file| file.len()).sum()
    };
    while written() < 30_000 {
        assert!(child.try_wait().unwrap().is_none(), "it is endless");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let done = usize::try_from(written()).unwrap();
    let trace = load(folder.path());
    assert_eq!(trace.end(), End::CutOff);
    let seen = updates(&trace);
    // Each of the three may have been between its update and its byte.
    assert!((done..=done + 3).contains(&seen), "{done} done, {seen} recorded");
}

fn is_plain(op: &Op) -> bool {
    matches!(op, Op::Read { .. } | Op::Write { .. })
}

/// How often the kill test is repeated: it is a matter of chance what a kill hits.
const KILLS: usize = 12;

#[test]
fn nothing_is_missing_when_threads_with_cells_of_their_own_are_killed() {
    for round in 1..=KILLS {
        let (folder, done) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let files = done.path().join("thread-").display().to_string();
        let mut child = recorded(folder.path(), &["endless-cells", "3", &files])
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let written = |number: usize| {
            fs::metadata(format!("{files}{number}")).map_or(0, |file| file.len() as usize)
        };
        // Each thread fills its largest chunk several times.
        while (0..3).any(|number| written(number) < 200 + 17 * round) {
            assert!(child.try_wait().unwrap().is_none(), "it is endless");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let trace = load(folder.path());
        assert_eq!(trace.end(), End::CutOff);
        let mut seen: Vec<usize> = trace
            .threads()
            .map(|thread| {
                let events = trace.events().filter(|event| trace.thread(*event) == thread);
                events.filter(|event| matches!(trace.op(*event), Op::Write { .. })).count()
            })
            .filter(|writes| *writes > 0)
            .collect();
        let mut least: Vec<usize> = (0..3).map(|number| written(number) * 1000).collect();
        seen.sort_unstable();
        least.sort_unstable();
        for (seen, least) in seen.iter().zip(&least) {
            // Each may have been within its next thousand.
            assert!((*least..=least + 1000).contains(seen), "{least} done, {seen} recorded");
        }
        assert_eq!(seen.len(), 3);
    }
}

#[test]
fn cells_that_change_hands_are_recorded_as_it_happened() {
    for (program, rounds) in [("cells", "300"), ("walk", "2000"), ("handed-over", "60")] {
        for _ in 0..3 {
            let folder = TempDir::new().unwrap();
            let (code, out, err) = run(&mut recorded(folder.path(), &[program, rounds]), b"");
            assert_eq!((code, err.as_str()), (0, ""));
            let said: usize = out.trim().parse().unwrap();
            let trace = load(folder.path());
            // What a lock guards is read and written with it.
            let guarded = 4 * rounds.parse::<usize>().unwrap() * 2;
            let others = if program == "cells" { guarded } else { 0 };
            assert_eq!(count(&trace, is_plain), said + others, "{program}");
            assert_located(&trace);
        }
    }
}

#[test]
fn a_million_objects_are_a_million_objects() {
    let folder = TempDir::new().unwrap();
    let (code, out, err) = run(&mut recorded(folder.path(), &["objects", "1000000"]), b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let trace = load(folder.path());
    let objects: usize = out.trim().parse().unwrap();
    // Each object is one variable, and one in four is a lock besides. One more keeps the end of the
    // scope together.
    assert_eq!(trace.lock_count(), objects / 4 + 1);
    let per_thread = 2;
    assert_eq!(trace.var_count(), objects + 2 * per_thread);
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_program() {
    let folder = TempDir::new().unwrap();
    let mut limited = recorded(folder.path(), &["count", "300000"]);
    limited.env("RACELOG_MAX_BYTES", "1m");
    let (code, out, err) = run(&mut limited, b"");
    assert_eq!((code, out.as_str()), (0, "600000\n"));
    let message = "racelog: recording stops here, the program goes on: ";
    assert_eq!(err.matches(message).count(), 1, "{err}");
    assert!(fs::metadata(&traces(folder.path())[0]).unwrap().len() <= 1 << 20);
    let trace = load(folder.path());
    assert_eq!(trace.end(), End::Full);
    assert!(updates(&trace) > 10_000);
}

#[test]
fn what_is_lost_is_counted_however_a_process_ends() {
    for (program, exit_code) in [("abort", None), ("count", Some(0))] {
        let folder = TempDir::new().unwrap();
        let mut limited = recorded(folder.path(), &[program, "100000"]);
        limited.env("RACELOG_MAX_BYTES", "1m");
        let output = crate::support::run_raw(&mut limited, b"");
        assert_eq!(output.status.code(), exit_code, "{program}");
        let said: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        let trace = load(folder.path());
        assert_eq!(trace.end(), End::Full, "{program}");
        let lost = usize::try_from(trace.lost_events()).unwrap();
        assert!(lost > 0, "{program}");
        // Among the lost ones are the ends of threads, and the like.
        let known = updates(&trace) + lost;
        assert!((said..said + 10).contains(&known), "{program}: {known} of {said}");
    }
}

#[test]
fn a_limit_that_leaves_no_room_at_all_leaves_an_empty_recording() {
    let folder = TempDir::new().unwrap();
    let mut limited = recorded(folder.path(), &["abort", "10"]);
    limited.env("RACELOG_MAX_BYTES", "50k");
    let output = crate::support::run_raw(&mut limited, b"");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("cannot record, the program goes on"), "{errors}");
    let trace = load(folder.path());
    assert_eq!((trace.len(), trace.end()), (0, End::CutOff));
}

/// A file that must not grow is to the recorder what a full disk is.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_may_not_grow_ends_the_recording() {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1000; exec \"$0\" count 300000"]);
    command.arg(env!("CARGO_BIN_EXE_recorded"));
    command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    let (code, out, err) = run(&mut command, b"");
    assert_eq!((code, out.as_str()), (0, "600000\n"));
    assert!(err.contains("recording stops here, the program goes on: "), "{err}");
    assert_eq!(load(folder.path()).end(), End::Full);
}

#[test]
fn an_unusable_folder_is_said_once_and_does_no_harm() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let (code, out, err) = run(&mut recorded(&file, &["count", "10"]), b"");
    assert_eq!((code, out.as_str()), (0, "20\n"));
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("cannot record, the program goes on"), "{err}");
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let folder = TempDir::new().unwrap();
    for value in [None, Some("0"), Some("")] {
        let mut command = recorded(folder.path(), &["count", "10"]);
        match value {
            Some(value) => command.env("RACELOG", value),
            None => command.env_remove("RACELOG"),
        };
        assert_eq!(run(&mut command, b""), (0, "20\n".to_owned(), String::new()));
        assert!(traces(folder.path()).is_empty());
    }
}

#[test]
fn what_eight_threads_do_at_once_is_recorded_as_it_happened() {
    for _ in 0..5 {
        let folder = TempDir::new().unwrap();
        let (code, _, err) = run(&mut recorded(folder.path(), &["stress", "8000"]), b"");
        assert_eq!((code, err.as_str()), (0, ""));
        let trace = load(folder.path());
        assert!(trace.len() > 100_000, "{}", trace.len());
        assert_located(&trace);
    }
}

/// Every event that says where it happened says a place in the program, none in racelog.
fn assert_located(trace: &Trace) {
    let mut printer = trace.printer();
    let mut located = 0;
    for event in trace.events() {
        if let Some(place) = printer.location(event) {
            let line = printer.event(event);
            assert!(place.starts_with("tests/src/bin/recorded.rs:"), "event {event}: {line}");
            located += 1;
        }
    }
    assert!(located > trace.len() / 2, "{located} of {}", trace.len());
}

#[test]
fn what_a_program_says_itself_is_recorded_where_it_says_it() {
    let folder = TempDir::new().unwrap();
    let (code, _, err) = run(&mut recorded(folder.path(), &["marks"]), b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let trace = load(folder.path());
    assert_located(&trace);
    let mut printer = trace.printer();
    let said: Vec<String> = trace
        .events()
        .map(|event| printer.event(event).split(" @ ").next().unwrap().to_owned())
        .collect();
    let expected = [
        "main branch",
        "main read x1 3",
        "main write x1 4",
        "main assert sums are right",
        "main assert raw pointer of a cell",
        "main end",
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_recorded_race_is_found() {
    let folder = TempDir::new().unwrap();
    let (code, _, err) = run(&mut recorded(folder.path(), &["race"]), b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let trace = load(folder.path());
    let found = explore(&trace, GoalKinds::RACES, 100_000, |_| {});
    assert!(found.complete);
    // Whichever write came first.
    assert_eq!(found.races().count(), 1);
    let mut printer = trace.printer();
    for pair in found.races() {
        let places = [pair.first(), pair.second()].map(|event| printer.location(event).unwrap());
        assert!(places.iter().all(|place| place.starts_with("tests/src/bin/recorded.rs:")));
    }
}

/// How many races the exhaustive search finds in what a program does.
fn races(program: &str) -> usize {
    let folder = TempDir::new().unwrap();
    let (code, _, errors) = crate::support::run(&mut recorded(folder.path(), &[program]), b"");
    assert_eq!(code, 0, "{errors}");
    let trace = load(folder.path());
    let found = predictor::explore::explore(&trace, GoalKinds::RACES, 1_000_000, |_| {});
    assert!(found.complete);
    found.races().count()
}

#[test]
fn a_scope_does_not_wait_for_the_thread_locals_of_its_threads() {
    assert_eq!(races("scope-locals"), 1);
    assert_eq!(races("scope-locals-joined"), 0);
}

/// One that is not would be an order that the trace does not have, and a race of nothing.
#[test]
fn every_look_at_the_end_of_a_thread_is_recorded() {
    let folder = TempDir::new().unwrap();
    let (code, said, errors) = run(&mut recorded(folder.path(), &["looks", "300"]), b"");
    assert_eq!(code, 0, "{errors}");
    let trace = load(folder.path());
    let main = trace.thread(trace.events().next().unwrap());
    let looks = trace.events().filter(|event| {
        let joined = || trace.events_of_thread(main)[trace.position(*event) - 1];
        trace.thread(*event) == main
            && matches!(trace.op(*event), Op::Load { .. })
            && !matches!(trace.op(joined()), Op::Join(_))
    });
    assert_eq!(looks.count(), said.trim().parse::<usize>().unwrap());
    assert!(hb::races(&trace, Scope::Signatures).pairs.is_empty());
}

#[test]
fn a_scope_waits_for_what_becomes_of_results() {
    assert_eq!(races("scope-results"), 0);
}

#[test]
fn a_scope_ends_by_one_wait_for_all_of_its_threads() {
    let folder = TempDir::new().unwrap();
    let (code, _, errors) =
        crate::support::run(&mut recorded(folder.path(), &["scope-results"]), b"");
    assert_eq!(code, 0, "{errors}");
    let trace = load(folder.path());
    assert_eq!(count(&trace, |op| matches!(op, Op::Join(_))), 0);
    let main = trace.thread(trace.events().next().unwrap());
    let mut own = trace.events().filter(|event| trace.thread(*event) == main);
    let end = own.by_ref().find(|event| matches!(trace.op(*event), Op::Leave { .. }));
    let end = end.expect("it waits for its threads");
    assert!(trace.ends_scope(end) && trace.location(end).is_some());
    let start = own.next().expect("it is one operation");
    assert!(matches!(trace.op(start), Op::Acquire(_)) && trace.location(start).is_none());
    let waits: Vec<&str> = own.map(|event| trace.op(event).keyword()).take(3).collect();
    assert_eq!(waits, ["load", "load", "release"]);
    // Nothing orders the threads among each other when they have done their work.
    let arrivals = trace.events().filter(|event| matches!(trace.op(*event), Op::Arrive { .. }));
    let threads = arrivals.map(|event| trace.thread(event)).collect::<BTreeSet<_>>();
    assert_eq!((threads.len(), threads.contains(&main)), (2, false));
}
