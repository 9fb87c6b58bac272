//! `predictor analyze`, `witness` and `compare`, as people and machines call them.

use racelog_tests::expected::check_text;
use serde_json::Value;

use crate::support::{predictor, repository, run};

fn example(name: &str) -> String {
    repository().join(format!("examples/traces/{name}.rtxt")).display().to_string()
}

/// The report on a trace, and the exit code.
fn report(trace: &str, args: &[&str]) -> (i32, Value) {
    let mut command = predictor();
    command.args(["analyze", "-", "--format", "json"]).args(args);
    let (code, out, err) = run(&mut command, trace.as_bytes());
    assert_eq!(err, "", "{trace}");
    (code, serde_json::from_str(&out).expect("the report is JSON"))
}

/// The findings of a report, with what stands in its tables.
fn found(report: &Value) -> Vec<Value> {
    crate::support::findings_of(report)
}

/// The numbers of a finding's events.
fn events(finding: &Value) -> Vec<u64> {
    let parts = finding["occurrences"][0]["parts"].as_array().expect("parts");
    parts.iter().map(|part| part["event"].as_u64().expect("a number")).collect()
}

/// The findings as `(i, j) reason`.
fn findings(trace: &str, args: &[&str]) -> Vec<String> {
    let (code, report) = report(trace, args);
    let found = found(&report);
    assert_eq!(code, i32::from(!found.is_empty()), "{trace}");
    let line = |finding: &Value| {
        let reason = &finding["occurrences"][0]["reason"]["text"];
        let events = events(finding);
        format!("({}, {}) {}", events[0], events[1], reason.as_str().expect("a text"))
    };
    found.iter().map(line).collect()
}

#[test]
fn the_report_has_the_documented_fields() {
    let text = std::fs::read_to_string(example("pldi14-figure4")).unwrap();
    let (code, mut report) = report(&text, &[]);
    assert_eq!(code, 1);
    for detector in report["detectors"].as_array_mut().unwrap() {
        detector["seconds"] = 0.into();
    }
    report["findings"][0]["occurrences"][0]["seconds"] = 0.into();
    let path = "tests/golden/report-v2.json";
    let golden = std::fs::read_to_string(repository().join(path)).unwrap_or_default();
    // The order of fields does not matter.
    if serde_json::from_str(&golden).ok().as_ref() != Some(&report) {
        check_text(path, &format!("{report:#}\n"));
    }
}

#[test]
fn the_counts_add_up() {
    for seed in 0..40 {
        let (text, _) = racelog_tests::random_trace::small_trace(seed);
        for args in [&[][..], &["--all-pairs"], &["--window", "6"]] {
            let mut command = predictor();
            command.args(["analyze", "-", "--format", "json", "--detector", "mcm"]).args(args);
            let (_, out, _) = run(&mut command, text.as_bytes());
            let report: Value = serde_json::from_str(&out).unwrap();
            let counts = &report["counts"];
            let sum = |value: &Value| match value {
                Value::Object(parts) => parts.values().filter_map(Value::as_u64).sum(),
                number => number.as_u64().unwrap_or(0),
            };
            let parts: u64 = ["proven", "refuted", "covered", "unknown"]
                .iter()
                .map(|part| sum(&counts[part]))
                .sum();
            assert_eq!(Some(parts), counts["candidates"].as_u64(), "seed {seed}, {args:?}\n{text}");
        }
    }
}

/// Message passing: the flag's two orderings are to be filled in.
fn message_passing(store: &str, load: &str) -> String {
    format!(
        "t1 write data 1 @ main.rs:1:1\nt1 store flag 1 {store} @ main.rs:2:1\n\
         t2 load flag 1 {load} @ main.rs:3:1\nt2 branch\nt2 read data 1 @ main.rs:4:1\n"
    )
}

#[test]
fn orderings_that_are_too_weak_are_named() {
    assert_eq!(findings(&message_passing("release", "acquire"), &[]), [""; 0]);
    assert_eq!(findings(&message_passing("seqcst", "seqcst"), &[]), [""; 0]);
    assert_eq!(
        findings(&message_passing("relaxed", "acquire"), &[]),
        ["(1, 5) ordering too weak: Relaxed at main.rs:2:1 (event 2)"]
    );
    assert_eq!(
        findings(&message_passing("release", "relaxed"), &[]),
        ["(1, 5) ordering too weak: Relaxed at main.rs:3:1 (event 3)"]
    );
    let both = findings(&message_passing("relaxed", "relaxed"), &[]);
    assert!(both[0].contains("event 2") && both[0].contains("event 3"), "{both:?}");
}

#[test]
fn fences_and_release_sequences_order() {
    let fences = "t1 write data 1\nt1 fence release\nt1 store flag 1 relaxed\n\
                  t2 load flag 1 relaxed\nt2 fence acquire\nt2 branch\nt2 read data 1\n";
    assert_eq!(findings(fences, &[]), [""; 0]);
    let unfenced = fences.replace("t2 fence acquire\n", "");
    assert_eq!(findings(&unfenced, &[]).len(), 1);
    let sequence = "t1 write data 1\nt1 store flag 1 release\nt3 rmw flag 1 2 relaxed\n\
                    t2 load flag 2 acquire\nt2 branch\nt2 read data 1\n";
    assert_eq!(findings(sequence, &[]), [""; 0]);
    let broken = sequence.replace("t3 rmw flag 1 2 relaxed", "t3 store flag 2 relaxed");
    assert_eq!(findings(&broken, &[]).len(), 1);
}

#[test]
fn store_buffering_is_no_excuse_for_plain_data() {
    // Each thread announces itself and looks for the other; in this run the first got in alone.
    let text = "t1 store a 1 seqcst\nt1 load b 0 seqcst\nt1 branch\nt1 write data 1\n\
                t2 store b 1 seqcst\nt2 load a 1 seqcst\nt2 branch\n";
    assert_eq!(findings(text, &[]), [""; 0]);
    // Had the second gone in as well, the two would race.
    let both = format!("{text}t2 write data 2\n");
    assert_eq!(findings(&both, &["--detector", "mcm"]).len(), 1);
}

#[test]
fn one_detector_alone() {
    let text = std::fs::read_to_string(example("third-thread")).unwrap();
    let pairs = |detector: &str| {
        let (_, report) = report(&text, &["--detector", detector, "--all-pairs"]);
        let pair = |finding: &Value| format!("{:?}", events(finding)).replace(' ', "");
        let found = found(&report);
        let by = |finding: &Value| finding["occurrences"][0]["detectors"][0] == detector;
        assert!(found.iter().all(by));
        found.iter().map(pair).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(pairs("mcm"), "[5,8]");
    assert_eq!(pairs("said"), "[5,8]");
    assert_eq!(pairs("paper"), "[4,14] [5,8]");
    // In this very run nothing orders either pair, though no other run can bring (4, 14) together.
    assert_eq!(pairs("hb"), "[4,14] [5,8]");
    assert_eq!(pairs("cp"), "[4,14] [5,8]");
    assert_eq!(pairs("wcp"), "[4,14] [5,8]");
    assert_eq!(pairs("quick"), "[4,14] [5,8]");
    let (code, _, err) = run(predictor().args(["analyze", "-", "--detector", "tsan"]), b"");
    assert_eq!(code, 2);
    assert!(err.contains("no detector is called `tsan`"), "{err}");
}

#[test]
fn a_witness_is_what_check_accepts() {
    let figure = example("pldi14-figure4");
    let (code, witness, err) = run(predictor().args(["witness", &figure, "10,3"]), b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, out, _) = run(predictor().args(["check", &figure, "-"]), witness.as_bytes());
    assert_eq!(code, 0);
    assert!(out.starts_with("yes: (3, 10) is a race"), "{out}");
    // The stretches of the report are accepted too.
    let (code, ..) = run(predictor().args(["check", &figure, "1 6-9 2 3 10"]), b"");
    assert_eq!(code, 0);
    for (pair, code, message) in [
        ("3,8", 2, "do not conflict"),
        ("3,99", 2, "no event 99"),
        ("3", 2, "a race is two accesses"),
        ("3,3", 2, "`3,3` are no events"),
        ("0,3", 2, "`0,3` are no events"),
        ("4,8", 1, "(4, 8) is no race"),
    ] {
        let (found, _, err) = run(predictor().args(["witness", &figure, pair]), b"");
        assert_eq!(found, code, "{pair}: {err}");
        assert!(err.contains(message), "{pair}: {err}");
    }
}

#[test]
fn tables_compare_the_detectors() {
    let (figure, third) = (example("pldi14-figure4"), example("third-thread"));
    let mut command = predictor();
    command.args(["compare", &figure, &third, "--format", "csv"]);
    let (code, out, err) = run(&mut command, b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
    let header = "trace threads events rw sync branches quick hb cp wcp said paper mcm";
    assert_eq!(lines[0][..13].join(" "), header);
    assert_eq!(lines[1][1..13].join(" "), "2 16 6 8 2 1 0 0 0 0 1 1");
    assert_eq!(lines[2][1..13].join(" "), "4 15 6 7 2 2 2 2 2 1 2 1");
    command.arg("nowhere.rtxt");
    let (code, out, err) = run(&mut command, b"");
    assert_eq!((code, out.lines().count()), (2, 3));
    assert!(err.contains("nowhere.rtxt"), "{err}");
}

#[test]
fn limits_are_counted_and_shown() {
    let text = "t1 write x 1\nt1 write y 1\nt1 write y 2\nt1 write y 3\nt2 write x 2\n";
    let mut command = predictor();
    command.args(["analyze", "-", "--detector", "mcm", "--window", "2"]);
    // The cheap proofs see the whole trace, window or not.
    let (code, out, _) = run(&mut command, text.as_bytes());
    assert_eq!(code, 1, "{out}");
    let (code, report) = report(text, &["--detector", "mcm", "--total-time", "0"]);
    assert_eq!((code, report["counts"]["candidates"].as_u64()), (1, Some(1)));
    let (code, _, err) = run(predictor().args(["analyze", "-", "--pair-time", "soon"]), b"");
    assert_eq!(code, 2);
    assert!(err.contains("`soon` is no time"), "{err}");
}

#[test]
fn a_generated_trace_has_the_seeded_races_and_no_others() {
    let make = |seed: &str| {
        let mut command = predictor();
        command.args(["generate", "-", "--events", "6000", "--near-races", "3"]);
        command.args(["--far-races", "2", "--seed", seed]);
        let (code, out, err) = run(&mut command, b"");
        assert_eq!((code, err.as_str()), (0, ""));
        out
    };
    let text = make("7");
    assert_eq!(text, make("7"));
    assert_ne!(text, make("8"));
    let (code, report) = report(&text, &[]);
    let found = found(&report);
    let name = |race: &Value| race["occurrences"][0]["subject"]["name"].as_str().map(str::to_owned);
    let names: Vec<String> = found.iter().filter_map(name).collect();
    assert_eq!(code, 1);
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(
        names.iter().all(|name| name.starts_with("near") || name.starts_with("far")),
        "{names:?}"
    );
    let (code, _, err) = run(predictor().args(["generate", "-", "--branches", "2"]), b"");
    assert_eq!(code, 2);
    assert!(err.contains("between 0 and 1"), "{err}");
}
