//! Traces that were cut off: all that is kept is valid, has no race that the program does not have,
//! and says what is lost.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{predictor, run};

/// How often each way is tried. `cut_off_runs 1000` is what the figures in the docs are of.
const RUNS: &str = "10";

#[test]
fn whatever_is_kept_is_valid_and_without_race() {
    let mut runs = Command::new(env!("CARGO_BIN_EXE_cut_off_runs"));
    // The program that it runs stands beside it.
    assert!(fs::exists(env!("CARGO_BIN_EXE_cut_off")).unwrap());
    let (code, out, err) = run(runs.arg(RUNS), b"");
    assert_eq!(code, 0, "{out}{err}");
    let rows = out.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(rows, 2 + 9, "{out}");
    println!("{out}");
}

#[test]
fn a_recording_that_came_to_nothing_is_named_and_no_error() {
    let folder = TempDir::new().unwrap();
    for (name, contents) in [("empty.rlog", vec![]), ("zeros.rlog", vec![0; 1 << 18])] {
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        for command in ["validate", "analyze", "stats"] {
            let (code, _, err) = run(predictor().arg(command).arg(&path), b"");
            assert_eq!(code, 0, "{command} {name}: {err}");
            let said = format!("{name}: byte 0: nothing was recorded: the file has no header");
            assert!(err.contains(&said), "{command}: {err}");
        }
    }
}
