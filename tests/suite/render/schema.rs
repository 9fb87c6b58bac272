//! The schema of `cargo racelog`'s JSON, version 1: what was written can be read for ever.

use predictor::project::{NoSources, Project};
use predictor::render::to_github;

use super::{check_golden, full_project};
use crate::support::repository;

/// Fields may be added within a version, and this file with them; one that goes away or changes its
/// meaning makes a new version, and leaves this file as it is.
#[test]
fn version_1_is_written_and_read_as_ever() {
    let project = full_project();
    let json = format!("{}\n", serde_json::to_string_pretty(&project).unwrap());
    check_golden("../../golden/project-v1.json", &json);
    assert_eq!(Project::from_json(&json).as_ref(), Ok(&project));
}

/// Reports were once written without causes and runs, and what they say of a replay is said as it stands.
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
    let json = serde_json::to_string(&project).expect("it can be written");
    assert_eq!(Project::from_json(&json), Err("finding 2 has no occurrence".to_owned()));
    let mut project = full_project();
    project.shard = Some(predictor::project::Shard { index: 5, of: 4 });
    let json = serde_json::to_string(&project).expect("it can be written");
    assert_eq!(Project::from_json(&json), Err("there is no shard 5/4".to_owned()));
}

#[test]
fn other_versions_are_refused() {
    let path = repository().join("tests/golden/project-v1.json");
    let json = std::fs::read_to_string(path).unwrap();
    let newer = json.replacen("\"version\": 1", "\"version\": 2", 1);
    let error = Project::from_json(&newer).unwrap_err();
    assert!(error.contains("version 2 of the report cannot be read"), "{error}");
    let other = json.replacen("racelog-project", "other", 1);
    assert_eq!(Project::from_json(&other), Err("no report of `cargo racelog`".to_owned()));
}

/// docs/REPORT.md has every field that there is.
#[test]
fn every_field_is_documented() {
    let docs = std::fs::read_to_string(repository().join("docs/REPORT.md")).unwrap();
    let (_, docs) = docs.split_once("## The JSON of a project").expect("there is such a part");
    let json = serde_json::to_value(full_project()).unwrap();
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
