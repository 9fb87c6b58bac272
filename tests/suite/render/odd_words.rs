//! Names are whatever a program, a file system or a person comes up with: none breaks a format.

use predictor::finding::{Place, Reason};
use predictor::project::{NoSources, Project, Sources};
use predictor::render::{TextOptions, to_github, to_junit, to_sarif, write_text};
use predictor::replay::Aftermath;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Files, full_project, github, junit, sarif};

/// What means something somewhere.
const PIECES: [&str; 36] = [
    "a",
    "Z",
    "0",
    " ",
    "  ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{feff}",
    "\u{10ffff}",
    "\u{202e}",
    "é",
    "日本",
    "👩‍👩‍👧",
    "<",
    ">",
    "&",
    "]]>",
    "\"",
    "'",
    "\\",
    "%",
    "%0A",
    ":",
    "::",
    ",",
    "`",
    "[x](1)",
];

fn word(random: &mut ChaCha8Rng) -> String {
    let pieces = random.random_range(0..8);
    (0..pieces).map(|_| PIECES[random.random_range(0..PIECES.len())]).collect()
}

/// All strings of a project that come from elsewhere are other ones.
fn odd_project(mut project: Project, random: &mut ChaCha8Rng) -> Project {
    for trace in &mut project.traces {
        trace.test = Some(word(random)).filter(|_| random.random());
        trace.program = Some(word(random)).filter(|_| random.random());
        trace.note = Some(word(random)).filter(|_| random.random());
    }
    for skipped in &mut project.skipped {
        (skipped.name, skipped.problem) = (word(random), word(random));
    }
    project.unused_suppressions = vec![word(random)];
    let place = |place: &mut Option<Place>, random: &mut ChaCha8Rng| {
        if let Some(known) = place {
            match random.random_range(0..5) {
                0 => known.file = word(random),
                1 => known.line = random.random_range(0..200),
                2 => known.column = random.random_range(0..200),
                3 => *place = None,
                _ => {}
            }
        }
    };
    for finding in &mut project.findings {
        finding.fingerprint = word(random);
        if let Some(suppressed) = &mut finding.suppressed {
            (suppressed.reason, suppressed.by) = (word(random), word(random));
        }
        for occurrence in &mut finding.occurrences {
            occurrence.subject.as_mut().expect("a race has one").name = word(random);
            match &mut occurrence.reason {
                Reason::OrderingTooWeak { accesses } => {
                    accesses.iter_mut().for_each(|weak| place(&mut weak.place, random));
                }
                Reason::Reordered { locks } => locks.push(word(random)),
                other => {
                    *other = Reason::Other { kind: word(random), text: word(random) };
                }
            }
            for part in &mut occurrence.parts {
                place(&mut part.source.place, random);
                part.source.operation = word(random);
                part.object = Some(word(random)).filter(|_| random.random());
                (part.thread, part.value) = (word(random), word(random));
                place(&mut part.spawned, random);
                for lock in &mut part.locks {
                    lock.name = word(random);
                    place(&mut lock.taken, random);
                }
            }
            for step in &mut occurrence.steps {
                (step.action.thread, step.action.does.operation) = (word(random), word(random));
                step.action.does.object = Some(word(random)).filter(|_| random.random());
                place(&mut step.action.place, random);
            }
            if let Some(replayed) = occurrence.replay.as_mut().and_then(|it| it.replayed.as_mut()) {
                for order in &mut replayed.orders {
                    order.first = Some(word(random));
                    order.outcome.then = Aftermath::Panic(word(random));
                    for values in &mut order.outcome.values {
                        (values.thread, values.values.read) = (word(random), Some(word(random)));
                    }
                }
            }
        }
    }
    project
}

/// Checks all formats but JUnit's, which it returns: one process can look at many files.
fn check(project: &Project, sources: &impl Sources) -> String {
    sarif::validate(&to_sarif(project, sources));
    for line in to_github(project, sources).lines() {
        let (_, message) = github::parse(line);
        assert!(!message.is_empty());
    }
    for width in [40, 90] {
        let mut text = Vec::new();
        let options = TextOptions { width, ..TextOptions::default() };
        write_text(&mut text, project, sources, &options).expect("memory");
        let text = String::from_utf8(text).expect("UTF-8");
        assert_eq!(text.chars().find(|c| c.is_control() && *c != '\n'), None, "{text}");
    }
    to_junit(project, sources)
}

#[test]
fn no_word_breaks_a_format() {
    let project = full_project();
    let mut files = Vec::new();
    for seed in 0..50 {
        let odd = odd_project(project.clone(), &mut ChaCha8Rng::seed_from_u64(seed));
        files.push(check(&odd, &Files));
        files.push(check(&odd, &NoSources));
    }
    junit::validate(&files);
}
