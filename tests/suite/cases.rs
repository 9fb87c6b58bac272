//! The cases: what is true of small traces.

use std::fs;

use predictor::explore::explore;
use predictor::predict::{Options, predict};
use predictor::trace::{EventId, LoadError, Trace};
use predictor::witness;

use crate::support::repository;

struct Case {
    name: String,
    verdict: String,
    trace: String,
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("=== ") {
            let (name, verdict) = heading.split_once(" | ").expect("a case has a verdict");
            let (name, verdict) = (name.to_owned(), verdict.to_owned());
            cases.push(Case { name, verdict, trace: String::new() });
        } else if let Some(case) = cases.last_mut() {
            case.trace += line;
            case.trace += "\n";
        }
    }
    cases
}

fn races(trace: &Trace) -> String {
    let found = explore(trace, 100_000, |_| {});
    assert!(found.complete);
    for (goal, witness) in &found.found {
        let schedule: Vec<EventId> = witness.schedule().collect();
        assert_eq!(witness::check(trace, goal.kind(), &schedule).as_ref(), Ok(goal));
    }
    let options = Options { all_goals: true, goal_time: None, ..Options::default() };
    let predicted = predict(trace, &options, |_, _| {});
    assert!(predicted.races().eq(found.races()));
    let races: Vec<String> =
        found.races().map(|pair| format!("({}, {})", pair.first(), pair.second())).collect();
    if races.is_empty() { "races none".to_owned() } else { format!("races {}", races.join(" ")) }
}

fn check(case: &Case) -> Result<(), String> {
    let loaded: Result<Trace, LoadError> = case.trace.parse();
    if let Some(invalid) = case.verdict.strip_prefix("invalid at ") {
        let (event, text) = invalid.split_once(": ").expect("an event and a text");
        return match loaded {
            Err(LoadError::Invalid(found))
                if found.event.to_string() == event && found.message.contains(text) =>
            {
                Ok(())
            }
            Err(error) => Err(format!("expected {}, found {error}", case.verdict)),
            Ok(_) => Err(format!("expected {}, found no fault", case.verdict)),
        };
    }
    let found = races(&loaded.map_err(|error| error.to_string())?);
    if found == case.verdict {
        Ok(())
    } else {
        Err(format!("expected {}, found {found}", case.verdict))
    }
}

#[test]
fn every_case_is_as_it_says() {
    let mut failures = Vec::new();
    let mut count = 0;
    let folder = repository().join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "cases"))
        .collect();
    files.sort();
    for path in files {
        for case in parse(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            if let Err(problem) = check(&case) {
                failures.push(format!("{}: {}: {problem}", path.display(), case.name));
            }
        }
    }
    assert!(count > 100, "only {count} cases were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_papers_figures_and_the_semantics_examples() {
    for (file, expected) in [
        ("pldi14-figure4", "races (3, 10)"),
        ("pldi14-figure2-case1", "races (1, 4)"),
        ("pldi14-figure2-case2", "races none"),
        ("open-regions", "races (4, 9)"),
        ("third-thread", "races (5, 8)"),
    ] {
        let path = repository().join(format!("examples/traces/{file}.rtxt"));
        let trace: Trace = fs::read_to_string(path).unwrap().parse().unwrap();
        assert_eq!(races(&trace), expected, "{file}");
    }
}
