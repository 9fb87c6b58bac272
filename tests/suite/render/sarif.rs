//! SARIF 2.1.0, by its official schema.

use std::sync::OnceLock;

use predictor::project::{NoSources, Project};
use predictor::render::to_sarif;
use serde_json::Value;

use super::validator::violations;
use super::{Files, check_golden, full_project, project_of};
use crate::support::repository;

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let path = repository().join("tests/schemas/sarif-2.1.0.json");
        let schema = std::fs::read_to_string(path).expect("it is there");
        serde_json::from_str(&schema).expect("a schema is JSON")
    })
}

/// Fails unless a text is JSON that the schema allows.
pub(super) fn validate(text: &str) -> Value {
    let sarif: Value = serde_json::from_str(text).expect("SARIF is JSON");
    assert_eq!(violations(schema(), &sarif), [""; 0]);
    sarif
}

fn result(project: &Project) -> Value {
    validate(&to_sarif(project, &Files))["runs"][0]["results"][0].clone()
}

#[test]
fn it_is_what_it_was_and_valid() {
    let project = full_project();
    let mut sarif = validate(&to_sarif(&project, &Files));
    // The pages about the codes are long, and not of interest here.
    for rule in sarif["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap() {
        let help = rule["help"]["markdown"].as_str().unwrap().lines().next().unwrap().to_owned();
        rule["help"] = help.into();
    }
    check_golden("report.sarif", &format!("{sarif:#}\n"));
    validate(&to_sarif(&project, &NoSources));
    validate(&to_sarif(&project_of(|_| false), &NoSources));
}

#[test]
fn the_schema_is_asked() {
    let mut sarif: Value = serde_json::from_str(&to_sarif(&full_project(), &Files)).unwrap();
    sarif["runs"][0]["results"][0]["level"] = "fatal".into();
    sarif["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] =
        0.into();
    let found = violations(schema(), &sarif);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn the_witness_is_a_flow_a_thread() {
    let result = result(&project_of(|name| name.contains("closed")));
    let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let threads: Vec<&str> = flows.iter().map(|flow| flow["id"].as_str().unwrap()).collect();
    assert_eq!(threads, ["main", "t1"]);
    let locations = flows.iter().flat_map(|flow| flow["locations"].as_array().unwrap());
    let mut order: Vec<u64> =
        locations.clone().map(|location| location["executionOrder"].as_u64().unwrap()).collect();
    order.sort_unstable();
    order.dedup();
    assert_eq!(order.len(), locations.count(), "all steps have a place in one order");
}

#[test]
fn states_are_said() {
    let sarif = validate(&to_sarif(&full_project(), &Files));
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let states = |state: &str| results.iter().filter(|it| it["baselineState"] == state).count();
    assert_eq!((states("unchanged"), states("new")), (1, results.len() - 1));
    let suppressed = results.iter().filter(|it| !it["suppressions"].is_null());
    assert_eq!(suppressed.count(), 1);
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let result = result(&project_of(|name| name.contains("closed")));
    assert!(result["baselineState"].is_null(), "there is no baseline");
    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!((&place["uri"], &place["uriBaseId"]), (&"src/lib.rs".into(), &"%SRCROOT%".into()));
    assert_eq!(result["partialFingerprints"]["racelog/v1"].as_str().unwrap().len(), 16);
}
