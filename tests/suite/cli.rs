//! The `predictor` command, as people call it.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use predictor::trace::format::Format;
use tempfile::TempDir;

use crate::support::{cargo_racelog, convert, predictor, repository, run, run_raw};

const FIGURE_4: &str = "examples/traces/pldi14-figure4.rtxt";

fn figure_4() -> String {
    repository().join(FIGURE_4).display().to_string()
}

#[test]
fn explore_prints_the_races_and_says_so_by_its_exit_code() {
    for (file, code, json) in [
        ("pldi14-figure4", 1, "{\"races\":[[3,10]]}\n"),
        ("pldi14-figure2-case1", 1, "{\"races\":[[1,4]]}\n"),
        ("pldi14-figure2-case2", 0, "{\"races\":[]}\n"),
        ("open-regions", 1, "{\"races\":[[4,9]]}\n"),
        ("third-thread", 1, "{\"races\":[[5,8]]}\n"),
    ] {
        let path = repository().join(format!("examples/traces/{file}.rtxt"));
        let mut command = predictor();
        command.arg("explore").arg(path).args(["--goals", "races", "--format", "json"]);
        assert_eq!(run(&mut command, b""), (code, json.to_owned(), String::new()), "{file}");
    }
}

#[test]
fn explore_tells_people_how_the_race_comes_about() {
    let (code, out, err) = run(predictor().args(["explore", &figure_4()]), b"");
    let expected = "race (3, 10)\n       3  t1 write x 1\n      10  t2 read x 1\n witness  1 6 7 8 \
                    9 2 3 10\n\n1 race in 16 events; 33 states explored, all of them\n";
    assert_eq!((code, out.as_str(), err.as_str()), (1, expected, ""));
}

#[test]
fn explore_says_when_it_has_not_seen_everything() {
    let text = b"t1 branch\nt1 branch\nt2 branch\nt2 branch\n";
    let mut command = predictor();
    command.args(["explore", "-", "--max-states", "3", "--goals", "races", "--format", "json"]);
    let (code, out, err) = run(&mut command, text);
    assert_eq!((code, out.as_str()), (2, "{\"races\":[],\"complete\":false}\n"));
    assert!(err.contains("raise --max-states"), "{err}");
}

#[test]
fn check_says_yes_or_no() {
    let folder = TempDir::new().unwrap();
    let witness = folder.path().join("witness.txt");
    fs::write(&witness, "1 6 7 8 9 # t2 first\n2 3, 10\n").unwrap();
    let witness = witness.display().to_string();
    for witness in [witness.as_str(), "1,6,7,8,9,2,3,10"] {
        let (code, out, _) = run(predictor().args(["check", &figure_4(), witness]), b"");
        assert_eq!(code, 0);
        assert!(out.starts_with("yes: (3, 10) is a race\n"), "{out}");
    }
    let (code, out, _) = run(predictor().args(["check", &figure_4(), "-"]), b"1 2 3 7 4 8");
    assert_eq!(code, 1);
    let expected =
        "no: step 4, event 7: `t2 acquire l` cannot happen here: the next event of `t2` is 6\n";
    assert_eq!(out, expected);
    let (code, _, err) = run(predictor().args(["check", &figure_4(), "-"]), b"1\n2 x");
    assert_eq!((code, err.contains("standard input: line 2: `x` is no event number")), (2, true));
    let (code, _, err) = run(predictor().args(["check", "-", "-"]), b"");
    assert_eq!((code, err.contains("both the trace and the witness")), (2, true));
}

#[test]
fn convert_goes_by_extension_or_option() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = convert(&fs::read(figure_4()).unwrap(), Format::Text, Format::Text);
    for (args, output) in [
        (vec![figure_4(), path("a.rlog")], "a.rlog"),
        (vec![path("a.rlog"), path("b.rtxt")], "b.rtxt"),
        (vec![path("b.rtxt"), path("c"), "--to".into(), "binary".into()], "c"),
        // Its first bytes tell.
        (vec![path("c"), path("d.rtxt")], "d.rtxt"),
    ] {
        let (code, out, err) = run(predictor().arg("convert").args(&args), b"");
        assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""), "{args:?}");
        assert!(folder.path().join(output).exists());
    }
    assert_eq!(fs::read(path("b.rtxt")).unwrap(), text);
    assert_eq!(fs::read(path("d.rtxt")).unwrap(), text);
    assert_eq!(fs::read(path("c")).unwrap(), fs::read(path("a.rlog")).unwrap());

    // Through pipes, and onto itself.
    let binary = run_raw(predictor().args(["convert", "-", "-", "--to", "binary"]), &text).stdout;
    assert_eq!(binary, fs::read(path("a.rlog")).unwrap());
    let again = run_raw(predictor().args(["convert", "-", "-"]), &binary).stdout;
    assert_eq!(again, text);
    let mut onto_itself = predictor();
    onto_itself.args(["convert", &path("a.rlog"), &path("a.rlog")]);
    assert_eq!(run(&mut onto_itself, b"").0, 0);
    assert_eq!(binary, fs::read(path("a.rlog")).unwrap());

    let (code, _, err) = run(predictor().args(["convert", &figure_4(), &path("x.txt")]), b"");
    assert_eq!((code, err.contains("say --to text, binary or std")), (2, true), "{err}");
}

#[test]
fn a_failed_conversion_leaves_the_old_file_alone() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.std");
    fs::write(&output, "precious").unwrap();
    let text = b"t1 load x 0\n";
    let (code, _, err) = run(predictor().args(["convert", "-"]).arg(&output), text);
    assert_eq!((code, err.contains("event 1: STD has no `load`")), (2, true), "{err}");
    assert_eq!(fs::read(&output).unwrap(), b"precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was left behind");

    let (code, _, err) = run(predictor().args(["convert", "-", "--lossy"]).arg(&output), text);
    assert_eq!((code, err.contains("1 events that STD cannot express")), (0, true), "{err}");
    assert_eq!(fs::read(&output).unwrap(), b"");
}

#[test]
fn a_damaged_trace_is_converted_up_to_the_damage() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.rlog");
    let text = b"t1 write x 1\nt1 wriet x 2\nt1 write x 3\n";
    let (code, _, err) = run(predictor().args(["convert", "-"]).arg(&output), text);
    let expected = "error: standard input: line 2, column 4: `wriet` is no operation: did you mean \
                    `write`?\n";
    assert_eq!((code, err.as_str()), (2, expected));
    let (code, out, err) = run(predictor().arg("convert").arg(&output).arg("-"), b"");
    assert_eq!((code, out.as_str()), (0, "t1 write x 1\n#racelog end cut-off\n"));
    assert!(err.contains("warning: ") && err.contains("cut off"), "{err}");
}

#[test]
fn show_filters() {
    let shown = |args: &[&str]| run(predictor().args(["show", &figure_4()]).args(args), b"");
    let (code, out, _) = shown(&["--thread", "t2", "--object", "x"]);
    assert_eq!((code, out.as_str()), (0, "      10  t2 read x 1\n"));
    let (_, out, _) = shown(&["--object", "l"]);
    let numbers: Vec<&str> = out.lines().map(|line| line[..8].trim()).collect();
    assert_eq!(numbers, ["2", "5", "7", "9"]);
    let (_, out, _) = shown(&["--around", "16", "--context", "1"]);
    assert_eq!(out, "      15  t1 read z 1\n      16  t1 branch\n");
    let (_, out, _) = shown(&[]);
    assert_eq!(out.lines().count(), 19);
    let (code, _, err) = shown(&["--around", "17"]);
    assert_eq!((code, err.contains("event 17: the trace has 16 events")), (2, true));
}

#[test]
fn names_that_nothing_has_are_errors() {
    let shown = |args: &[&str]| run(predictor().args(["show", &figure_4()]).args(args), b"");
    let (code, _, err) = shown(&["--thread", "nope"]);
    assert_eq!(code, 2);
    assert!(err.contains("no thread is called `nope`: there are `t1`, `t2`"), "{err}");
    let (code, out, err) = shown(&["--object", "x", "--object", "xx"]);
    assert_eq!((code, out.lines().count()), (2, 3), "{out}{err}");
    assert!(err.contains("no object is called `xx`: there are `x`"), "{err}");
    // Those that come later are there, too.
    let (code, _, err) = shown(&["--around", "1", "--context", "0", "--object", "z"]);
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn one_bad_file_does_not_lose_the_others() {
    let mut command = predictor();
    let (code, out, err) = run(command.args(["stats", "missing.rlog", &figure_4()]), b"");
    assert_eq!((code, out.lines().count()), (2, 2), "{out}");
    assert!(err.starts_with("error: missing.rlog: "), "{err}");
}

#[test]
fn versions_are_told() {
    for flag in ["--version", "-V"] {
        let (code, out, _) = run(predictor().arg(flag), b"");
        assert_eq!((code, out.starts_with("predictor ")), (0, true), "{out}");
        let (code, out, _) = run(cargo_racelog().arg(flag), b"");
        assert_eq!((code, out.starts_with("cargo-racelog 0.")), (0, true), "{out}");
    }
}

#[test]
fn stats_count() {
    let (code, out, _) = run(predictor().args(["stats", "-"]), &fs::read(figure_4()).unwrap());
    assert_eq!(code, 0);
    let row: Vec<&str> = out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..9], ["-", "2", "16", "6", "8", "2", "0", "1", "3"]);
    let std = b"T0|w(x)|1\nT0|r(x)|2\n";
    let (_, out, _) = run(predictor().args(["stats", "-"]), std);
    let row: Vec<&str> = out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["-", "1", "2", "2", "0", "0", "1", "0", "1", "0", "0", "0", "0", "10.00"]);
}

#[test]
fn stats_count_what_threads_wait_for() {
    let figures = |text: &str| {
        let (code, out, err) = run(predictor().args(["stats", "-"]), text.as_bytes());
        assert_eq!((code, err.as_str()), (0, ""));
        let mut rows = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let (headings, row) = (rows.next().unwrap(), rows.next().unwrap());
        assert_eq!(headings[9..13], ["waits", "circles", "bounded", "standing"]);
        row[9..13].iter().map(|figure| figure.parse().unwrap()).collect::<Vec<u32>>()
    };
    // Two locks in a circle, three in another, two in one order, and one that is only tried.
    let nested = |thread: &str, a: &str, b: &str| {
        let lines = [("acquire", a), ("acquire", b), ("release", b), ("release", a)];
        lines.map(|(op, lock)| format!("{thread} {op} {lock}\n")).concat()
    };
    let circles = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "e"), ("e", "c"), ("a", "f")];
    let circles = circles.map(|(a, b)| nested("t", a, b)).concat();
    let tried =
        nested("t", "f", "g") + &nested("t", "g", "f").replace("acquire f", "acquire f try");
    assert_eq!(figures(&format!("{circles}{tried}")), [0, 2, 0, 0]);
    let waits = "channel ch 1\nt fork u\nt send ch a\nu recv ch a\nt send ch b\nu recv ch b try\n\
                 u send free a\nt recv free a timed\nt join u\n";
    assert_eq!(figures(waits), [4, 0, 1, 0]);
    let stands = "t fork u\nt request join u\nu request park\nu assert it went on\n";
    assert_eq!(figures(stands), [0, 0, 0, 1]);
}

#[test]
fn validate_names_the_first_broken_rule() {
    let (code, out, err) = run(predictor().args(["validate", &figure_4()]), b"");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.ends_with("valid: 16 events of 2 threads\n"), "{out}");
    let (code, out, err) = run(predictor().args(["validate", "-"]), b"t1 read x 1 @ a.rs:7\n");
    let expected = "error: standard input: event 1, `t1 read x 1 @ a.rs:7`: no write explains \
                    this: `x` holds 0, not 1\n";
    assert_eq!((code, out.as_str(), err.as_str()), (2, "", expected));
}

#[test]
fn unusable_files_are_named() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("missing.rlog").display().to_string();
    let here = folder.path().display().to_string();
    let empty = folder.path().join("empty.rlog");
    fs::write(&empty, "").unwrap();
    let empty = empty.display().to_string();
    for command in ["show", "stats", "validate", "explore"] {
        // A recording that came to nothing is no error, and is named.
        let (code, _, err) = run(predictor().args([command, &empty]), b"");
        let named = format!("warning: {empty}: byte 0: nothing was recorded");
        assert_eq!((code, err.starts_with(&named)), (0, true), "{command}: {err}");
        for (path, problem) in [(&missing, "No such file"), (&here, "directory")] {
            let (code, out, err) = run(predictor().args([command, path]), b"");
            assert_eq!((code, out.as_str()), (2, ""), "{command} {path}");
            assert!(err.starts_with(&format!("error: {path}: ")), "{err}");
            assert!(err.contains(problem), "{err}");
        }
    }
    let (code, _, err) = run(predictor().args(["convert", &figure_4(), &missing]), b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let nowhere = folder.path().join("no/where.rlog").display().to_string();
    let (code, _, err) = run(predictor().args(["convert", &figure_4(), &nowhere]), b"");
    assert_eq!((code, err.starts_with(&format!("error: {nowhere}: "))), (2, true), "{err}");
}

#[test]
fn a_text_that_may_be_cut_is_used_and_said_to_be() {
    let (code, out, err) = run(predictor().args(["validate", "-"]), b"t1 branch\nt1 branc");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("line 2, column 4: `branc` is no operation"), "{err}");
    let (code, _, err) = run(predictor().args(["validate", "-"]), b"t1 branch\nt1 branch");
    assert_eq!(code, 0);
    assert!(err.contains("warning: standard input: line 2: the last line has no line break"));
}

#[test]
fn an_empty_text_is_an_empty_trace() {
    let (code, out, _) = run(predictor().args(["explore", "-", "--format", "json"]), b"");
    let nothing = "{\"races\":[],\"deadlocks\":[],\"fair_deadlocks\":[],\"stalls\":[],\"sends\":[],\
         \"checks\":[],\"panics\":[],\"atomicity\":[],\"inferred_atomicity\":[]}\n";
    assert_eq!((code, out.as_str()), (0, nothing));
}

#[test]
fn a_broken_pipe_is_quiet() {
    let text = "t1 branch\n".repeat(200_000);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("long.rtxt");
    fs::write(&path, text).unwrap();
    for args in [&["show"][..], &["convert", "--to", "text"]] {
        let mut command = predictor();
        command.args(args).arg(&path);
        if args[0] == "convert" {
            command.arg("-");
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut start = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn help_shows_examples_and_exit_codes() {
    let (code, out, _) = run(predictor().arg("--help"), b"");
    assert_eq!((code, out.contains("Exit codes:")), (0, true));
    for command in ["convert", "show", "stats", "validate", "check", "explore"] {
        let (code, out, _) = run(predictor().args([command, "--help"]), b"");
        assert_eq!((code, out.contains("Examples:\n  predictor ")), (0, true), "{command}");
    }
    let (code, _, err) = run(predictor().arg("dance"), b"");
    assert_eq!((code, err.contains("dance")), (2, true));
}
