//! The schema of `cargo racelog`'s JSON: what was written can be read for ever.

use predictor::finding::{Kind, PackedWitness};
use predictor::goal::GoalKinds;
use predictor::predict::Options;
use predictor::project::{NoSources, Project, merge};
use predictor::render::{to_github, to_junit, to_sarif};
use predictor::trace::Trace;
use serde_json::Value;

use super::validator::violations;
use super::{Files, check_golden, full_project, full_project_by, text};
use crate::support::repository;

fn file(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).expect("it is there")
}

/// Fails unless JSON is as a schema of ours has it.
pub(crate) fn validate(schema: &str, json: &str) {
    let schema: Value = serde_json::from_str(&file(&format!("tests/schemas/{schema}"))).unwrap();
    let json: Value = serde_json::from_str(json).expect("it is JSON");
    assert_eq!(violations(&schema, &json), [""; 0]);
}

/// Fields may be added within a version, and this file with them; one that goes away or changes its
/// meaning makes a new version, and leaves this file as it is.
#[test]
fn version_2_is_written_and_read_as_ever() {
    let project = full_project();
    let json = project.to_json();
    check_golden("../../golden/project-v2.json", &json);
    validate("racelog-project-2.json", &json);
    assert_eq!(Project::from_json(&json).as_ref(), Ok(&project));
}

/// The witnesses of a report, as event numbers.
fn witnesses(project: &mut Project) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    for occurrence in project.findings.iter_mut().flat_map(|finding| &mut finding.occurrences) {
        let trace = file(&format!("tests/reports/cache/traces/{}", occurrence.trace));
        let trace: Trace = trace.parse().expect("a trace");
        let witness: Option<PackedWitness> = occurrence.witness.take();
        let events = witness.map(|witness| witness.unpack(&trace).expect("it is of this trace"));
        all.push(events.unwrap_or_default().iter().map(|event| event.number()).collect());
    }
    all
}

/// The file was written by the last racelog that wrote version 1, about the same project.
#[test]
fn version_1_is_read_and_says_what_it_said() {
    let old = file("tests/golden/project-v1.json");
    // Its witnesses are as they were found.
    let options = Options { fewest_switches: false, ..Options::default() };
    let mut made = full_project_by(&options);
    let mut read = Project::from_json(&old).expect("it is read");
    // Nothing but races was looked for.
    assert_eq!(read.goals, GoalKinds::RACES);
    made.goals = read.goals;
    for (format, golden, now) in [
        ("SARIF", to_sarif(&made, &Files), to_sarif(&read, &Files)),
        ("JUnit", to_junit(&made, &Files), to_junit(&read, &Files)),
        ("GitHub", to_github(&made, &Files), to_github(&read, &Files)),
        ("text", text::normal(&made), text::normal(&read)),
    ] {
        assert_eq!(now, golden, "{format}");
    }
    assert_eq!(Project::from_json(&read.to_json()).as_ref(), Ok(&read), "it is written anew");
    // A witness of version 1 is read as it stands: its words may be more.
    assert_eq!(witnesses(&mut read), witnesses(&mut made));
    assert_eq!(read, made);
}

#[test]
fn shards_of_version_1_are_merged() {
    let old = file("tests/golden/project-v1.json");
    let mut shards = Vec::new();
    for index in 1..=2 {
        let shard = format!("\"shard\": {{ \"index\": {index}, \"of\": 2 }}");
        let text = old.replacen("\"shard\": null", &shard, 1);
        shards.push(Project::from_json(&text).expect("it is read"));
    }
    let merged = merge(shards).expect("they are of one analysis");
    let places = |project: &Project| {
        let mut all: Vec<String> = project
            .findings
            .iter()
            .map(|it| format!("{:?}", it.sources().collect::<Vec<_>>()))
            .collect();
        all.sort();
        all.dedup();
        all
    };
    assert_eq!(places(&merged), places(&Project::from_json(&old).unwrap()));
}

/// A report of a later version of racelog has a kind, a role, a reason and a doubt that are not
/// known yet.
#[test]
fn what_later_versions_add_is_shown() {
    let mut json: Value = serde_json::from_str(&full_project().to_json()).unwrap();
    json["findings"].as_array_mut().unwrap().truncate(1);
    let tables = &mut json["tables"];
    tables["kinds"] =
        serde_json::json!([{ "code": "RL999", "title": "wrong turn", "noun": "turn" }]);
    let reason = serde_json::json!({ "kind": "lost", "text": "it went left" });
    tables["reasons"] = vec![reason; 9].into();
    tables["parts"][0]["role"] = "left".into();
    tables["doubts"] = serde_json::json!([{ "kind": "fog" }]);
    json["findings"][0]["doubts"] = serde_json::json!([0]);
    let project = Project::from_json(&json.to_string()).expect("it is read");
    assert!(matches!(&project.findings[0].kind, Kind::Other(other) if other.title == "wrong turn"));
    let text = text::normal(&project);
    for words in ["RL999", "wrong turn on `self.hits`", "it went left", "1 turn", "later version"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let sarif = super::sarif::validate(&to_sarif(&project, &Files));
    let run = &sarif["runs"][0];
    let rule = run["results"][0]["ruleIndex"].as_u64().expect("a number") as usize;
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], "RL999");
    assert!(to_junit(&project, &Files).contains("RL999"));
    let github = to_github(&project, &Files);
    assert!(github.contains("RL999%3A wrong turn"), "{github}");
    let mut page = Vec::new();
    predictor::render::html::html(&mut page, &project, &Files, &[], |_| None).expect("memory");
    assert!(String::from_utf8(page).expect("UTF-8").contains("RL999 wrong turn"));
    assert_eq!(Project::from_json(&project.to_json()).as_ref(), Ok(&project));
}

/// Reports were once written without causes and runs, and what they say of a replay is said as it
/// stands.
#[test]
fn a_report_that_has_only_words_is_read() {
    let mut json = serde_json::to_value(full_project()).unwrap();
    let replay = &mut json["findings"][0]["occurrences"][0]["replay"];
    *replay = serde_json::json!({ "status": "diverged", "lines": ["0.1 did 0 instead"] });
    let project = Project::from_json(&json.to_string()).unwrap();
    let text = to_github(&project, &NoSources);
    assert!(text.contains("its replay did something else; 0.1 did 0 instead"), "{text}");
}

#[test]
fn a_report_that_somebody_has_changed_is_refused() {
    let mut project = full_project();
    project.findings[1].occurrences.clear();
    let json = project.to_json();
    assert_eq!(Project::from_json(&json), Err("finding 2 has no occurrence".to_owned()));
    let mut project = full_project();
    project.shard = Some(predictor::project::Shard { index: 5, of: 4 });
    let json = project.to_json();
    assert_eq!(Project::from_json(&json), Err("there is no shard 5/4".to_owned()));
}

#[test]
fn other_versions_are_refused() {
    let json = file("tests/golden/project-v2.json");
    let newer = json.replacen("\"version\": 2", "\"version\": 3", 1);
    let error = Project::from_json(&newer).unwrap_err();
    assert!(error.contains("version 3 of the report cannot be read, only 1 and 2"), "{error}");
    let other = json.replacen("racelog-project", "other", 1);
    assert_eq!(Project::from_json(&other), Err("no report of `cargo racelog`".to_owned()));
}

/// docs/REPORT.md has every field that there is.
#[test]
fn every_field_is_documented() {
    let docs = std::fs::read_to_string(repository().join("docs/REPORT.md")).unwrap();
    let (_, docs) = docs.split_once("## The JSON of a project").expect("there is such a part");
    let json: Value = serde_json::from_str(&full_project().to_json()).unwrap();
    let mut fields = Vec::new();
    names(&json, &mut fields);
    for field in fields {
        assert!(
            docs.contains(&format!("`{field}`")),
            "docs/REPORT.md does not say what `{field}` is"
        );
    }
}

fn names(value: &serde_json::Value, fields: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                fields.push(name.clone());
                names(value, fields);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| names(item, fields)),
        _ => {}
    }
}
