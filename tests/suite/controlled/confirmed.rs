//! Every race that is predicted in an example or in a program of these tests is confirmed by a
//! replay, in both orders.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::case::{Case, trace_in};
use crate::support::{examples, findings_of, predictor, run};

#[test]
fn every_race_of_the_small_examples_is_confirmed() {
    let mut racy = Vec::new();
    // `tests/suite/programs.rs` has the classic ones.
    for program in examples().iter().filter(|path| path.file_stem().unwrap() != "example") {
        // Those that take an argument want a file to write.
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file.rlog");
        let (races, _) = Case::new(program, &[file.to_str().unwrap()]).confirm();
        if races > 0 {
            racy.push(program.file_stem().unwrap().to_str().unwrap());
        }
    }
    assert!(racy.contains(&"racy_counter"), "{racy:?}");
}

#[test]
fn every_race_of_the_recorded_programs_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_recorded"));
    assert_eq!(Case::new(program, &["race"]).confirm(), (1, 0));
    for args in [
        ["marks", ""],
        ["count", "5"],
        ["threads", "4"],
        ["objects", "40"],
        ["panic", "3"],
        ["never", "3"],
        ["exit", "3"],
        ["abort", "3"],
    ] {
        Case::new(program, &args).confirm();
    }
}

#[test]
fn every_race_of_a_program_that_was_killed_is_confirmed() {
    let (folder, done) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let files = done.path().join("thread-").display().to_string();
    let args = ["endless", "2", &files];
    let case = Case::new(Path::new(env!("CARGO_BIN_EXE_recorded")), &args);
    let mut child = case.command(folder.path()).stdin(Stdio::null()).spawn().unwrap();
    let written = || -> u64 {
        let files = fs::read_dir(done.path()).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    while written() < 100 {
        assert!(child.try_wait().unwrap().is_none(), "it is endless");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let trace = trace_in(folder.path()).expect("it is recorded");
    let cases = Case { all_pairs: false, ..case };
    // All that it shares is atomic, or under a lock.
    assert_eq!(cases.confirm_all(&trace), (0, 0));
}

/// Eight threads that do everything, with waits that end by a time-out and without.
#[test]
fn every_race_of_eight_threads_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_recorded"));
    let seeds = ["random:1", "random:2", "random:3", "random:4", "pct:5:2000:3"];
    let mut races = 0;
    for seed in seeds {
        let case = Case::new(program, &["stress", "30"]);
        races += Case { seed: Some(seed), all_pairs: false, ..case }.confirm().0;
    }
    assert!(races >= 10, "{races} races");
}

#[test]
fn every_race_of_the_instrumented_programs_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_instrumented"));
    let (_, names, _) = run(Command::new(program).arg("list"), b"");
    let racy = names.lines().filter(|name| Case::new(program, &[name]).confirm().0 > 0);
    let racy: Vec<&str> = racy.collect();
    // The figures of the paper that have a race, and the unsafe programs with a bug.
    for name in ["figure1", "figure2-case1", "array-element", "edge-none"] {
        assert!(racy.contains(&name), "{name} is not in {racy:?}");
    }
    for name in ["ring-bug", "static-bug", "spin-bug", "once-bug"] {
        assert!(racy.contains(&name), "{name} is not in {racy:?}");
    }
    for name in names.lines() {
        Case::new(program, &["plain", name]).confirm();
    }
}

#[test]
fn a_race_that_needs_another_thread_to_be_woken_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_waits"));
    assert_eq!(Case::new(program, &["whom"]).confirm(), (1, 0));
}

/// Waits of all kinds, many of which end otherwise in the witnesses than in the runs.
#[test]
fn every_race_among_waits_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_waits"));
    let mut races = 0;
    for number in ["1", "5", "9", "13"] {
        let (random, pct) = (format!("random:{number}"), format!("pct:5:500:{number}"));
        for seed in [&random, &pct] {
            let args = ["mix", number];
            let case = Case { seed: Some(seed), ..Case::new(program, &args) };
            races += case.confirm().0;
        }
    }
    assert!(races >= 50, "{races} races");
}

#[test]
fn every_race_of_the_controlled_programs_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_controlled"));
    for args in [["four", "2"], ["four", "3"]] {
        Case::new(program, &args).confirm();
    }
    // Where it comes to a deadlock it ends there.
    for seed in ["random:0", "random:1", "random:2", "random:3"] {
        Case { seed: Some(seed), ..Case::new(program, &["deadlock"]) }.confirm();
    }
}

#[test]
fn harm_is_told_where_it_follows() {
    let controlled = Path::new(env!("CARGO_BIN_EXE_controlled"));
    // The writer has to go first all the way, or the reader does not come to its access.
    let seeds = (0..50).map(|seed| format!("pct:1:1:{seed}"));
    let mut found = seeds.map(|seed| {
        let case = Case::new(controlled, &["late"]);
        Case { seed: Some(&seed), ..case }.confirm()
    });
    assert_eq!(found.find(|(races, _)| *races > 0), Some((1, 1)));
}

#[test]
fn a_race_of_a_test_is_confirmed_in_that_test() {
    let program = std::env::current_exe().unwrap();
    let args = ["controlled::replay::a_racy_test", "--exact"];
    assert_eq!(Case::new(&program, &args).confirm(), (1, 0));
}

#[test]
fn a_lock_with_readers_is_one_lock_in_a_report() {
    let case = Case::new(Path::new(env!("CARGO_BIN_EXE_controlled")), &["rwlock"]);
    let folder = TempDir::new().unwrap();
    let trace = case.record(folder.path()).expect("it is recorded");
    let mut command = predictor();
    command.args(["analyze", "--format", "json"]).arg(&trace);
    let (_, out, err) = run(&mut command, b"");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
    let finding = &findings_of(&report)[0];
    let parts = finding["occurrences"][0]["parts"].as_array().expect("there is a race");
    let locks = parts.iter().map(|part| part["locks"].as_array().unwrap());
    let locks: Vec<&serde_json::Value> = locks.flatten().collect();
    // One each, and one of them is shared.
    assert_eq!(locks.len(), 2, "{locks:?}");
    assert_eq!(locks.iter().filter(|lock| lock["shared"] == true).count(), 1, "{locks:?}");
    assert_eq!(case.confirm_all(&trace).0, 1);
}

/// The order in which scoped threads end is nobody's, and a scope waits for all of them at once.
#[test]
fn races_of_scoped_threads_that_end_together_are_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_controlled"));
    for _ in 0..20 {
        let (races, _) = Case { all_pairs: false, ..Case::new(program, &["scope"]) }.confirm();
        // Among the three, and with what comes after the scope.
        assert_eq!(races, 2);
    }
}

#[test]
fn what_always_goes_wrong_is_no_harm_of_the_race() {
    let program = Path::new(env!("CARGO_BIN_EXE_controlled"));
    // In the recorded run, too.
    let (code, replayed, said) = Case::new(program, &["ends", "panics"]).replay_only_race();
    assert_eq!((code, &replayed["verdict"]["harm"]), (0, &"every_run".into()), "{replayed}");
    assert!(said.starts_with("confirmed\n"), "{said}");
    assert!(said.contains("that is not due to the race"), "{said}");
    // It is a message, and no thread.
    assert_eq!(said.matches("then panic: 0.1 is not 0, in `main` at ").count(), 2, "{said}");
    // Not in the recorded run, but whichever goes first.
    let case = Case::new(program, &["ends", "panics later"]);
    let (code, replayed, said) = Case { input: b"go on\n", ..case }.replay_only_race();
    assert_eq!((code, &replayed["verdict"]["harm"]), (0, &"both_orders".into()), "{replayed}");
    assert!(said.contains("the schedule leads there, not the race itself"), "{said}");
}

#[test]
fn how_a_program_ends_after_its_race_is_told() {
    let program = Path::new(env!("CARGO_BIN_EXE_controlled"));
    for (how, then, words) in [
        ("exit", serde_json::json!("nothing"), "then exit code 3"),
        // An abort is signal 6, wherever there are signals.
        ("abort", serde_json::json!({ "killed": 6 }), "then killed by signal 6"),
    ] {
        let args = ["ends", how];
        let (code, replayed, said) = Case::new(program, &args).replay_only_race();
        assert_eq!(code, 0, "{replayed}");
        // It ends so whichever is first: that is not the race's doing.
        assert_eq!(replayed["verdict"]["harmful"], false, "{replayed}");
        assert_eq!(replayed["verdict"]["harm"], "both_orders_at_least", "{replayed}");
        for order in replayed["orders"].as_array().unwrap() {
            assert_eq!(order["outcome"]["then"], then, "{order}");
            // That of the first of the two is there in any case.
            assert!(!order["outcome"]["values"].as_array().unwrap().is_empty(), "{order}");
        }
        assert_eq!(said.matches(words).count(), 2, "{said}");
    }
}
