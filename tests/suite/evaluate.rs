//! The evaluation of the classic programs: what its tables say of a few small ones.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use predictor::analysis::{Detector, LONGEST};
use predictor::predict::Options;
use predictor::trace::Trace;
use racelog_examples::evaluate::{
    Child, Comparison, Contained, Effort, Kind, PaperTable, Recorded,
};
use racelog_examples::programs;

use crate::support::{example_program, run};

const EFFORT: Effort = Effort { confirm: true, runs: 4, time: Duration::from_secs(600) };

fn executable() -> PathBuf {
    example_program("evaluate").to_owned()
}

fn child(name: &str) -> Child {
    let program = programs().find(|program| program.name == name).expect("it is listed");
    let (size, time) = (program.small, Duration::from_secs(600));
    Child { executable: executable(), program, size, time }
}

fn record(name: &str) -> Recorded {
    child(name).record_as_known().unwrap_or_else(|problem| panic!("{problem}"))
}

/// The cell of a table's last program, by its column.
fn cell(paper: &dyn PaperTable, row: usize, column: &str) -> String {
    let mut out = Vec::new();
    paper.table().write_csv(&mut out).expect("memory");
    let text = String::from_utf8(out).expect("all is text");
    // The columns in question come before those whose names have commas.
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let at = header.iter().position(|name| *name == column).expect("the column is there");
    lines.nth(row).expect("the row is there")[at].to_owned()
}

fn table(kind: Kind, names: &[&str]) -> Box<dyn PaperTable> {
    let mut paper = kind.table();
    for name in names {
        let added = paper.add(&record(name), &child(name), &EFFORT);
        added.unwrap_or_else(|problem| panic!("{problem}"));
    }
    paper
}

#[test]
fn prediction_finds_what_locks_and_wake_ups_hide_from_happens_before() {
    for (name, races) in [("figure1", 1), ("channel", 1), ("arena", 3)] {
        let trace = record(name).trace;
        let found = Comparison::new(&trace, &Options::default());
        assert_eq!(found.of(Detector::Hb).found.len(), 0, "{name}");
        assert_eq!(found.of(Detector::Mcm).found.len(), races, "{name}");
        assert_eq!(found.said_is_contained(&trace), Contained::Yes, "{name}");
        assert_eq!(found.excess(&trace), [], "{name}");
    }
}

#[test]
fn locksets_suspect_what_is_no_race() {
    for name in ["figure1_switched", "channel_fixed", "arena_fixed", "spin_fixed", "arc_fixed"] {
        let trace = record(name).trace;
        let found = Comparison::new(&trace, &Options::default());
        assert!(!found.of(Detector::Quick).found.is_empty(), "{name}");
        assert!(found.of(Detector::Mcm).found.is_empty(), "{name}");
        assert!(found.of(Detector::Hb).found.is_empty(), "{name}");
    }
}

#[test]
fn what_only_others_report_is_listed() {
    let trace = record("spin").trace;
    let excess = Comparison::new(&trace, &Options::default()).excess(&trace);
    assert_eq!(excess.iter().map(|one| one.detector).collect::<Vec<_>>(), [Detector::Hb]);
    let text = &excess[0].text;
    assert!(text.contains("shapes/spin.rs:") && text.contains("too weak: Relaxed"), "{text}");
    let paper = table(Kind::Pldi14, &["spin"]);
    assert_eq!(cell(&*paper, 0, "program"), "spin *");
    assert_eq!(paper.notes(), [format!("* spin: only `hb`: {text}")]);
}

#[test]
fn the_table_of_pldi14() {
    let paper = table(Kind::Pldi14, &["arena", "critical"]);
    for (row, column, expected) in [
        (0, "program", "arena"),
        (0, "quick", "5"),
        (0, "hb", "0"),
        (0, "mcm", "3"),
        (0, "confirmed", "3/3"),
        (0, "said ⊆ mcm", "yes"),
        (1, "program", "critical"),
        (1, "mcm", "5"),
        (1, "confirmed", "5/5"),
        (2, "program", "total"),
        (2, "mcm", "8"),
    ] {
        assert_eq!(cell(&*paper, row, column), expected, "{row} {column}");
    }
    assert!(!paper.is_wrong());
    assert_eq!(paper.notes(), [""; 0]);
}

#[test]
fn the_table_of_nfm11() {
    let paper = table(Kind::Nfm11, &["critical", "banking", "channel_fixed"]);
    // What is left after each step: nothing in critical is guarded; in banking all is, but what
    // comes after the end of a scope, which waits for its threads; in the channel it takes values to
    // rule the pair out.
    let steps = ["lsa", "mhb", "said wtns", "mcm wtns"];
    for (row, left) in
        [["8", "8", "8", "8"], ["4", "0", "0", "0"], ["1", "1", "0", "0"]].into_iter().enumerate()
    {
        assert_eq!(steps.map(|column| cell(&*paper, row, column)), left, "{row}");
    }
}

#[test]
fn the_table_of_pldi08() {
    let paper = table(Kind::Pldi08, &["channel", "channel_fixed", "fsbench_a"]);
    let columns = ["hybrid", "real", "known"];
    for (row, expected) in
        [["1", "1", "1"], ["1", "0", "0"], ["0", "0", "0"]].into_iter().enumerate()
    {
        assert_eq!(columns.map(|column| cell(&*paper, row, column)), expected, "{row}");
    }
    // The letter that is read too early fails a check, and the note says by which seed.
    let note = paper.notes().join("\n");
    assert!(note.contains("channel: ") && note.contains("RACELOG_CONTROL=race:0:"), "{note}");
}

#[test]
fn a_program_runs_in_a_process_of_its_own() {
    let ended = child("fsbench_a").run_free().unwrap();
    assert_eq!(ended.code, Some(101));
    let missing = Child { executable: PathBuf::from("/nothing/here"), ..child("spin") };
    let problem = missing.run_free().unwrap_err().to_string();
    assert!(problem.starts_with("spin: it cannot be started: "), "{problem}");
}

#[test]
fn who_gives_up_says_so() {
    let mut text = "t1 write y 1 @ m.rs:3\n".repeat(LONGEST);
    text.push_str("t1 write x 1 @ m.rs:1\nt2 write x 2 @ m.rs:2\n");
    let trace: Trace = text.parse().unwrap();
    let found = Comparison::new(&trace, &Options::default());
    let cells = Detector::OF_RACES.map(|detector| found.cell(&trace, detector));
    assert_eq!(cells, ["1", "1", "1", "1", "too long", "too long", "1"]);
    let hasty = Options { total_time: Some(Duration::ZERO), ..Options::default() };
    let short: Trace = "t1 write x 1 @ m.rs:1\nt2 write x 2 @ m.rs:2\n".parse().unwrap();
    let found = Comparison::new(&short, &hasty);
    assert_eq!(found.cell(&short, Detector::Said), "0, 1 open");
}

fn evaluate(path: &Path, arguments: &[&str]) -> (i32, String, String) {
    run(Command::new(path).args(arguments), b"")
}

#[test]
fn from_the_command_line_to_the_tables() {
    let path = executable();
    let only = ["--only", "channel,spin", "--table", "pldi14,nfm11"];
    let (code, out, err) = evaluate(&path, &[&only[..], &["--format", "csv"]].concat());
    assert_eq!(code, 0, "{err}");
    let first_words: Vec<&str> =
        out.lines().map(|line| line.split(',').next().unwrap_or_default()).collect();
    let expected = ["program", "channel", "spin *", "total", "", "program", "channel", "spin"];
    assert_eq!(first_words, expected, "{out}");
    assert!(err.contains("* spin: only `hb`"), "{err}");
    let (code, out, err) = evaluate(&path, &[&only[..], &["--format", "markdown"]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("### PLDI 2014, Table 1"), "{out}");
    assert!(out.contains("| channel | ") && out.contains("\n- \\* spin: only `hb`"), "{out}");
    for (arguments, part) in [
        (["--only", "chanel"], "no program is called `chanel`: is it `channel`?"),
        (["--size", "0"], "numbers above 0"),
        (["--table", "pldi15"], "pldi14, nfm11, pldi08"),
    ] {
        let (code, out, err) = evaluate(&path, &arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    }
}
