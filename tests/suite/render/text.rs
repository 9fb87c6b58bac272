//! The report for people.

use predictor::finding::{Kind, Reason};
use predictor::project::{NoSources, Project, Sources};
use predictor::render::{Detail, TextOptions, write_text};

use super::{Files, check_golden, full_project, project_of};

fn text(project: &Project, sources: &impl Sources, options: &TextOptions) -> String {
    let mut out = Vec::new();
    write_text(&mut out, project, sources, options).expect("memory");
    String::from_utf8(out).expect("UTF-8")
}

/// With the usual options.
pub(super) fn normal(project: &Project) -> String {
    text(project, &Files, &wide(100))
}

fn wide(width: usize) -> TextOptions {
    TextOptions { width, ..TextOptions::default() }
}

#[test]
fn it_is_what_it_was() {
    let project = full_project();
    for width in [60, 80, 120] {
        check_golden(&format!("text-{width}.txt"), &text(&project, &Files, &wide(width)));
    }
    let quiet = TextOptions { detail: Detail::Quiet, ..wide(80) };
    check_golden("text-quiet.txt", &text(&project, &Files, &quiet));
    let verbose = TextOptions { detail: Detail::Verbose, ..wide(100) };
    check_golden("text-verbose.txt", &text(&project, &Files, &verbose));
    check_golden("text-without-source.txt", &text(&project, &NoSources, &wide(80)));
    let one = project_of(|name| name.contains("closed"));
    let colour = TextOptions { colour: true, ..wide(80) };
    check_golden("text-colour.txt", &text(&one, &Files, &colour));
    let clean = project_of(|name| name.contains("one_thread"));
    check_golden("text-clean.txt", &text(&clean, &Files, &wide(80)));
}

#[test]
fn everything_fits() {
    let mut project = full_project();
    let long = "a::very::long::path::to::some::".repeat(20);
    for trace in &mut project.traces {
        trace.test = Some(long.clone());
    }
    for occurrence in project.findings.iter_mut().flat_map(|finding| &mut finding.occurrences) {
        for part in &mut occurrence.parts {
            part.thread = format!("{}-{long}", part.thread);
        }
        for step in &mut occurrence.steps {
            step.action.thread = format!("{}-{long}", step.action.thread);
        }
        occurrence.subject.as_mut().unwrap().name.push_str(&long);
    }
    for width in [40, 60, 100] {
        for (source, text) in [
            ("with", text(&project, &Files, &wide(width))),
            ("without", text(&project, &NoSources, &wide(width))),
        ] {
            let too_long = text.lines().find(|line| line.chars().count() > width);
            assert_eq!(too_long, None, "at {width}, {source} source");
        }
    }
}

#[test]
fn many_tests_are_counted() {
    let mut project = project_of(|name| name.contains("closed"));
    let (trace, occurrence) = (&project.traces[0], &project.findings[0].occurrences[0]);
    let (mut traces, mut occurrences) = (Vec::new(), Vec::new());
    for number in 0..10 {
        let (mut trace, mut occurrence) = (trace.clone(), occurrence.clone());
        trace.name = format!("{number}.rlog");
        trace.test = Some(format!("cache::test_{number}"));
        occurrence.trace.clone_from(&trace.name);
        traces.push(trace);
        occurrences.push(occurrence);
    }
    project.traces = traces;
    project.findings[0].occurrences = occurrences;
    let normal = text(&project, &Files, &wide(120));
    let line = "= seen in: `cache::test_0`, `cache::test_1`, `cache::test_2` and 7 more tests\n";
    assert!(normal.contains(line), "{normal}");
    let verbose = TextOptions { detail: Detail::Verbose, ..wide(400) };
    let verbose = text(&project, &Files, &verbose);
    assert!(verbose.contains("`cache::test_8` and `cache::test_9`\n"), "{verbose}");
}

#[test]
fn no_control_character_gets_through() {
    let mut project = project_of(|name| name.contains("closed"));
    let occurrence = &mut project.findings[0].occurrences[0];
    occurrence.parts[0].thread = "a\u{1b}[2Jb\u{202e}".to_owned();
    occurrence.reason = Reason::Reordered { locks: vec!["x\u{7}\r".to_owned()] };
    let place = &mut occurrence.parts[0].source.place;
    place.as_mut().unwrap().file = "\u{1b}]0;t\u{7}.rs".to_owned();
    let text = text(&project, &Files, &wide(80));
    let odd = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    assert_eq!(odd, None, "{text}");
}

#[test]
fn what_is_only_suspected_is_a_warning() {
    let mut project = project_of(|name| name.contains("closed"));
    let finding = &mut project.findings[0];
    finding.kind = Kind::SuspectedRace;
    finding.occurrences[0].witness = None;
    finding.occurrences[0].steps.clear();
    finding.occurrences[0].detectors = vec!["quick".to_owned()];
    project.judge();
    let text = text(&project, &Files, &wide(80));
    assert!(text.starts_with("warning[RL003]: suspected data race on `self.closed`\n"), "{text}");
    assert!(text.contains("suspected by `quick` only, which may be wrong"), "{text}");
    assert!(!text.contains("replay"), "{text}");
    assert!(text.contains(&format!("{NOTHING} found, 1 doubtful finding in")), "{text}");
}

/// What is said if nothing was found that was looked for.
const NOTHING: &str = "no race, deadlock, stall or send to nobody";

/// What was not seen is said, however little there is to say besides.
#[test]
fn nothing_found_is_said_of_what_was_recorded() {
    let mut project = project_of(|name| name.contains("one_thread"));
    assert_eq!(project.findings, []);
    project.traces[0].unseen_pointers = 3;
    project.traces[0].unseen_places = vec!["src/lib.rs:70:9".parse().expect("a place")];
    project.traces[0].lost_events = 12;
    project.judge();
    for detail in [Detail::Quiet, Detail::Normal, Detail::Verbose] {
        let text = text(&project, &Files, &TextOptions { detail, ..wide(400) });
        let closing = text.lines().last().expect("there is a closing line");
        for words in [
            &format!("{NOTHING} found in 1 test"),
            "3 raw pointers of cells that went out of sight (first at src/lib.rs:70:9)",
            "12 events that were lost",
        ] {
            assert!(closing.contains(words), "{words}: {text}");
        }
    }
    let json = serde_json::to_value(&project).expect("it can be written");
    assert_eq!(json["capture"]["unseen_pointers"]["number"], 3);
    assert_eq!(json["capture"]["lost_events"], 12);
    let mut page = Vec::new();
    predictor::render::html::html(&mut page, &project, &Files, &[], |_| None).expect("memory");
    let page = String::from_utf8(page).expect("UTF-8");
    assert!(page.contains("Not seen: 3 raw pointers of cells"), "without scripts, too");
}
