//! Findings of threads that wait, in all formats, and right twins that stay silent.

use std::sync::Arc;

use predictor::analysis::{Detector, analyze};
use predictor::finding::{Kind, Level, Role, WaitKind};
use predictor::predict::Options;
use predictor::project::{Analysed, Collector, Project, Sources, Suppression};
use predictor::render::{TextOptions, to_github, to_junit, to_sarif, write_text};
use predictor::report;
use predictor::trace::Trace;

/// The program of the traces.
struct Bank;

const BANK: &str = "\
fn work() {
    thread::spawn(|| {
        let _accounts = accounts.lock().unwrap();
        let _log = log.lock().unwrap();
    });
    thread::spawn(|| {
        let _log = log.lock().unwrap();
        let _accounts = accounts.lock().unwrap();
    });
    let _ = tx.send(1);
    drop(rx);
}
";

impl Sources for Bank {
    fn read(&self, file: &str) -> Option<Arc<str>> {
        (file == "src/bank.rs").then(|| BANK.into())
    }
}

/// Two threads that take two locks in two orders.
const ABBA: &str = "\
t0 fork t1 @ src/bank.rs:2:5
t0 fork t2 @ src/bank.rs:6:5
t1 acquire l1 @ src/bank.rs:3:34
t1 acquire l2 @ src/bank.rs:4:24
t1 release l2 @ src/bank.rs:5:5
t1 release l1 @ src/bank.rs:5:5
t2 acquire l2 @ src/bank.rs:7:24
t2 acquire l1 @ src/bank.rs:8:34
t2 release l1 @ src/bank.rs:9:5
t2 release l2 @ src/bank.rs:9:5
t0 join t1
t0 join t2
";

/// The same in a run that was given up when it had happened.
const HANG: &str = "\
#racelog end cut-off
t0 fork t1 @ src/bank.rs:2:5
t0 fork t2 @ src/bank.rs:6:5
t1 acquire l1 @ src/bank.rs:3:34
t2 acquire l2 @ src/bank.rs:7:24
t1 request acquire l2 @ src/bank.rs:4:24
t2 request acquire l1 @ src/bank.rs:8:34
t0 request join t1
";

/// The second thread looks whether the first is done.
fn told_apart() -> String {
    let text =
        ABBA.replace("t2 acquire l2", "t1 store done 1\nt2 load done 1\nt2 branch\nt2 acquire l2");
    assert_ne!(text, ABBA);
    text
}

/// A send that can find all receivers dropped.
const SEND: &str = "\
t0 fork t1
t1 send ch 1
t1 send ch 2 @ src/bank.rs:10:16
t0 recv ch 1
t0 rclose ch @ src/bank.rs:11:5
t0 join t1
";

fn report(text: &str, detectors: &[Detector]) -> (Trace, report::Report) {
    let trace: Trace = text.parse().expect("a valid trace");
    let report = analyze(&trace, "t.rlog", detectors, &Options::default(), |_, _| ());
    (trace, report.expect("one solver"))
}

fn project(text: &str, detectors: &[Detector]) -> Project {
    let (trace, report) = report(text, detectors);
    let mut collector = Collector::new(None);
    collector.add(Analysed::new(&trace, &report, None, &[]));
    let project = collector.finish(&Bank);
    let again = Project::from_json(&project.to_json()).expect("a report that was written");
    assert_eq!(again, project, "all that is said of it comes back");
    project
}

fn text_of(project: &Project) -> String {
    let mut out = Vec::new();
    write_text(&mut out, project, &Bank, &TextOptions::default()).expect("it can be written");
    String::from_utf8(out).expect("it is text")
}

const USUAL: [Detector; 2] = [Detector::Mcm, Detector::Hb];
const CIRCLE: &str = "`t1` holds `accounts`, taken at src/bank.rs:3:34, and waits for `log`; \
                      `t2` holds `log`, taken at src/bank.rs:7:24, and waits for `accounts`";

/// Without the breaks of lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_deadlock_says_who_holds_what_and_since_where() {
    let project = project(ABBA, &USUAL);
    let [finding] = &project.findings[..] else { panic!("one finding: {project:#?}") };
    assert_eq!((&finding.kind, finding.level), (&Kind::Deadlock, Level::Predicted));
    let parts = &finding.occurrences[0].parts;
    let roles: Vec<(&Role, u64)> = parts.iter().map(|part| (&part.role, part.event)).collect();
    let too = (&Role::WaitsToo, 11);
    let taken = [(&Role::Taken, 3), (&Role::Taken, 7)];
    assert_eq!(roles, [(&Role::Next, 4), (&Role::Next, 8), taken[0], taken[1], too]);
    let waits = parts[0].waits.as_ref().expect("it waits");
    assert_eq!((&waits.what, &waits.by[..]), (&WaitKind::Lock, &["t2".to_owned()][..]));
    let text = text_of(&project);
    for words in [
        "^^^^^^^^^^ thread `t1` waits for `log`, which `t2` holds",
        "^^^^^^^^^^^^^^^ thread `t2` waits for `accounts`, which `t1` holds",
        "------------- thread `t1` takes `accounts`",
        "-------- thread `t2` takes `log`",
        "help: take `accounts` before `log` everywhere",
        "racelog: 1 deadlock in ",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(flat(&text).contains(&format!("circle: {CIRCLE}")), "{text}");
}

#[test]
fn machines_are_told_the_same() {
    let project = project(ABBA, &USUAL);
    let junit = to_junit(&project, &Bank);
    assert!(junit.contains(&format!("circle: {CIRCLE}")), "{junit}");
    assert!(junit.contains("at src/bank.rs:4:24 thread `t1` waits for `log`"), "{junit}");
    let github = to_github(&project, &Bank);
    assert!(github.contains("title=RL010%3A deadlock"), "{github}");
    assert!(github.contains(&format!("circle: {CIRCLE}")), "{github}");
    let sarif = to_sarif(&project, &Bank);
    for words in ["\"ruleId\":\"RL010\"", CIRCLE, "(waits)", "thread `t1` takes `accounts`"] {
        assert!(sarif.replace("\": ", "\":").contains(words), "{words}\n{sarif}");
    }
}

#[test]
fn a_deadlock_is_suppressed_where_a_lock_is_taken() {
    let mut project = project(ABBA, &USUAL);
    let at = |place: &str| Suppression {
        kind: Some(Kind::Deadlock),
        place: Some(place.parse().expect("a place")),
        variable: None,
        reason: "only one of them runs".to_owned(),
        by: "here".to_owned(),
    };
    project.suppress(&[at("src/bank.rs:6:5")], &Bank);
    assert_eq!(project.open_findings().count(), 1, "nothing of it stands there");
    project.suppress(&[at("src/bank.rs:7:24")], &Bank);
    assert_eq!(project.open_findings().count(), 0);
}

#[test]
fn a_hang_that_happened_is_proven() {
    let project = project(HANG, &USUAL);
    let [finding] = &project.findings[..] else { panic!("one finding: {project:#?}") };
    assert_eq!((&finding.kind, finding.level), (&Kind::Hang, Level::Proven));
    let text = text_of(&project);
    assert!(text.starts_with("error[RL013]: hang in the recorded run\n"), "{text}");
    assert!(text.contains("it happened in the recorded run"), "{text}");
    assert!(flat(&text).contains(&format!("circle: {CIRCLE}")), "{text}");
    // A run that is merely ended early is none.
    let early = HANG.replace("t2 request acquire l1 @ src/bank.rs:8:34\n", "");
    assert_eq!(self::project(&early, &USUAL).findings, []);
}

#[test]
fn suspects_are_listed_if_they_are_asked_for() {
    let apart = told_apart();
    let usual = project(&apart, &USUAL);
    assert!(usual.findings.is_empty(), "{usual:#?}");
    assert!(
        text_of(&usual).starts_with("racelog: no race, deadlock, stall or send to nobody found")
    );
    let project = project(&apart, &[Detector::Mcm, Detector::Hb, Detector::LockOrder]);
    let [finding] = &project.findings[..] else { panic!("one finding: {project:#?}") };
    assert_eq!((&finding.kind, finding.level), (&Kind::SuspectedDeadlock, Level::Doubtful));
    let text = text_of(&project);
    assert!(text.starts_with("warning[RL014]: possible deadlock, not proven\n"), "{text}");
    assert!(flat(&text).contains(&format!("circle: {CIRCLE}")), "{text}");
    assert!(flat(&text).contains("help: look what keeps these threads apart"), "{text}");
    // What is proven is no suspect, and `spd` proves it, too.
    let all = [Detector::Mcm, Detector::Spd, Detector::LockOrder];
    let (_, report) = report(ABBA, &all);
    let [finding] = &report.findings[..] else { panic!("one finding") };
    assert_eq!(finding.kind, Kind::Deadlock);
    assert_eq!(finding.occurrences[0].detectors, ["mcm", "spd", "lock-order"]);
}

#[test]
fn a_send_to_nobody_says_where_the_receivers_were_dropped() {
    let project = project(SEND, &USUAL);
    let [finding] = &project.findings[..] else { panic!("one finding: {project:#?}") };
    assert_eq!(finding.kind, Kind::SendToNobody);
    let text = text_of(&project);
    assert!(text.contains("^^^^^^^^^^ thread `t1` sends to `tx`"), "{text}");
    assert!(text.contains("thread `t0` drops a receiver of `tx`"), "{text}");
    // If the thread is joined first, nothing is dropped too early.
    let right = SEND.replace("t0 join t1\n", "").replace("t0 recv", "t0 join t1\nt0 recv");
    assert_eq!(self::project(&right, &USUAL).findings, []);
}

#[test]
fn joins_and_waiting_writers_have_their_own_words() {
    let join = "t0 fork t1\nt1 acquire l\nt1 release l\nt0 acquire l\nt0 join t1\nt0 release l\n";
    let text = text_of(&project(join, &USUAL));
    assert!(text.contains("thread `t0` waits for the end of `t1`"), "{text}");
    assert!(text.contains("help: give `l` back before joining `t1`"), "{text}");
    let fair = "fair l\nt0 fork t1\nt0 fork t2\nt1 racquire l\nt1 racquire l\nt1 rrelease l\n\
                t1 rrelease l\nt2 acquire l\nt2 release l\n";
    let text = text_of(&project(fair, &USUAL));
    assert!(text.contains("kept out by `t2`, which waits to write"), "{text}");
    assert!(
        flat(&text).contains("if waiting writers keep readers out, as std's do on Linux"),
        "{text}"
    );
    assert!(text.contains("help: share `l` once"), "{text}");
    // Where writers that wait keep nobody out, nothing happens.
    assert_eq!(project(&fair.replace("fair l\n", ""), &USUAL).findings, []);
}

#[test]
fn a_stall_says_which_lock_is_in_the_way_or_what_came_too_early() {
    let full = "channel a 1\nt0 send a m0\nt0 fork t1\nt0 acquire l\nt0 release l\nt0 recv a m0\n\
                t1 acquire l\nt1 send a m1\nt1 release l\nt0 recv a m1\nt0 join t1\n";
    let text = text_of(&project(full, &USUAL));
    assert!(text.starts_with("error[RL011]: threads that wait for ever\n"), "{text}");
    let help = "help: give `l` back before sending to `a`: who could help waits for that lock";
    assert!(flat(&text).contains(help), "{text}");
    // Who could help does not need the lock, so only the sender waits.
    let without = full.replace("t0 acquire l\nt0 release l\n", "");
    assert_eq!(project(&without, &USUAL).findings, []);
    let early = "t0 fork t1\nt0 fork t2\nt1 acquire l\nt1 wait c l @ src/bank.rs:3:34\n\
                 t2 acquire l\nt2 notify_one c @ src/bank.rs:7:24\nt2 release l\nt1 wake c l\n\
                 t1 release l\nt0 join t1 @ src/other.rs:8:1\n";
    let project = project(early, &USUAL);
    let [finding] = &project.findings[..] else { panic!("one finding: {project:#?}") };
    let roles: Vec<&Role> = finding.occurrences[0].parts.iter().map(|part| &part.role).collect();
    assert_eq!(roles, [&Role::Next, &Role::TooEarly, &Role::WaitsToo]);
    let text = text_of(&project);
    assert!(text.contains("thread `t2` notifies `log` too early, before the wait"), "{text}");
    let too = "note: at src/other.rs:8:1 thread `t0` waits for the end of `t1`, too";
    assert!(text.contains(too), "{text}");
}
