//! SARIF 2.1.0: one run, a result a finding, with the witness as a code flow of a thread flow a thread.
//! `tests/schemas/sarif-2.1.0.json` says what it looks like.

use serde_json::{Map, Value, json};

use super::explain::{explain, what_it_is};
use super::story::Story;
use super::unseen;
use crate::project::expression;
use crate::project::{Code, Place, Project, Sources, Step};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

/// What relative addresses start from: the folder of the project.
const ROOT: &str = "%SRCROOT%";

/// The report as SARIF 2.1.0.
pub fn to_sarif(project: &Project, sources: &impl Sources) -> String {
    // All results say how they compare to the baseline, or none does.
    let baseline = project.findings.iter().any(|finding| finding.known);
    let results = project.findings.iter().map(|finding| {
        let story = Story::new(project, finding, sources);
        result(&story, sources, baseline)
    });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(project) },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                ROOT: { "description": { "text": "the folder of the project" } },
            },
            "invocations": [invocation(project)],
            "results": results.collect::<Vec<Value>>(),
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("it has nothing but strings for keys");
    text.push('\n');
    text
}

fn driver(project: &Project) -> Value {
    let rules = Code::ALL.map(|code| {
        let page = explain(code.name()).unwrap_or_default();
        json!({
            "id": code.name(),
            "name": match code {
                Code::DataRace => "DataRace",
                Code::Unordered => "Unordered",
                Code::Suspected => "SuspectedDataRace",
            },
            "shortDescription": { "text": code.title() },
            "fullDescription": { "text": what_it_is(code) },
            "help": { "text": page, "markdown": page },
            "defaultConfiguration": { "level": level(code) },
            "properties": { "tags": ["concurrency", "correctness"] },
        })
    });
    json!({
        "name": "racelog",
        "version": project.racelog,
        "semanticVersion": project.racelog,
        "rules": rules,
    })
}

const fn level(code: Code) -> &'static str {
    match code {
        Code::DataRace | Code::Unordered => "error",
        Code::Suspected => "warning",
    }
}

fn invocation(project: &Project) -> Value {
    let skipped = project.skipped.iter().map(|skipped| {
        let text = format!("`{}` was not analysed: {}", skipped.name, skipped.problem);
        json!({ "level": "error", "message": { "text": text } })
    });
    let cut = project.traces.iter().filter_map(|trace| {
        let text = format!("`{}` is not whole: {}", trace.name, trace.note.as_ref()?);
        Some(json!({ "level": "warning", "message": { "text": text } }))
    });
    let unused = project.unused_suppressions.iter().map(|unused| {
        let text = format!("this suppression fits no finding: {unused}");
        json!({ "level": "warning", "message": { "text": text } })
    });
    let unseen = unseen::gaps(&project.capture).into_iter().map(|gap| {
        let text = format!("not seen: {gap}");
        json!({ "level": "note", "message": { "text": text } })
    });
    json!({
        "executionSuccessful": project.skipped.is_empty(),
        "toolExecutionNotifications": skipped.chain(cut).chain(unused).chain(unseen).collect::<Vec<Value>>(),
    })
}

fn result(story: &Story<'_>, sources: &impl Sources, baseline: bool) -> Value {
    let finding = story.finding;
    let places = story.places();
    let text = format!(
        "{}: {}, and at [{}](1) {}; {}. {}",
        story.headline(),
        story.access(0),
        bracketed(&places[1]),
        story.access(1),
        story.why(),
        story.advice()
    );
    let rule = Code::ALL.iter().position(|code| *code == finding.code);
    let mut result = json!({
        "ruleId": finding.code.name(),
        "ruleIndex": rule,
        "kind": "fail",
        "level": if story.is_error() { "error" } else { "warning" },
        "message": { "text": text },
        "locations": [location(finding.sides[0].place.as_ref(), &story.access(0), sources)],
        "relatedLocations": related(story, sources),
        "partialFingerprints": { "racelog/v1": finding.fingerprint },
        "properties": {
            "number": finding.number,
            "tests": story.tests(),
            "detectors": story.occurrence.detectors,
            "variable": story.variable(),
            "status": story.status().join("\n"),
            "level": finding.level.name(),
            "doubts": story.doubts(),
        },
    });
    if !story.occurrence.steps.is_empty() {
        result["codeFlows"] = json!([code_flow(story, sources)]);
    }
    if let Some(suppressed) = &finding.suppressed {
        let justification = format!("{} ({})", suppressed.reason, suppressed.by);
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": justification }]);
    }
    if baseline {
        result["baselineState"] = json!(if finding.known { "unchanged" } else { "new" });
    }
    result
}

/// Text of a link: what ends it is escaped.
fn bracketed(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// The other access first, which the message links to, then where threads and locks come from.
fn related(story: &Story<'_>, sources: &impl Sources) -> Vec<Value> {
    let second = &story.finding.sides[1];
    let mut locations = vec![location(second.place.as_ref(), &story.access(1), sources)];
    for access in &story.occurrence.accesses {
        if let Some(place) = &access.spawned {
            let text = format!("thread `{}` is spawned here", access.thread);
            locations.push(location(Some(place), &text, sources));
        }
        for lock in &access.locks {
            if let Some(place) = &lock.taken {
                let text = format!("thread `{}` takes {} here", access.thread, story.lock(lock));
                locations.push(location(Some(place), &text, sources));
            }
        }
    }
    for (location, id) in locations.iter_mut().zip(1..) {
        location["id"] = json!(id);
    }
    locations
}

/// The witness: every thread has its flow, and `executionOrder` is the order of all of them.
fn code_flow(story: &Story<'_>, sources: &impl Sources) -> Value {
    let mut flows: Vec<(&str, Vec<Value>)> = Vec::new();
    let steps = &story.occurrence.steps;
    let mut order = 0;
    for (at, step) in steps.iter().enumerate() {
        order += step.skipped + 1;
        let races = at + 2 >= steps.len();
        let value = flow_location(story, step, order, races, sources);
        match flows.iter_mut().find(|(thread, _)| *thread == step.thread) {
            Some((_, locations)) => locations.push(value),
            None => flows.push((&step.thread, vec![value])),
        }
    }
    let flows = flows.into_iter().map(|(thread, locations)| {
        let text = format!("thread `{thread}`");
        json!({ "id": thread, "message": { "text": text }, "locations": locations })
    });
    let text = match story.occurrence.left_out {
        0 => "a schedule that brings it about".to_owned(),
        left_out => {
            format!("a schedule that brings it about; {left_out} of its events are left out")
        }
    };
    json!({ "message": { "text": text }, "threadFlows": flows.collect::<Vec<Value>>() })
}

fn flow_location(
    story: &Story<'_>,
    step: &Step,
    order: u64,
    races: bool,
    sources: &impl Sources,
) -> Value {
    let what = story.names.operation(&step.what);
    let text = if races { format!("{what} (races)") } else { what };
    json!({
        "executionOrder": order,
        "importance": if races { "essential" } else { "important" },
        "location": location(step.place.as_ref(), &text, sources),
    })
}

fn location(place: Option<&Place>, message: &str, sources: &impl Sources) -> Value {
    let mut location = Map::new();
    match place {
        // A mere name, as traces have it that were written by hand.
        Some(place) if place.line == 0 => {
            let name = json!([{ "fullyQualifiedName": place.file }]);
            location.insert("logicalLocations".to_owned(), name);
        }
        Some(place) => {
            let physical = json!({ "artifactLocation": artifact(&place.file), "region": region(place, sources) });
            location.insert("physicalLocation".to_owned(), physical);
        }
        None => {}
    }
    location.insert("message".to_owned(), json!({ "text": message }));
    Value::Object(location)
}

fn region(place: &Place, sources: &impl Sources) -> Value {
    let columns = sources.read(&place.file).and_then(|text| expression::columns(&text, place));
    match columns {
        Some(columns) if columns.end > columns.start => json!({
            "startLine": place.line,
            "startColumn": columns.start,
            "endColumn": columns.end,
        }),
        _ if place.column > 0 => json!({ "startLine": place.line, "startColumn": place.column }),
        _ => json!({ "startLine": place.line }),
    }
}

/// The address of a file: relative to the project's folder, if it lies there.
fn artifact(file: &str) -> Value {
    let path = file.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') {
        json!({ "uri": format!("file://{}", encoded(&path)) })
    } else if drive {
        json!({ "uri": format!("file:///{}:{}", &path[..1], encoded(&path[2..])) })
    } else {
        json!({ "uri": encoded(path.trim_start_matches("./")), "uriBaseId": ROOT })
    }
}

/// Percent-encoding of all that is not unreserved in RFC 3986, but for slashes.
fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_addresses() {
        let uri = |file: &str| artifact(file)["uri"].as_str().unwrap().to_owned();
        assert_eq!(uri("src/a b.rs"), "src/a%20b.rs");
        assert_eq!(uri("src\\ü:1.rs"), "src/%C3%BC%3A1.rs");
        assert_eq!(uri("/rustc/x.rs"), "file:///rustc/x.rs");
        assert_eq!(uri("C:\\x y.rs"), "file:///C:/x%20y.rs");
        assert_eq!(artifact("src/a.rs")["uriBaseId"], ROOT);
        assert_eq!(artifact("/a.rs").get("uriBaseId"), None);
    }
}
