//! JUnit XML, by the schema of Jenkins.

use std::fs;
use std::process::Command;

use predictor::project::NoSources;
use predictor::render::to_junit;

use super::{Files, check_golden, full_project, project_of};
use crate::support::repository;

/// Fails unless `xmllint` finds all texts valid.
pub(super) fn validate(files: &[String]) {
    let problems = problems(files);
    assert!(problems.is_empty(), "{problems}");
}

/// What is wrong with texts by the schema.
fn problems(files: &[String]) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let paths = files.iter().enumerate().map(|(number, text)| {
        let path = folder.path().join(format!("{number}.xml"));
        fs::write(&path, text).expect("it can be written");
        path
    });
    let output = Command::new("xmllint")
        .args(["--nonet", "--noout", "--schema"])
        .arg(repository().join("tests/schemas/junit-10.xsd"))
        .args(paths)
        .output()
        .expect("xmllint is there: `./check` installs it (libxml2-utils on Debian)");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { String::new() } else { format!("it says:\n{said}") }
}

#[test]
fn it_is_what_it_was_and_valid() {
    let project = full_project();
    let xml = to_junit(&project, &Files);
    check_golden("report.junit.xml", &xml);
    let empty = to_junit(&project_of(|_| false), &NoSources);
    validate(&[xml, to_junit(&project, &NoSources), empty]);
}

#[test]
fn the_schema_is_asked() {
    let xml = to_junit(&full_project(), &Files);
    let wrong = xml.replacen("<failure ", "<mishap ", 1).replacen("</failure>", "</mishap>", 1);
    let found = problems(&[wrong]);
    assert!(found.contains("mishap"), "{found}");
    assert_ne!(problems(&[xml.replacen("</testcase>", "", 1)]), "");
}

#[test]
fn the_numbers_are_those_of_the_cases() {
    let xml = to_junit(&full_project(), &Files);
    let many = |what: &str| xml.matches(what).count();
    let head = xml.lines().nth(1).unwrap();
    assert!(head.contains(&format!("tests=\"{}\"", many("<testcase "))), "{head}");
    assert!(head.contains(&format!("errors=\"{}\"", many("<error "))), "{head}");
    let failed = xml.split("<testcase ").filter(|case| case.contains("<failure ")).count();
    assert!(head.contains(&format!("failures=\"{failed}\"")), "{head}");
    assert_eq!(many("<skipped "), xml.matches("skipped=\"1\"").count(), "{xml}");
}
