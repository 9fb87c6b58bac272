//! What a browser would make of the page.

use std::sync::Arc;

use serde_json::Value;

use super::*;
use crate::analysis::{Detector, analyze};
use crate::predict::Options;
use crate::project::{Analysed, Collector, NoSources};

/// A name that would end a script and start another one, if anybody let it.
const EVIL: &str = "</script><script>alert(1)</script><!--\"'&";

struct One(&'static str);

impl Sources for One {
    fn read(&self, file: &str) -> Option<Arc<str>> {
        (file == "src/<b>'\".rs").then(|| Arc::from(self.0))
    }
}

fn evil_trace() -> Trace {
    let place = "@ src/<b>'\".rs";
    let text = format!("{EVIL} write {EVIL} 1 {place}:1:5\nt2 write {EVIL} 2 {place}:2:5\n");
    text.parse().unwrap()
}

fn project(trace: &Trace, sources: &impl Sources) -> Project {
    let detectors = [Detector::Mcm, Detector::Hb];
    let report = analyze(trace, EVIL, &detectors, &Options::default(), |_, _| {}).unwrap();
    let mut collector = Collector::new(None);
    collector.add(Analysed::new(trace, &report, Some(EVIL.to_owned()), &[]));
    collector.skip(EVIL.to_owned(), EVIL.to_owned());
    collector.finish(sources)
}

fn page(project: &Project, sources: &impl Sources, load: fn(&str) -> Option<Trace>) -> String {
    let mut out = Vec::new();
    html(&mut out, project, sources, &[], load).unwrap();
    String::from_utf8(out).unwrap()
}

/// The elements of a page as a browser finds them: names, with a slash at their ends; what a script
/// or a style says is text until its end. Panics where tags do not fit together.
fn elements(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name: String = tag.split_whitespace().next().unwrap().to_lowercase();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "<{tag}>");
        } else if !["!doctype", "meta", "input"].contains(&&*name) {
            if ["script", "style"].contains(&&*name) {
                let end = rest.to_lowercase().find(&format!("</{name}")).expect("it ends");
                rest = &rest[end..];
            }
            open.push(name.clone());
        }
        found.push(name);
    }
    assert!(open.is_empty(), "{open:?}");
    found
}

/// The data blocks of a page, by their ids.
fn blocks(page: &str) -> Vec<(String, Value)> {
    let parts = page.split("<script type=\"application/json\" id=\"").skip(1);
    let blocks = parts.map(|part| {
        let (id, rest) = part.split_once("\">").unwrap();
        let (json, _) = rest.split_once("</script>").unwrap();
        assert!(!json.contains('<'), "{id}");
        (id.to_owned(), serde_json::from_str(json).unwrap())
    });
    blocks.collect()
}

#[test]
fn names_stay_text_whatever_they_are() {
    let trace = evil_trace();
    let sources = One("let a = \"</script>\";\nlet b = 1;\n");
    let project = project(&trace, &sources);
    assert_eq!(project.findings.len(), 1);
    let page = page(&project, &sources, |_| Some(evil_trace()));
    let scripts = elements(&page).iter().filter(|name| *name == "script").count();
    let blocks = blocks(&page);
    let ids: Vec<&str> = blocks.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["witness-1", "timeline-0", "report"]);
    assert_eq!(scripts, blocks.len() + 1, "the blocks, and the page's own");
    let report = &blocks[2].1;
    assert_eq!(report["project"], project.to_value());
    assert_eq!(report["files"]["src/<b>'\".rs"]["1"], "let a = \"</script>\";");
    assert_eq!(blocks[1].1["threads"][0], EVIL);
    // What is there for browsers without scripts is markup.
    assert!(page.contains("src/&lt;b&gt;&#39;&quot;.rs:1:5"));
}

#[test]
fn a_page_without_findings_is_a_page() {
    let trace: Trace = "t1 write x 1\n".parse().unwrap();
    let project = project(&trace, &NoSources);
    let page = page(&project, &NoSources, |_| panic!("there is nothing to draw"));
    elements(&page);
    assert_eq!(blocks(&page).len(), 1);
    assert!(page.contains("<title>racelog: 0 findings</title>"));
}

#[test]
fn a_trace_that_is_gone_or_another_one_has_no_timeline() {
    let project = project(&evil_trace(), &NoSources);
    for load in [|_: &str| None, |_: &str| "t1 write x 1\n".parse().ok()] {
        let blocks = blocks(&page(&project, &NoSources, load));
        assert_eq!(blocks.len(), 1);
        assert_eq!(blocks[0].1["findings"][0].get("timeline"), None);
    }
}

#[test]
fn the_page_asks_for_nothing_and_makes_no_markup_of_data() {
    for script in SCRIPTS {
        for word in [
            "</script",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "eval(",
            "http:",
            "https:",
            "fetch(",
        ] {
            assert!(!script.contains(word), "{word}");
        }
    }
    for style in STYLE {
        assert!(!style.contains("url(") && !style.contains("@import") && !style.contains("</"));
    }
    assert!(!BODY.contains("src=") && !BODY.contains("http"));
}

#[test]
fn the_more_there_is_the_less_of_each() {
    assert_eq!(limits(1, 3, 1_000_000), Limits { whole: 100_000, around: 1_000, witness: 100_000 });
    assert_eq!(limits(1, 1_000, 1_000_000), Limits { whole: 100_000, around: 250, witness: 2_000 });
    assert_eq!(limits(100, 10_000, 1_000_000).whole, 10_000);
    assert_eq!(limits(1, 4_000, 12_000).witness, 50);
    assert_eq!(limits(1, 1_000_000, 12_000).witness, 20);
}
