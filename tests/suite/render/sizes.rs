//! Reports of traces with very many findings: they stay within a few times the size of the trace,
//! and say what they leave out.

use predictor::analysis::{Detector, analyze};
use predictor::predict::Options;
use predictor::project::{Analysed, Collector, NoSources, Project};
use predictor::render::html::html;
use predictor::render::to_sarif;
use predictor::report::Report;
use predictor::trace::Trace;
use serde_json::Value;

use super::schema::validate;

/// At how many places each of the two threads accesses the variable: every pair of them is a
/// finding.
const PLACES: usize = 40;

/// How many operations lie between two of these accesses.
const BETWEEN: usize = 48;

/// A trace in which every access of one thread races with every access of the other; in between all
/// threads use variables of their own, in turns, under locks of their own.
fn trace() -> String {
    let mut text = String::from("main fork a\nmain fork b\nmain fork c\n");
    for place in 1..=PLACES {
        for (thread, file) in [("a", "src/first.rs"), ("b", "src/second.rs")] {
            text += &format!("{thread} write shared {place} @ {file}:{place}:9\n");
        }
        for round in 0..BETWEEN {
            for thread in ["a", "b", "c"] {
                let at = format!("@ src/own.rs:{round}:13");
                text += &match round % 4 {
                    0 => format!("{thread} acquire lock_of_{thread} {at}\n"),
                    1 => format!("{thread} write own_of_{thread} {place} {at}\n"),
                    2 => format!("{thread} read own_of_{thread} {place} {at}\n"),
                    _ => format!("{thread} release lock_of_{thread} {at}\n"),
                };
            }
        }
    }
    text
}

fn analysed(trace: &Trace) -> (Report, Project) {
    let detectors = [Detector::Mcm, Detector::Hb];
    let report = analyze(trace, "many.rtxt", &detectors, &Options::default(), |_, _| ()).unwrap();
    let mut collector = Collector::new(None);
    collector.add(Analysed::new(trace, &report, None, &[]));
    let mut project = collector.finish(&NoSources);
    super::settle_times(&mut project);
    (report, project)
}

#[test]
fn reports_are_no_larger_than_a_few_times_their_trace() {
    let text = trace();
    let loaded: Trace = text.parse().expect("a trace");
    let (report, project) = analysed(&loaded);
    assert_eq!((report.findings.len(), project.findings.len()), (PLACES * PLACES, PLACES * PLACES));
    let (one, all) = (report.to_json(), project.to_json());
    validate("racelog-trace-2.json", &one);
    validate("racelog-project-2.json", &all);
    let sarif = to_sarif(&project, &NoSources);
    let mut page = Vec::new();
    let load = |_: &str| text.parse().ok();
    html(&mut page, &project, &NoSources, &[], load).expect("memory");
    let times = |bytes: usize| bytes as f64 / text.len() as f64;
    let sizes = [one.len(), all.len(), sarif.len(), page.len()].map(times);
    println!("{} bytes, {} events, times {sizes:?}", text.len(), loaded.len());
    let [one, all, _, html] = sizes;
    assert!(one < 3.5 && all < 4.5, "JSON: {one} and {all} times the trace");
    // A log of a megabyte is never too large, nor is one that is a few times its trace.
    assert!(sarif.len() < (5 * text.len()).max(1 << 20) + (1 << 16), "SARIF: {}", sarif.len());
    assert!(html < 8.0, "HTML: {html} times the trace");
    // The witnesses of all are in the page's data; what is not drawn says so.
    let page = String::from_utf8(page).expect("UTF-8");
    let drawn = page.matches("<script type=\"application/json\" id=\"witness-").count();
    assert_eq!(page.matches("\"undrawn\":true").count(), PLACES * PLACES - drawn);
    // Every finding is in the JSON with a witness that the trace has.
    let read = Project::from_json(&project.to_json()).expect("it is read");
    assert_eq!(read, project);
    for occurrence in read.findings.iter().flat_map(|finding| &finding.occurrences) {
        let witness = occurrence.witness.as_ref().expect("it was predicted");
        let events = witness.unpack(&loaded).expect("it is of this trace");
        assert_eq!(events.len() as u64, occurrence.left_out + occurrence.steps.len() as u64);
        assert!(
            occurrence.parts.iter().all(|part| events.iter().any(|e| e.number() == part.event))
        );
    }
    // What SARIF leaves out is counted there.
    let sarif: Value = super::sarif::validate(&sarif);
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().expect("a list").len();
    let said = run["invocations"][0]["toolExecutionNotifications"].to_string();
    let left_out = PLACES * PLACES - results;
    assert!(left_out == 0 || said.contains(&format!("{left_out} of them are left out")), "{said}");
    assert!(said.contains("without their schedules"), "{said}");
}
