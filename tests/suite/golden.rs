//! Golden files: every version of the format that was ever written can be read, and the current
//! one is written as it was.
//!
//! A change of format needs a new version and a new folder. To write the files of the current
//! version anew, run `cargo bless`.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use predictor::explore::explore;
use predictor::goal::GoalKinds;
use predictor::predict::{Options, predict};
use predictor::trace::Trace;
use predictor::trace::format::{Format, Source};
use racelog_tests::expected::{BLESS, TESTS, check_bytes};

use crate::support::{convert, repository};

fn text_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("every-operation.rtxt")).unwrap()
}

fn read(golden: &[u8]) -> String {
    String::from_utf8(convert(golden, Format::Binary, Format::Text)).unwrap()
}

#[test]
fn earlier_versions_are_read_as_ever() {
    for version in ["v1", "v2", "v3", "v4", "v5"] {
        let folder = repository().join("tests/golden").join(version);
        let golden = fs::read(folder.join("every-operation.rlog")).unwrap();
        assert_eq!(read(&golden), text_of(&folder), "{version}");
    }
}

#[test]
fn version_6_is_read_and_written_as_ever() {
    let folder = repository().join("tests/golden/v6");
    let text = text_of(&folder);
    let written = convert(text.as_bytes(), Format::Text, Format::Binary);
    assert_eq!(read(&written), text);
    check_bytes("tests/golden/v6/every-operation.rlog", &written);
}

/// No writer but a recorder says which variable a lock's poison flag is: readers add what that
/// means.
#[test]
fn what_a_recorder_leaves_to_be_added_is_added() {
    let folder = repository().join("tests/golden/v3");
    let golden = fs::read(folder.join("poisoned.rlog")).unwrap();
    let text = fs::read_to_string(folder.join("poisoned.rtxt")).unwrap();
    assert_eq!(read(&golden), text);
    let written = convert(text.as_bytes(), Format::Text, Format::Binary);
    assert_eq!(read(&written), text);
}

/// Recorders of versions 1 to 3 wrote `try_lock` down as they did `lock`. So nobody is taken to wait
/// for ever, and it is said that deadlocks and stalls are not found.
#[test]
fn versions_that_say_nothing_of_patience_have_no_deadlock() {
    let lines = [
        ["t1 acquire a", "t1 acquire b", "t1 release b", "t1 release a"],
        ["t2 acquire b", "t2 acquire a", "t2 release a", "t2 release b"],
    ];
    let text = format!("t0 fork t1\nt0 fork t2\n{}\n", lines.concat().join("\n"));
    let mut trace = convert(text.as_bytes(), Format::Text, Format::Binary);
    for (version, expected) in [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1), (6, 1)] {
        set_version(&mut trace, version);
        let mut source = Source::of_bytes(trace.clone(), None).unwrap();
        let loaded = Trace::load(&mut source, |_| {}).unwrap();
        let found = explore(&loaded, GoalKinds::ALL, 10_000, |_| {}).found;
        assert_eq!(found.len(), expected, "version {version}");
        let options = Options { all_goals: true, ..Options::default() };
        assert_eq!(predict(&loaded, &options, |_, _| {}).found.len(), expected);
        let note = source.note().unwrap_or_default();
        assert_eq!(note.contains("no deadlock or stall is found"), expected == 0, "{note}");
    }
}

/// Makes a trace one of another version, of which it has no new code.
fn set_version(trace: &mut [u8], version: u16) {
    trace[8..10].copy_from_slice(&version.to_le_bytes());
    let payload = u32::from_le_bytes(trace[12..16].try_into().unwrap()) as usize;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&trace[..16]);
    hasher.update(&trace[20..20 + payload]);
    trace[16..20].copy_from_slice(&hasher.finalize().to_le_bytes());
}

/// What `cargo bless` runs is all that has expected files.
#[test]
fn every_test_with_expected_files_is_blessed() {
    let mut users = Vec::new();
    let suite = repository().join("tests/suite");
    let mut folders = vec![suite.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let calls = ["check_text(", "check_bytes(", "check_golden(", "TestCases::new("];
            if calls.iter().any(|call| text.contains(call)) {
                let path = path.strip_prefix(&suite).unwrap().with_extension("");
                let module = path.components().next().unwrap().as_os_str().to_str().unwrap();
                users.push(format!("{module}::"));
            }
        }
    }
    users.sort();
    users.dedup();
    assert_eq!(users, TESTS);
}

#[test]
fn differences_from_expected_files_are_said() {
    let path = "tests/golden/v1/every-operation.rtxt";
    let text = fs::read_to_string(repository().join(path)).unwrap();
    let message = |found: String| {
        let checked = catch_unwind(|| {
            check_bytes(path, found.as_bytes());
        });
        checked.err().map(|panic| panic.downcast_ref::<String>().unwrap().clone())
    };
    assert_eq!(message(text.clone()), None);
    // With `RACELOG_BLESS=1` the file would be written.
    if std::env::var_os(BLESS).is_none() {
        let said = message(text[1..].to_owned()).unwrap();
        assert!(said.contains(&format!("{path}: they differ from byte 0 on")), "{said}");
        assert!(said.contains("run `cargo bless`"), "{said}");
    }
}
