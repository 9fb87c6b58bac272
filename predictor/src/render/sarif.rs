//! SARIF 2.1.0: one run, a result a finding, with the witness as a code flow of a thread flow a
//! thread. `tests/schemas/sarif-2.1.0.json` says what it looks like.

use serde_json::{Map, Value, json};

use super::count;
use super::explain::what_it_is;
use super::story::{Story, place_or_event};
use super::unseen;
use crate::finding::{Basis, Finding, Kind, Part, Place, Role, Step};
use crate::project::expression;
use crate::project::{Project, Sources};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

/// What relative addresses start from: the folder of the project.
const ROOT: &str = "%SRCROOT%";

/// A log has that many bytes without being too large.
const SMALL: usize = 1 << 20;

/// And as many for each event of the traces: about four times what the event has in the text
/// format.
const BYTES_PER_EVENT: u64 = 128;

/// The report as SARIF 2.1.0. If it would be many times the size of its traces, it is brief: it
/// says how many results are without their schedules, and how many are left out.
pub fn to_sarif(project: &Project, sources: &impl Sources) -> String {
    let rules = rules(project);
    // All results say how they compare to the baseline, or none does.
    let baseline = project.findings.iter().any(|finding| finding.known);
    let events: u64 = project.traces.iter().map(|trace| trace.events).sum();
    let most = usize::try_from(events * BYTES_PER_EVENT).unwrap_or(usize::MAX).max(SMALL);
    let mut whole = Vec::new();
    let mut left = most;
    for finding in &project.findings {
        let result = result(&Story::new(project, finding, sources), sources, &rules, baseline);
        match left.checked_sub(pretty_bytes(&result)) {
            Some(rest) => left = rest,
            None => return brief(project, sources, &rules, baseline, most),
        }
        whole.push(result);
    }
    let log = log(project, &rules, &whole, None);
    let mut text = serde_json::to_string_pretty(&log).expect("it has nothing but strings for keys");
    text.push('\n');
    text
}

/// The same without schedules and without what surrounds the parts, in as many bytes.
fn brief(
    project: &Project,
    sources: &impl Sources,
    rules: &[&Kind],
    baseline: bool,
    most: usize,
) -> String {
    let mut results = Vec::new();
    let mut left = most;
    for finding in &project.findings {
        let result = brief_result(&Story::new(project, finding, sources), sources, rules, baseline);
        match left.checked_sub(result.to_string().len() + 1) {
            Some(rest) => left = rest,
            None => break,
        }
        results.push(result);
    }
    let mut note = format!(
        "this log has {} without their schedules and what surrounds them, to be no larger than a \
         few times the traces",
        count(project.findings.len() as u64, "result")
    );
    let left_out = project.findings.len() - results.len();
    if left_out > 0 {
        note += &format!("; {left_out} of them are left out");
    }
    note += "; `cargo racelog report --format json` has everything";
    format!("{}\n", log(project, rules, &results, Some(note)))
}

/// How many bytes a value has in the log.
fn pretty_bytes(value: &Value) -> usize {
    let text = serde_json::to_string_pretty(value).expect("it has nothing but strings for keys");
    // Each line is indented once more for each level around it.
    text.len() + 8 * text.lines().count()
}

fn log(project: &Project, rules: &[&Kind], results: &[Value], note: Option<String>) -> Value {
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(project, rules) },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                ROOT: { "description": { "text": "the folder of the project" } },
            },
            "invocations": [invocation(project, note)],
            "results": results,
        }],
    })
}

fn driver(project: &Project, rules: &[&Kind]) -> Value {
    let rules = rules.iter().map(|kind| {
        let page = kind.page().unwrap_or_else(|| kind.title());
        json!({
            "id": kind.code(),
            "name": kind.rule(),
            "shortDescription": { "text": kind.title() },
            "fullDescription": { "text": what_it_is(kind) },
            "help": { "text": page, "markdown": page },
            "defaultConfiguration": { "level": level(kind) },
            "properties": { "tags": ["concurrency", "correctness"] },
        })
    });
    json!({
        "name": "racelog",
        "version": project.racelog,
        "semanticVersion": project.racelog,
        "rules": rules.collect::<Vec<Value>>(),
    })
}

/// The kinds that the log has rules of: all that this version knows, and others that occur.
fn rules(project: &Project) -> Vec<&Kind> {
    let mut others: Vec<&Kind> = project.findings.iter().map(|finding| &finding.kind).collect();
    others.retain(|kind| matches!(kind, Kind::Other(_)));
    others.sort();
    others.dedup();
    Kind::KNOWN.iter().chain(others).collect()
}

fn level(kind: &Kind) -> &'static str {
    match kind.basis() {
        Basis::Schedule | Basis::ObservedRun | Basis::Happened => "error",
        Basis::Suspicion => "warning",
    }
}

fn invocation(project: &Project, note: Option<String>) -> Value {
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
    let note = note.map(|text| json!({ "level": "note", "message": { "text": text } }));
    let all = skipped.chain(cut).chain(unused).chain(unseen).chain(note);
    json!({
        "executionSuccessful": project.skipped.is_empty(),
        "toolExecutionNotifications": all.collect::<Vec<Value>>(),
    })
}

fn result(story: &Story<'_>, sources: &impl Sources, rules: &[&Kind], baseline: bool) -> Value {
    let finding = story.finding;
    let (first, others) = story.parts().split_first().expect("there is a part");
    let who_waits = story.who_waits().map_or_else(String::new, |(_, waits)| format!("; {waits}"));
    let text = format!("{}{who_waits}; {}. {}", message(story), story.why(), story.advice());
    let rule = rules.iter().position(|kind| **kind == finding.kind);
    let mut result = json!({
        "ruleId": finding.kind.code(),
        "ruleIndex": rule,
        "kind": "fail",
        "level": if story.is_error() { "error" } else { "warning" },
        "message": { "text": text },
        "locations": [location(first.source.place.as_ref(), &story.part(first), sources)],
        "relatedLocations": related(story, others, sources),
        "partialFingerprints": { "racelog/v1": finding.fingerprint },
        "properties": {
            "number": finding.number,
            "tests": story.tests(),
            "detectors": story.occurrence.detectors,
            "variable": story.subject(),
            "status": story.status().join("\n"),
            "level": finding.level.name(),
            "doubts": story.doubts(),
        },
    });
    if !story.occurrence.steps.is_empty() {
        result["codeFlows"] = json!([code_flow(story, sources)]);
    }
    add_states(&mut result, finding, baseline);
    result
}

/// What is found where, with links to the related locations.
fn message(story: &Story<'_>) -> String {
    let (first, others) = story.parts().split_first().expect("there is a part");
    let others = others.iter().zip(1..).map(|(part, id)| {
        format!(", and at [{}]({id}) {}", bracketed(&place_or_event(part)), story.part(part))
    });
    format!("{}: {}{}", story.headline(), story.part(first), others.collect::<String>())
}

/// A result with no more than what tells it from others.
fn brief_result(
    story: &Story<'_>,
    sources: &impl Sources,
    rules: &[&Kind],
    baseline: bool,
) -> Value {
    let finding = story.finding;
    let rule = rules.iter().position(|kind| **kind == finding.kind);
    let at = |part: &Part| bare_location(part.source.place.as_ref(), sources);
    let (first, others) = story.parts().split_first().expect("there is a part");
    let mut related: Vec<Value> = others.iter().map(at).collect();
    for (location, id) in related.iter_mut().zip(1..) {
        location["id"] = json!(id);
    }
    let mut result = json!({
        "ruleId": finding.kind.code(),
        "ruleIndex": rule,
        "level": if story.is_error() { "error" } else { "warning" },
        "message": { "text": message(story) },
        "locations": [at(first)],
        "relatedLocations": related,
        "partialFingerprints": { "racelog/v1": finding.fingerprint },
        "properties": { "number": finding.number, "level": finding.level.name() },
    });
    add_states(&mut result, finding, baseline);
    result
}

/// Whether the finding counts, and whether it is new.
fn add_states(result: &mut Value, finding: &Finding, baseline: bool) {
    if let Some(suppressed) = &finding.suppressed {
        let justification = format!("{} ({})", suppressed.reason, suppressed.by);
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": justification }]);
    }
    if baseline {
        result["baselineState"] = json!(if finding.known { "unchanged" } else { "new" });
    }
}

/// Text of a link: what ends it is escaped.
fn bracketed(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// The other parts first, which the message links to, then where threads and locks come from.
fn related(story: &Story<'_>, others: &[Part], sources: &impl Sources) -> Vec<Value> {
    let at = |part: &Part| location(part.source.place.as_ref(), &story.part(part), sources);
    let mut locations: Vec<Value> = others.iter().map(at).collect();
    let is_told = |place: &Place| {
        let place = Some(place);
        others.iter().any(|it| it.role == Role::Taken && it.source.place.as_ref() == place)
    };
    for part in story.primary_parts() {
        if let Some(place) = &part.spawned {
            let text = format!("thread `{}` is spawned here", part.thread);
            locations.push(location(Some(place), &text, sources));
        }
        for lock in &part.locks {
            if let Some(place) = lock.taken.as_ref().filter(|place| !is_told(place)) {
                let text = format!("thread `{}` takes {} here", part.thread, story.lock(lock));
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
    for step in steps {
        order += step.skipped + 1;
        let value = flow_location(story, step, order, sources);
        let thread = step.action.thread.as_str();
        match flows.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, locations)) => locations.push(value),
            None => flows.push((thread, vec![value])),
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

fn flow_location(story: &Story<'_>, step: &Step, order: u64, sources: &impl Sources) -> Value {
    let what = story.names.operation(&step.action.does);
    let part = story.primary_parts().find(|part| part.event == step.action.event);
    let text = match part {
        Some(part) if part.waits.is_some() => format!("{what} (waits)"),
        Some(_) if story.occurrence.subject.is_some() => format!("{what} (races)"),
        Some(_) | None => what,
    };
    json!({
        "executionOrder": order,
        "importance": if part.is_some() { "essential" } else { "important" },
        "location": location(step.action.place.as_ref(), &text, sources),
    })
}

fn location(place: Option<&Place>, message: &str, sources: &impl Sources) -> Value {
    let mut location = bare_location(place, sources);
    location["message"] = json!({ "text": message });
    location
}

fn bare_location(place: Option<&Place>, sources: &impl Sources) -> Value {
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
