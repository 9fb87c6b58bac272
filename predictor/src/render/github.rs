//! Annotations of GitHub Actions: a workflow command a finding, which the runner shows beside the
//! line.

use super::story::Story;
use super::text::harmless;
use super::unseen;
use crate::finding::Place;
use crate::project::expression;
use crate::project::{Project, Sources};

/// The findings that count, the files that were skipped, what was not seen and the suppressions
/// that fit nothing, as workflow commands, one a line.
pub fn to_github(project: &Project, sources: &impl Sources) -> String {
    let mut text = String::new();
    for finding in project.open_findings() {
        let story = Story::new(project, finding, sources);
        text += &command(&story, sources);
    }
    for skipped in &project.skipped {
        let message = format!("`{}` was not analysed: {}", skipped.name, skipped.problem);
        text += &line("warning", &[("title", "racelog: a trace was skipped".to_owned())], &message);
    }
    let gaps = unseen::gaps(&project.capture);
    if !gaps.is_empty() {
        let message = format!("not seen: {}", gaps.join("; "));
        let title = "racelog: not everything was recorded".to_owned();
        text += &line("notice", &[("title", title)], &message);
    }
    for unused in &project.unused_suppressions {
        let message = format!("this suppression fits no finding: {unused}");
        text += &line("warning", &[("title", "racelog: unused suppression".to_owned())], &message);
    }
    text
}

fn command(story: &Story<'_>, sources: &impl Sources) -> String {
    let level = if story.is_error() { "error" } else { "warning" };
    let mut lines = story.parts_with_places();
    lines.extend(story.who_waits().map(|(label, text)| format!("{label}: {text}")));
    lines.push(format!("why: {}", story.why()));
    lines.push(format!("seen in {}", story.tests_in_words(3)));
    lines.push(format!("status: {}", story.status().join("; ")));
    lines.extend(story.doubts().iter().map(|doubt| format!("doubt: {doubt}")));
    lines.push(format!("help: {}", story.advice()));
    lines.extend(story.replay());
    // A place without a line is a name, and no file.
    let place = story.finding.places().find(|place| place.line > 0);
    let mut properties = place.map_or_else(Vec::new, |place| where_it_is(place, sources));
    let title = format!("{}: {}", story.finding.kind, story.headline());
    properties.push(("title", title));
    line(level, &properties, &lines.join("\n"))
}

fn where_it_is(place: &Place, sources: &impl Sources) -> Vec<(&'static str, String)> {
    let mut properties =
        vec![("file", place.file.replace('\\', "/")), ("line", place.line.to_string())];
    if place.column == 0 {
        return properties;
    }
    match sources.read(&place.file).and_then(|text| expression::columns(&text, place)) {
        Some(columns) => {
            properties.push(("col", columns.start.to_string()));
            properties.push(("endColumn", columns.end.to_string()));
        }
        None => properties.push(("col", place.column.to_string())),
    }
    properties
}

/// A command on a line of its own.
fn line(level: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties = properties.iter().map(|(name, value)| {
        let value = data(&harmless(value)).replace(':', "%3A").replace(',', "%2C");
        format!("{name}={value}")
    });
    let properties = properties.collect::<Vec<_>>().join(",");
    let message: Vec<String> = message.lines().map(harmless).collect();
    format!("::{level} {properties}::{}\n", data(&message.join("\n")))
}

/// What the runner would take for an end of the line, or for an escape, is escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_is_escaped() {
        let line =
            line("error", &[("file", "a,b:c%\r.rs".to_owned())], "100%: a, b\n::error::x\u{1b}");
        assert_eq!(line, "::error file=a%2Cb%3Ac%25\\r.rs::100%25: a, b%0A::error::x\\u{1b}\n");
    }
}
