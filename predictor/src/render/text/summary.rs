//! What is said about all findings together, and about what was not looked at.

use std::io::{self, Write};

use annotate_snippets::renderer::{AnsiColor, Effects, Style};

use super::layout::{harmless, wrap};
use super::{Detail, TextOptions};
use crate::finding::{Finding, Level};
use crate::goal::GoalKinds;
use crate::project::{Explored, Project, Schedules, Sources};
use crate::render::story::Story;
use crate::render::{count, counted, list, thousands, unseen};

/// A finding on one line: `error[RL001]: data race on … at a.rs:1:2 and b.rs:3:4`.
pub(super) fn headline(story: &Story<'_>, options: &TextOptions) -> String {
    let level = if story.is_error() { "error" } else { "warning" };
    let text = story.headline_with_places();
    let head = format!("{level}[{}]", story.finding.kind);
    let indent = head.len() + 2;
    let lines = wrap(&harmless(&text), options.width.saturating_sub(indent));
    let head = options.styled(&head, level_style(story.is_error()));
    format!("{head}: {}", lines.join(&format!("\n{}", " ".repeat(indent))))
}

fn level_style(is_error: bool) -> Style {
    let colour = if is_error { AnsiColor::BrightRed } else { AnsiColor::Yellow };
    colour.on_default().effects(Effects::BOLD)
}

/// Warnings, what does not count, and the closing line.
pub(super) fn write(
    out: &mut impl Write,
    project: &Project,
    sources: &impl Sources,
    options: &TextOptions,
) -> io::Result<()> {
    if options.detail != Detail::Quiet {
        warnings(out, project, options)?;
    }
    if options.detail == Detail::Verbose {
        for one in &project.unrecorded.uses {
            options.write(
                out,
                "note",
                &format!("`{}` at {} is not recorded", one.name, one.place),
            )?;
        }
        for finding in project.findings.iter().filter(|finding| !finding.is_open()) {
            let story = Story::new(project, finding, sources);
            let text = format!("{}: {}", story.headline_with_places(), why(finding));
            options.write(out, "note", &text)?;
        }
    }
    let mut text = format!("{} in {}", result(project), checked(project));
    if let Some(rest) = not_counted(project) {
        text += &format!("; {rest}");
    }
    if let Some(explored) = &project.explored {
        text += &format!("; {}", tried(explored));
    }
    let gaps = unseen::gaps(&project.capture);
    if !gaps.is_empty() {
        text += &format!("; not seen: {}", gaps.join("; "));
    }
    let style = match (project.errors().next(), project.open_findings().next(), gaps.is_empty()) {
        (Some(_), ..) => AnsiColor::BrightRed,
        // Where not all was seen, nothing found is no good news yet.
        (None, Some(_), _) | (None, None, false) => AnsiColor::Yellow,
        (None, None, true) => AnsiColor::BrightGreen,
    };
    options.write_styled(out, "racelog", &text, style.on_default().effects(Effects::BOLD))
}

/// Why a finding does not count.
fn why(finding: &Finding) -> String {
    match &finding.suppressed {
        Some(suppressed) => format!("suppressed by {}: {}", suppressed.by, suppressed.reason),
        None => "in the baseline".to_owned(),
    }
}

/// What was found, by how sure it is.
fn result(project: &Project) -> String {
    let open = |is_doubtful: bool| {
        project.open_findings().filter(move |f| (f.level == Level::Doubtful) == is_doubtful)
    };
    let confirmed = open(false).filter(|finding| {
        let replay = finding.best().replay.as_ref();
        replay.is_some_and(|replay| replay.status.is_confirmed())
    });
    let found = || counted(open(false).map(|finding| &finding.kind));
    let races = match (open(false).count(), confirmed.count()) {
        (0, _) => format!("{} found", project.goals.none_of_them()),
        (_, 0) => found(),
        (_, confirmed) => format!("{} ({confirmed} confirmed by replay)", found()),
    };
    match open(true).count() as u64 {
        0 => races,
        number => format!("{races}, {}", count(number, "doubtful finding")),
    }
}

/// What was looked at.
fn checked(project: &Project) -> String {
    let tests = project.traces.iter().filter(|trace| trace.test.is_some()).count() as u64;
    let others = project.traces.len() as u64 - tests;
    let events: u64 = project.traces.iter().map(|trace| trace.events).sum();
    let counts = project.traces.iter().filter_map(|trace| trace.counts);
    let pairs: u64 = counts.map(|counts| counts.candidates).sum();
    let mut words = Vec::new();
    if tests > 0 || others == 0 {
        words.push(count(tests, "test"));
    }
    if others > 0 {
        words.push(count(others, if tests == 0 { "trace" } else { "other trace" }));
    }
    words.push(count(events, "event"));
    words.push(match (pairs, project.goals == GoalKinds::RACES) {
        (0, true) => "no conflicting accesses".to_owned(),
        (0, false) => "no candidates".to_owned(),
        (pairs, true) => format!("{} of accesses", count(pairs, "conflicting pair")),
        (candidates, false) => count(candidates, "candidate"),
    });
    let unknown = match project.unknown() {
        0 if pairs == 0 => String::new(),
        0 => ", all decided".to_owned(),
        unknown => format!(", {} not decided", thousands(unknown)),
    };
    let shard = match project.shard {
        Some(shard) => format!(" (shard {} of {})", shard.index, shard.of),
        None => String::new(),
    };
    format!("{}{unknown}{shard}", list(&words))
}

/// What was found and does not count.
fn not_counted(project: &Project) -> Option<String> {
    let suppressed = project.findings.iter().filter(|finding| finding.suppressed.is_some()).count();
    let known = project.findings.iter().filter(|it| it.known && it.suppressed.is_none()).count();
    let parts = [(suppressed, "suppressed"), (known, "in the baseline")];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
    (!parts.is_empty()).then(|| format!("besides {}", list(&parts)))
}

/// What became of suspects.
fn tried(explored: &Explored) -> String {
    let Explored { suspects, left, runs, happened, unended, schedules, .. } = explored;
    let happened = match happened {
        0 => "none".to_owned(),
        number => thousands(*number),
    };
    let tried = format!(
        "{} tried in {}, {happened} happened",
        count(*suspects, "suspect"),
        count(*runs, "run")
    );
    let tried = match schedules {
        Some(Schedules { tests, runs, .. }) => {
            format!("{} of {}; {tried}", count(*runs, "schedule"), count(*tests, "test"))
        }
        None => tried,
    };
    let besides = [
        (*left, format!("{} not tried to the end", thousands(*left))),
        (*unended, format!("{} did not end", count(*unended, "run"))),
    ];
    let besides = besides.iter().filter(|(number, _)| *number > 0).map(|(_, words)| words.as_str());
    [tried.as_str()].into_iter().chain(besides).collect::<Vec<_>>().join(", ")
}

fn warnings(out: &mut impl Write, project: &Project, options: &TextOptions) -> io::Result<()> {
    for skipped in &project.skipped {
        let text = format!("`{}` was not analysed: {}", skipped.name, skipped.problem);
        options.write(out, "warning", &text)?;
    }
    for trace in &project.traces {
        if let Some(note) = &trace.note {
            options.write(out, "warning", &format!("`{}` is not whole: {note}", trace.name))?;
        }
    }
    for unused in &project.unused_suppressions {
        options.write(out, "warning", &format!("this suppression fits no finding: {unused}"))?;
    }
    Ok(())
}

impl TextOptions {
    /// A message that fits.
    fn write(&self, out: &mut impl Write, level: &str, text: &str) -> io::Result<()> {
        let style = match level {
            "warning" => level_style(false),
            _ => Style::new().effects(Effects::BOLD),
        };
        self.write_styled(out, level, text, style)
    }

    fn write_styled(
        &self,
        out: &mut impl Write,
        level: &str,
        text: &str,
        style: Style,
    ) -> io::Result<()> {
        let indent = level.len() + 2;
        let text: Vec<String> = text.lines().map(harmless).collect();
        let lines = wrap(&text.join(" "), self.width.saturating_sub(indent));
        let level = self.styled(level, style);
        writeln!(out, "{level}: {}", lines.join(&format!("\n{}", " ".repeat(indent))))
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
