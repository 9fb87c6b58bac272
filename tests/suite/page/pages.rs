//! Pages to be looked at.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use predictor::analysis::{Detector, analyze};
use predictor::finding::{Finding, PackedWitness, Place, Suppressed};
use predictor::predict::Options;
use predictor::project::{Analysed, Collector, NoSources, Project, Sources};
use predictor::render::html::html;
use predictor::trace::Trace;

use crate::render::replay;

/// A name that would run as a script, if anybody made markup of it.
pub(super) const EVIL: &str = "</script><img/src=x/onerror=window.evil=1>";

/// Three races on three variables, one of them in two traces; one needs another order.
pub(super) fn small_trace() -> Trace {
    let place = |line: u32| format!("@ src/shop.rs:{line}:9");
    let text = format!(
        "t0 fork t1 {}\nt0 fork t2 {}\nt1 write stock 4 {}\nt1 acquire lock {}\nt1 release lock {}\n\
         t2 acquire lock {}\nt2 release lock {}\nt2 read stock 4 {}\n\
         t1 write {EVIL} 1 {}\nt2 write {EVIL} 2 {}\n\
         t1 write last 1 {}\nt0 read last 1 {}\n",
        place(1),
        place(2),
        place(5),
        place(6),
        place(7),
        place(10),
        place(11),
        place(12),
        place(9),
        place(13),
        place(15),
        place(17)
    );
    text.parse().unwrap()
}

/// The end of that name, as far as a drawing has it.
pub(super) const EVIL_END: &str = "…ror=window.evil=1>)";

/// Two threads that can wait for each other, one of them for a lock with an evil name.
pub(super) fn deadlock_trace() -> Trace {
    let place = |line: u32| format!("@ src/shop.rs:{line}:9");
    let at = [1, 2, 3, 4, 5, 5, 7, 8, 9, 9, 10].map(place);
    let [a, b, c, d, e, f, g, h, i, j, k] = &at;
    let text = format!(
        "t0 fork t1 {a}\nt0 fork t2 {b}\nt1 acquire l1 {c}\nt1 acquire {EVIL} {d}\n\
         t1 release {EVIL} {e}\nt1 release l1 {f}\nt2 acquire {EVIL} {g}\nt2 acquire l1 {h}\n\
         t2 release l1 {i}\nt2 release {EVIL} {j}\nt0 join t1 {k}\n"
    );
    text.parse().unwrap()
}

/// The deadlock of that trace.
pub(super) fn deadlock_project() -> Project {
    let trace = deadlock_trace();
    let detectors = [Detector::Mcm];
    let report = analyze(&trace, "one.rlog", &detectors, &Options::default(), |_, _| {}).unwrap();
    let mut collector = Collector::new(None);
    collector.add(Analysed::new(&trace, &report, None, &[]));
    collector.finish(&NoSources)
}

struct Shop;

impl Sources for Shop {
    fn read(&self, file: &str) -> Option<Arc<str>> {
        let lines = (1..=30).map(|line| format!("    let line = {line}; // <b>&amp;</b>\n"));
        (file == "src/shop.rs").then(|| Arc::from(lines.collect::<String>()))
    }
}

/// The findings of two traces of the same program; one replayed, one suppressed.
pub(super) fn small_project() -> Project {
    let mut collector = Collector::new(None);
    for name in ["first.rlog", EVIL] {
        let trace = small_trace();
        let detectors = [Detector::Mcm, Detector::Hb];
        let report = analyze(&trace, name, &detectors, &Options::default(), |_, _| {}).unwrap();
        collector.add(Analysed::new(&trace, &report, None, &[]));
    }
    let mut project = collector.finish(&Shop);
    let [first, second, ..] = &mut project.findings[..] else { panic!("there are several") };
    let ends = ["then nothing", "then panic sold out"];
    let ends = ends.map(|end| format!("result confirmed\n{end}\n"));
    first.occurrences[0].replay = Some(replay(ends.each_ref().map(String::as_str)));
    second.suppressed = Some(Suppressed { reason: EVIL.to_owned(), by: "racelog.toml".to_owned() });
    project
}

/// The same finding many times, at places and in events of its own.
pub(super) fn large_project(trace: &Trace, findings: u64) -> Project {
    let mut project = small_project();
    let model = project.findings[0].clone();
    project.traces.truncate(1);
    project.traces[0].name = "large.rlog".to_owned();
    project.traces[0].events = trace.len() as u64;
    let finding = |number: u64| {
        let mut finding: Finding = model.clone();
        let at = 200 + number * (trace.len() as u64 - 400) / findings;
        let line = number as u32 + 1;
        finding.number = number as u32 + 1;
        finding.fingerprint = format!("{number:016x}");
        finding.occurrences.truncate(1);
        let place = Place { file: "src/large.rs".to_owned(), line, column: 1 };
        let occurrence = &mut finding.occurrences[0];
        occurrence.parts[0].source.place = Some(place);
        occurrence.trace = "large.rlog".to_owned();
        occurrence.parts[0].event = at;
        occurrence.parts[1].event = at + 1;
        occurrence.witness = Some(PackedWitness::pack(trace, trace.events().take(at as usize + 1)));
        finding
    };
    project.findings = (0..findings).map(finding).collect();
    project
}

/// Eight threads that write, read and lock, in turns.
pub(super) fn large_trace(events: u64) -> Trace {
    let mut text = String::new();
    for round in 0..events / 4 {
        let (thread, var) = (round % 8, round % 64);
        text.push_str(&format!("t{thread} acquire l @ src/large.rs:{}:1\n", round % 500 + 1));
        text.push_str(&format!("t{thread} write x{var} {round}\n"));
        text.push_str(&format!("t{thread} release l\n"));
        text.push_str(&format!("t{} read x{var} {round}\n", (thread + 1) % 8));
    }
    text.parse().unwrap()
}

/// Writes a page, and says where it is.
pub(super) fn write(folder: &Path, project: &Project, load: fn() -> Trace) -> PathBuf {
    let path = folder.join("page.html");
    let mut out = BufWriter::new(File::create(&path).unwrap());
    html(&mut out, project, &Shop, &[], |_| Some(load())).unwrap();
    out.flush().unwrap();
    path
}
