//! The report as one page that needs nothing else: no network, no other file.
//!
//! The page is hand-written: `assets/` has its body, its style and its scripts. What it shows is
//! data in blocks that are no script to the browser, in which no tag can end or begin: whatever a
//! trace, a file or a line of source is called, it stays text. The scripts make text nodes of it
//! and never markup. What is large, a block for each trace and each witness, is read only when it
//! is looked at.

mod data;
mod pack;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};

use self::data::{Advice, Block, Lines, Report, ShownFinding};
use self::pack::{PackedCourse, PackedTimeline};
use super::list;
use super::timeline::{ArrowKind, Limits, Timeline};
use super::unseen::gaps;
use crate::finding::{Occurrence, SourceOp};
use crate::project::{Project, Sources};
use crate::trace::Trace;

const BODY: &str = include_str!("assets/body.html");
const STYLE: [&str; 2] = [include_str!("assets/page.css"), include_str!("assets/finding.css")];

/// The scripts, in the order in which they need each other.
const SCRIPTS: [&str; 12] = [
    include_str!("assets/dom.js"),
    include_str!("assets/data.js"),
    include_str!("assets/list.js"),
    include_str!("assets/source.js"),
    include_str!("assets/lanes.js"),
    include_str!("assets/chart.js"),
    include_str!("assets/pointer.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/circle.js"),
    include_str!("assets/finding.js"),
    include_str!("assets/summary.js"),
    include_str!("assets/main.js"),
];

/// What the page may load: nothing.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; form-action 'none'";

/// How many events all traces of a page have together, so that browsers can still open it.
const EVENTS: usize = 1_000_000;

/// The same for the steps of all witnesses.
const STEPS: usize = 2_000_000;

/// So many steps all witnesses may have together, however short the traces are.
const FEW_STEPS: usize = 200_000;

/// And so many for each event of the traces: a page is no more than a few times its traces.
const STEPS_PER_EVENT: usize = 8;

/// The fewest steps of a witness that are drawn.
const FEWEST_STEPS: usize = 20;

/// How many findings there are to read without scripts.
const PLAIN: usize = 200;

/// Of how many findings the witness is drawn: the first ones. The page says so of the others.
const DRAWN: usize = 500;

/// Writes a report as a page.
///
/// `load` gives the trace of this name, if it is still there; it is called once for each trace that
/// is drawn. `prefixes` are taken off the names of files in it, as they were for the project.
pub fn html(
    out: &mut impl Write,
    project: &Project,
    sources: &impl Sources,
    prefixes: &[String],
    mut load: impl FnMut(&str) -> Option<Trace>,
) -> io::Result<()> {
    write_head(out, project)?;
    let mut lines = Lines::default();
    let mut advice = Advice::default();
    let new = |finding| ShownFinding::new(project, finding, sources, &mut advice);
    let mut shown: Vec<ShownFinding> = project.findings.iter().map(new).collect();
    let mut by_trace: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, finding) in project.findings.iter().enumerate() {
        lines.want_finding(finding);
        by_trace.entry(&finding.best().trace).or_default().push(at);
    }
    let events = project.traces.iter().map(|trace| trace.events as usize).sum();
    let limits = limits(by_trace.len(), project.findings.len(), events);
    for (number, (name, findings)) in by_trace.iter().enumerate() {
        let Some(trace) = load(name) else { continue };
        // After another recording there is another trace of the same name.
        if project.trace(name).is_some_and(|info| info.events != trace.len() as u64) {
            continue;
        }
        let occurrences: Vec<&Occurrence> =
            findings.iter().map(|at| project.findings[*at].best()).collect();
        let timeline = Timeline::new(&trace, &occurrences, &limits, prefixes);
        drop(trace);
        timeline.events.places.iter().for_each(|place| lines.want(place, 0));
        let drawn = timeline.events_of.iter().zip(&timeline.witnesses);
        for (at, (rows, course)) in findings.iter().zip(drawn) {
            shown[*at].timeline = rows.as_ref().map(|_| number);
            shown[*at].rows.clone_from(rows);
            shown[*at].undrawn = course.is_some() && *at >= DRAWN;
            if let Some(course) = course.as_ref().filter(|_| *at < DRAWN) {
                shown[*at].witness = true;
                let id = format!("witness-{}", project.findings[*at].number);
                write_block(out, &id, &PackedCourse::new(course))?;
            }
        }
        write_block(out, &format!("timeline-{number}"), &PackedTimeline::new(&timeline))?;
    }
    let gaps = gaps(&project.capture);
    let report = Report {
        project: project.to_value(),
        findings: shown,
        advice: advice.into_list(),
        gaps,
        arrows: ArrowKind::ALL.map(ArrowKind::name),
        files: lines.read(sources),
    };
    write_block(out, "report", &report)?;
    writeln!(out, "<script>\n(() => {{\n'use strict';")?;
    SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?;
    writeln!(out, "}})();\n</script>\n</body>\n</html>")
}

/// The more there is to draw, the less of each.
fn limits(traces: usize, findings: usize, events: usize) -> Limits {
    let Limits { whole, around, witness } = Limits::default();
    let share = |all: usize, parts: usize| all / parts.max(1);
    let steps = events.saturating_mul(STEPS_PER_EVENT).clamp(FEW_STEPS, STEPS);
    Limits {
        whole: share(EVENTS, traces).clamp(2 * around, whole),
        around: share(EVENTS, 4 * findings).clamp(100, around),
        witness: share(steps, findings).clamp(FEWEST_STEPS, witness),
    }
}

fn write_head(out: &mut impl Write, project: &Project) -> io::Result<()> {
    let open = project.open_findings().count();
    let plural = if open == 1 { "" } else { "s" };
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"racelog {}\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>racelog: {open} finding{plural}</title>\n<style>",
        escaped(&project.racelog)
    )?;
    STYLE.iter().try_for_each(|style| out.write_all(style.as_bytes()))?;
    writeln!(out, "</style>\n</head>\n<body>\n{BODY}")?;
    write_plain(out, project)
}

/// What there is to read without scripts.
fn write_plain(out: &mut impl Write, project: &Project) -> io::Result<()> {
    writeln!(out, "<noscript>\n<p>Timelines and filters need JavaScript.</p>\n<ol>")?;
    for finding in project.findings.iter().take(PLAIN) {
        let operation = |source: &SourceOp| {
            let place =
                source.place.as_ref().map_or("an unknown place".to_owned(), ToString::to_string);
            format!("{} at {place}", source.operation)
        };
        let operations: Vec<String> = finding.sources().map(operation).collect();
        let text = format!(
            "{} {} ({}): {}",
            finding.kind,
            finding.kind.title(),
            finding.level.name(),
            list(&operations)
        );
        writeln!(out, "<li>{}</li>", escaped(&text))?;
    }
    writeln!(out, "</ol>")?;
    if project.findings.len() > PLAIN {
        writeln!(out, "<p>And {} others.</p>", project.findings.len() - PLAIN)?;
    }
    for gap in gaps(&project.capture) {
        writeln!(out, "<p>Not seen: {}</p>", escaped(&gap))?;
    }
    writeln!(out, "</noscript>")
}

fn write_block(out: &mut impl Write, id: &str, data: &impl serde::Serialize) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"{id}\">")?;
    serde_json::to_writer(Block(&mut *out), data).map_err(io::Error::from)?;
    writeln!(out, "</script>")
}

/// Text as HTML has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
