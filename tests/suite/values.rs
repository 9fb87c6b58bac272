//! Failed checks, panics and atomicity violations, as people and machines see them.

use std::fs;

use serde_json::{Value, json};

use crate::support::{findings_of, predictor, repository, run};

/// The case of this name.
fn case(name: &str) -> String {
    ["values", "steps"]
        .iter()
        .map(|file| fs::read_to_string(repository().join(format!("tests/cases/{file}.cases"))))
        .find_map(|cases| {
            let cases = cases.unwrap();
            let case = cases.split("=== ").find(|case| case.starts_with(name))?;
            Some(case.split_once('\n').expect("a trace").1.to_owned())
        })
        .expect("there is such a case")
}

/// The same with a place for each event.
fn with_places(trace: &str) -> String {
    let is_event = |line: &&str| !line.is_empty() && !line.starts_with("init ");
    let (events, others): (Vec<&str>, Vec<&str>) = trace.lines().partition(is_event);
    let events = events.iter().zip(1..).map(|(event, line)| format!("{event} @ a.rs:{line}:1\n"));
    let others = others.iter().map(|line| format!("{line}\n"));
    others.chain(events).collect()
}

fn output(trace: &str, args: &[&str]) -> (i32, String, String) {
    let mut command = predictor();
    let (name, args) = args.split_first().expect("a command");
    run(command.args([name, "-"]).args(args), trace.as_bytes())
}

fn json_of(trace: &str, args: &[&str]) -> Value {
    let (_, out, err) = output(trace, args);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"))
}

/// The reasons of findings, with their codes.
fn reasons(trace: &str, args: &[&str]) -> Vec<String> {
    let args = [&["analyze", "--format", "json"], args].concat();
    let report = json_of(&with_places(trace), &args);
    let line = |finding: &Value| {
        let reason = &finding["occurrences"][0]["reason"]["text"];
        let code = finding["kind"]["code"].as_str().expect("a code");
        format!("{code}: {}", reason.as_str().expect("a text"))
    };
    findings_of(&report).iter().map(line).collect()
}

#[test]
fn lists_of_goals_have_their_keys() {
    for (name, goals, key, expected) in [
        ("A1 ", "checks,atomicity", "checks", json!([13])),
        ("V18 ", "checks,atomicity", "atomicity", json!([[3, 15, 7]])),
        ("V11 ", "all", "atomicity", json!([[3, 15, 6], [3, 15, 7]])),
        ("A7 ", "all", "checks", json!([])),
        ("a load and a store", "atomicity", "inferred_atomicity", json!([[2, 4, 3]])),
    ] {
        for args in [&["explore"][..], &["analyze", "--all-pairs"]] {
            let args = [args, &["--format", "json", "--goals", goals]].concat();
            assert_eq!(json_of(&case(name), &args)[key], expected, "{name}, {args:?}");
        }
    }
}

#[test]
fn a_failed_check_says_by_what_it_fails_and_what_it_poisons() {
    let why = "with what is read then, this does not hold: `d == 1`, d is 0; while holding `l`: \
               poisons it";
    let checks = ["--goals", "checks"];
    assert_eq!(reasons(&case("A1 "), &checks), [format!("RL020: {why}")]);
    let panics = case("A1 ").replace("check d", "check_panic d");
    assert_eq!(reasons(&panics, &checks), [format!("RL021: {why}")]);
    let (code, out, _) = output(&with_places(&case("A1 ")), &["analyze", "--goals", "checks"]);
    assert!(code == 1 && out.contains(why) && out.contains("1 failed check in 14 events"), "{out}");
}

#[test]
fn violations_say_why_their_accesses_belong_together() {
    let marked = reasons(&case("V18 "), &["--goals", "atomicity"]);
    assert!(marked[0].starts_with("RL030: the access of another thread"), "{marked:?}");
    let shown = reasons(&case("two critical sections"), &["--goals", "atomicity"]);
    let belong = "RL031: the access of another thread can come between two that belong together";
    assert!(shown.len() == 1 && shown[0].starts_with(belong), "{shown:?}");
    let unsaid = case("the same in code that does not say");
    assert_eq!(reasons(&unsaid, &["--goals", "atomicity"]), [""; 0]);
    let assumed = reasons(&unsaid, &["--goals", "atomicity", "--infer"]);
    let may = "RL031: the access of another thread can come between a read and a write that may go";
    assert!(assumed.len() == 1 && assumed[0].starts_with(may), "{assumed:?}");
    let lists = json_of(&unsaid, &["explore", "--format", "json", "--infer"]);
    assert_eq!(lists["assumed_atomicity"], json!([[2, 4, 3]]));
}

#[test]
fn models_that_are_not_sound_say_so() {
    let trace = case("V2 ");
    let relaxed = ["--goals", "atomicity", "--model", "relaxed"];
    let args = [&["analyze", "--format", "json"], &relaxed[..]].concat();
    let report = json_of(&trace, &args);
    let finding = &findings_of(&report)[0];
    assert_eq!((&report["model"], &report["atomicity"]), (&json!("relaxed"), &json!([[2, 7, 3]])));
    assert_eq!(finding["level"], json!("doubtful"));
    assert_eq!(finding["doubts"][0]["kind"], json!("unsound"));
    assert_eq!(finding["occurrences"][0]["witness"], Value::Null);
    let warning = "the model `relaxed` is not sound: this may be none of the program";
    let (_, out, _) = output(&trace, &[&["analyze"], &relaxed[..]].concat());
    assert!(out.contains(&format!("note: {warning}")), "{out}");
    let (_, _, err) = output(&trace, &[&["explore"], &relaxed[..]].concat());
    assert!(err.contains(warning), "{err}");
    let sound = json_of(&trace, &["analyze", "--format", "json", "--model", "symbolic"]);
    assert_eq!((&sound["model"], &sound["atomicity"]), (&Value::Null, &json!([])));
}

#[test]
fn a_bound_on_thread_switches_says_what_it_leaves_out() {
    let within = |most: &str| {
        let args = ["analyze", "--format", "json", "--goals", "checks", "--max-switches", most];
        let report = json_of(&case("A6 "), &args);
        (report["checks"].clone(), report["counts"]["unknown"]["switches"].clone())
    };
    assert_eq!(within("4"), (json!([10]), Value::Null));
    assert_eq!(within("3"), (json!([]), json!(1)));
    // What no execution has is ruled out whatever the bound.
    let args = ["analyze", "--format", "json", "--goals", "checks", "--max-switches", "0"];
    let report = json_of(&case("A9 "), &args);
    assert_eq!(report["counts"]["unknown"]["switches"], Value::Null);
    let args = ["analyze", "--goals", "checks", "--max-switches", "3"];
    let (_, out, _) = output(&case("A6 "), &args);
    assert!(out.contains("none with so few thread switches (--max-switches)"), "{out}");
}

#[test]
fn violations_have_their_columns_in_a_comparison() {
    let (_, out, _) = output(
        &case("V18 "),
        &["compare", "--goals", "checks,atomicity", "--detector", "mcm", "--format", "csv"],
    );
    let header = out.lines().next().unwrap_or_default();
    for column in ["mcm checks", "mcm panics", "mcm atomicity", "mcm inferred_atomicity"] {
        assert!(header.contains(column), "{out}");
    }
}
