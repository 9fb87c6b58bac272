//! JUnit XML: a suite a test program, a case a trace. `tests/schemas/junit-10.xsd` says what it
//! looks like.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::counted;
use super::story::Story;
use super::unseen;
use crate::finding::{Finding, Occurrence};
use crate::project::{Project, Skipped, Sources, TraceInfo, without_hash};

/// The report as JUnit XML.
pub fn to_junit(project: &Project, sources: &impl Sources) -> String {
    let mut suites: BTreeMap<&str, Suite<'_>> = BTreeMap::new();
    for trace in &project.traces {
        let program = trace.program.as_deref().map_or("traces", without_hash);
        suites.entry(program).or_default().traces.push(trace);
    }
    if !project.skipped.is_empty() {
        suites.entry("skipped traces").or_default().skipped = &project.skipped;
    }
    let mut by_trace: BTreeMap<&str, Vec<(&Finding, &Occurrence)>> = BTreeMap::new();
    for finding in &project.findings {
        for occurrence in &finding.occurrences {
            let findings = by_trace.entry(&occurrence.trace).or_default();
            // One trace may show a finding twice.
            if findings.last().is_none_or(|(last, _)| last.number != finding.number) {
                findings.push((finding, occurrence));
            }
        }
    }
    let cases = Cases { project, by_trace, sources };
    let all: Vec<Numbers> = suites.values().map(|suite| cases.numbers(suite)).collect();
    let sum = |number: fn(&Numbers) -> usize| all.iter().map(number).sum::<usize>();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites name=\"racelog\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">",
        sum(|numbers| numbers.tests),
        sum(|numbers| numbers.failures),
        sum(|numbers| numbers.errors),
        all.iter().fold(0.0, |sum, numbers| sum + numbers.seconds),
    );
    for gap in unseen::gaps(&project.capture) {
        let _ = writeln!(xml, "  <!-- not seen: {} -->", comment(&gap));
    }
    for ((name, suite), numbers) in suites.iter().zip(&all) {
        cases.suite(&mut xml, name, suite, numbers);
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// The cases of one suite.
#[derive(Default)]
struct Suite<'a> {
    traces: Vec<&'a TraceInfo>,
    skipped: &'a [Skipped],
}

struct Numbers {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

/// A finding, and where in a trace.
type Found<'a> = (&'a Finding, &'a Occurrence);

/// What is to be said of one trace.
enum CaseResult<'a> {
    Passed,
    /// There are errors; warnings stand beside them.
    Failed(Vec<Found<'a>>),
    /// There are only warnings.
    Doubtful(Vec<Found<'a>>),
    /// It has findings, and none counts.
    NotCounted(Vec<Found<'a>>),
}

struct Cases<'a, S> {
    project: &'a Project,
    by_trace: BTreeMap<&'a str, Vec<Found<'a>>>,
    sources: &'a S,
}

impl<'a, S: Sources> Cases<'a, S> {
    fn result(&self, trace: &TraceInfo) -> CaseResult<'a> {
        let findings = self.by_trace.get(trace.name.as_str()).cloned().unwrap_or_default();
        let open: Vec<Found<'_>> =
            findings.iter().copied().filter(|(finding, _)| finding.is_open()).collect();
        let is_error = |(finding, _): &Found<'_>| self.project.is_error(finding);
        match (open.is_empty(), findings.is_empty()) {
            (false, _) if open.iter().any(is_error) => CaseResult::Failed(open),
            (false, _) => CaseResult::Doubtful(open),
            (true, false) => CaseResult::NotCounted(findings),
            (true, true) => CaseResult::Passed,
        }
    }

    fn numbers(&self, suite: &Suite<'_>) -> Numbers {
        let results: Vec<CaseResult<'_>> =
            suite.traces.iter().map(|trace| self.result(trace)).collect();
        let many =
            |which: fn(&CaseResult<'_>) -> bool| results.iter().filter(|it| which(it)).count();
        Numbers {
            tests: suite.traces.len() + suite.skipped.len(),
            failures: many(|result| matches!(result, CaseResult::Failed(_))),
            errors: suite.skipped.len(),
            skipped: many(|result| matches!(result, CaseResult::NotCounted(_))),
            seconds: suite.traces.iter().fold(0.0, |sum, trace| sum + seconds(trace)),
        }
    }

    fn suite(&self, xml: &mut String, name: &str, suite: &Suite<'_>, numbers: &Numbers) {
        let Numbers { tests, failures, errors, skipped, seconds } = numbers;
        let name = attribute(name);
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\" time=\"{seconds:.3}\">",
        );
        for trace in &suite.traces {
            self.case(xml, trace);
        }
        for skipped in suite.skipped {
            let (name, problem) = (attribute(&skipped.name), attribute(&skipped.problem));
            let _ = writeln!(xml, "    <testcase name=\"{name}\" classname=\"racelog\">");
            let _ = writeln!(xml, "      <error type=\"skipped\" message=\"{problem}\"/>");
            xml.push_str("    </testcase>\n");
        }
        xml.push_str("  </testsuite>\n");
    }

    fn case(&self, xml: &mut String, trace: &TraceInfo) {
        let test = trace.test.as_deref().unwrap_or(&trace.name);
        let (class, name) = match test.rsplit_once("::") {
            Some((class, name)) => (class, name),
            None => (trace.program.as_deref().map_or("racelog", without_hash), test),
        };
        let (class, name, time) = (attribute(class), attribute(name), seconds(trace));
        let _ =
            write!(xml, "    <testcase name=\"{name}\" classname=\"{class}\" time=\"{time:.3}\"");
        match self.result(trace) {
            CaseResult::Passed => {
                xml.push_str("/>\n");
                return;
            }
            CaseResult::Failed(findings) => {
                xml.push_str(">\n");
                // The schema wants all failures before what was printed.
                let (errors, warnings): (Vec<_>, Vec<_>) =
                    findings.into_iter().partition(|(finding, _)| self.project.is_error(finding));
                for found in errors {
                    self.failure(xml, found);
                }
                self.warnings(xml, &warnings);
            }
            CaseResult::Doubtful(findings) => {
                xml.push_str(">\n");
                self.warnings(xml, &findings);
            }
            CaseResult::NotCounted(findings) => {
                xml.push_str(">\n");
                let found = counted(findings.iter().map(|(finding, _)| &finding.kind));
                let message = format!("{found} suppressed or in the baseline");
                let _ = writeln!(xml, "      <skipped message=\"{}\"/>", attribute(&message));
            }
        }
        xml.push_str("    </testcase>\n");
    }

    fn failure(&self, xml: &mut String, (finding, occurrence): Found<'_>) {
        let story = Story::of(self.project, finding, occurrence, self.sources);
        let _ = writeln!(
            xml,
            "      <failure type=\"{}\" message=\"{}\">{}</failure>",
            finding.kind,
            attribute(&story.headline()),
            content(&self.lines(&story).join("\n"))
        );
    }

    /// What is doubtful fails nothing, and is not passed over in silence.
    fn warnings(&self, xml: &mut String, findings: &[Found<'_>]) {
        if findings.is_empty() {
            return;
        }
        let mut lines = Vec::new();
        for (finding, occurrence) in findings {
            let story = Story::of(self.project, finding, occurrence, self.sources);
            lines.push(format!("warning[{}]: {}", finding.kind, story.headline()));
            lines.extend(self.lines(&story));
        }
        let _ = writeln!(xml, "      <system-out>{}</system-out>", content(&lines.join("\n")));
    }

    fn lines(&self, story: &Story<'_>) -> Vec<String> {
        let mut lines = story.parts_with_places();
        lines.extend(story.subject());
        lines.extend(story.who_waits().map(|(label, text)| format!("{label}: {text}")));
        lines.push(format!("why: {}", story.why()));
        lines.push(format!("status: {}", story.status().join("; ")));
        lines.extend(story.doubts().iter().map(|doubt| format!("doubt: {doubt}")));
        lines.push(format!("help: {}", story.advice()));
        lines.extend(story.replay());
        lines
    }
}

fn seconds(trace: &TraceInfo) -> f64 {
    // The sum of nothing would be -0, which the schema does not allow.
    trace.detectors.iter().fold(0.0, |sum, run| sum + run.seconds)
}

/// Text within an element.
fn content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // Readers would make it a line feed.
            '\r' => escaped.push_str("&#13;"),
            // No XML 1.0 document can have these, not even as a reference.
            _ if !is_allowed(c) => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Text within a comment, which two dashes would end.
fn comment(text: &str) -> String {
    content(text).replace("--", "- -")
}

/// Text within an attribute. Readers make blanks of what breaks lines there, unless it is a
/// reference.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_is_escaped() {
        assert_eq!(content("a < b && \"c\"\r\n]]>"), "a &lt; b &amp;&amp; \"c\"&#13;\n]]&gt;");
        assert_eq!(attribute("\"a\"\n\tb"), "&quot;a&quot;&#10;&#9;b");
        assert_eq!(content("\u{0}\u{1b}[31m\u{fffe}"), "\u{fffd}\u{fffd}[31m\u{fffd}");
    }
}
