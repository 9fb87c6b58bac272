//! The cases: what is true of small traces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use predictor::explore::explore_model;
use predictor::goal::{Goal, GoalKind, GoalKinds, Model};
use predictor::predict::{Options, Proven, predict};
use predictor::trace::{EventId, LoadError, Trace};
use predictor::witness;

use crate::support::{predictor, repository, run};

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

/// The kinds of goals that cases speak of, by their names there.
const KINDS: [(&str, GoalKind); 10] = [
    ("races", GoalKind::Race),
    ("deadlocks", GoalKind::Deadlock),
    ("fair-deadlocks", GoalKind::FairDeadlock),
    ("stalls", GoalKind::Stall),
    ("sends", GoalKind::SendToNobody),
    ("checks", GoalKind::FailedCheck),
    ("panics", GoalKind::Panic),
    ("atomicity", GoalKind::Atomicity),
    ("inferred", GoalKind::InferredAtomicity),
    ("assumed", GoalKind::AssumedAtomicity),
];

/// What a verdict says of one kind of goal in a model: the numbers of their events.
fn expected(verdict: &str) -> (Model, GoalKind, BTreeSet<Vec<u64>>) {
    let (name, goals) = verdict.split_once(' ').expect("a kind and what there is of it");
    let (name, model) = name.split_once('/').unwrap_or((name, "symbolic"));
    let model = model.parse().expect("a model");
    let kind = KINDS.iter().find(|(known, _)| *known == name).expect("a known kind").1;
    if goals == "none" {
        return (model, kind, BTreeSet::new());
    }
    let numbers = |goal: &str| -> Vec<u64> {
        goal.split(',').map(|number| number.trim().parse().expect("a number")).collect()
    };
    let goals = goals.trim_matches(|c| "()".contains(c)).split(") (");
    let goals = goals.flat_map(|goal| match kind.event_count() {
        Some(1) => goal.split_whitespace().map(numbers).collect(),
        _ => vec![numbers(goal)],
    });
    (model, kind, goals.collect())
}

/// All goals of all kinds that the explorer finds, with each witness checked. The predictor finds
/// the same.
fn found(trace: &Trace, model: Model) -> BTreeMap<GoalKind, BTreeSet<Vec<u64>>> {
    let goals = GoalKinds::ALL.with(GoalKind::AssumedAtomicity);
    let explored = explore_model(trace, model, goals, 100_000, |_| {});
    assert!(explored.complete);
    for (goal, witness) in &explored.found {
        let prefix: Vec<EventId> = witness.prefix().collect();
        assert_eq!(witness::check_model(trace, model, &prefix, goal), Ok(()));
    }
    let options = Options { goals, model, all_goals: true, goal_time: None, ..Options::default() };
    let predicted = predict(trace, &options, |_, _| {});
    let expected: BTreeSet<&Goal> = explored.found.keys().collect();
    let proven: BTreeSet<&Goal> = predicted.found.iter().map(Proven::goal).collect();
    assert_eq!(proven, expected);
    let mut found: BTreeMap<GoalKind, BTreeSet<Vec<u64>>> = BTreeMap::new();
    for goal in explored.found.keys() {
        let numbers = goal.events().map(predictor::trace::EventId::number).collect();
        found.entry(goal.kind()).or_default().insert(numbers);
    }
    found
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
    let trace = loaded.map_err(|error| error.to_string())?;
    let mut by_model: BTreeMap<Model, _> = BTreeMap::new();
    for verdict in case.verdict.split(" | ") {
        let (model, kind, expected) = expected(verdict);
        let found = by_model.entry(model).or_insert_with(|| found(&trace, model));
        let found = found.remove(&kind).unwrap_or_default();
        if found != expected {
            return Err(format!("expected {verdict}, found {found:?}"));
        }
    }
    Ok(())
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

/// The cases of what threads wait for, by the commands: lists of event numbers, sorted, one for each
/// kind that is looked for, which may be empty.
#[test]
fn the_commands_list_what_the_cases_say() {
    let text = fs::read_to_string(repository().join("tests/cases/goals.cases")).unwrap();
    let cases = parse(&text);
    assert_eq!(cases.len(), 45);
    for case in &cases {
        for command in [&["explore"][..], &["analyze", "--all-pairs"]] {
            let mut words = predictor();
            words.args(command).args(["-", "--format", "json"]);
            words.args(["--goals", "races,deadlocks,stalls,sends"]);
            let (code, out, err) = run(&mut words, case.trace.as_bytes());
            let lists: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| {
                panic!("{} {command:?}: {err}", case.name);
            });
            let mut is_any = false;
            for key in ["races", "deadlocks", "fair_deadlocks", "stalls", "sends"] {
                is_any |= !lists[key].as_array().expect(key).is_empty();
            }
            assert_eq!(code, i32::from(is_any), "{} {command:?}: {err}", case.name);
            for verdict in case.verdict.split(" | ") {
                let (_, kind, goals) = expected(verdict);
                let list = match kind.event_count() {
                    Some(1) => serde_json::json!(goals.into_iter().flatten().collect::<Vec<_>>()),
                    _ => serde_json::json!(goals),
                };
                assert_eq!(lists[kind.list_name()], list, "{} {command:?}", case.name);
            }
            assert_eq!(lists.get("checks"), None, "{command:?}");
        }
    }
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
        let (model, kind, expected) = self::expected(expected);
        assert_eq!(found(&trace, model).remove(&kind).unwrap_or_default(), expected, "{file}");
    }
}
