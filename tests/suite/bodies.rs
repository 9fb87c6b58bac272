//! What `#[racelog::instrument]` makes of function bodies: those in `tests/bodies`, and random
//! ones.

mod following;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::SystemTime;

use predictor::trace::format::Source;
use predictor::trace::{Op, Trace};
use racelog_tests::random_body::Bodies;
use tempfile::TempDir;

use crate::support::{repository, run};

/// `cargo` with the bodies.
fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.arg(command).args(["--quiet", "--target-dir"]).arg(target());
    cargo.current_dir(repository().join("tests/bodies"));
    cargo.env_remove("RACELOG").env_remove("CARGO_TARGET_DIR");
    cargo
}

fn target() -> PathBuf {
    repository().join("target/bodies")
}

/// Many bodies, plain and instrumented, in one crate: the attribute stands on a module, so that
/// each is one of its items.
#[test]
fn random_bodies_decide_nothing_without_a_branch_and_do_what_they_did() {
    let sources = TempDir::new().unwrap();
    let mut bodies = Bodies::new(14);
    let names: Vec<String> = (0..60).map(|number| format!("body{number}")).collect();
    let functions: String = names.iter().map(|name| bodies.function(name)).collect();
    let all = format!("pub const ALL: &[super::Body] = &[{}];\n", names.join(", "));
    let plain = format!("{functions}{all}");
    let instrumented = format!(
        "#[racelog::instrument]\nmod items {{\nuse super::super::*;\n{functions}}}\n\
         use items::*;\n{all}"
    );
    fs::write(sources.path().join("plain.rs"), plain).unwrap();
    fs::write(sources.path().join("instrumented.rs"), instrumented).unwrap();
    let traces = TempDir::new().unwrap();
    let mut command = cargo("run");
    command.args(["--bin", "generated", "--features", "generated"]);
    command.env("RACELOG_BODIES", sources.path());
    command.env("RACELOG", "1").env("RACELOG_DIR", traces.path());
    let (code, said, errors) = run(&mut command, b"");
    if code != 0 {
        let kept = std::env::temp_dir().join("racelog-bodies.rs");
        fs::copy(sources.path().join("instrumented.rs"), &kept).unwrap();
        panic!("{errors}\nthe bodies are in {}", kept.display());
    }
    let decisions: u32 = said.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(said.starts_with("60 bodies"), "{said}");
    assert!(decisions > 3_000, "{said}");
    let entry = fs::read_dir(traces.path()).unwrap().next().expect("a trace").unwrap();
    let trace = Trace::load(&mut Source::open(&entry.path(), None).unwrap(), |_| {});
    let compared = following::compare(&trace.unwrap_or_else(|error| panic!("{error}")));
    let following::Compared { pairs, whole, computed } = compared;
    assert!(pairs == 24_000 && whole > 60 && computed > 8_000, "{pairs} {whole} {computed}");
}

/// What clippy says of the bodies, with all that it may find pedantic.
fn lints(features: &str) -> BTreeSet<String> {
    let mut command = cargo("clippy");
    command.args(["--lib", "--features", features, "--message-format", "short"]);
    command.args(["--", "-W", "clippy::pedantic"]);
    // What was checked before is not checked again, so touch it.
    let library = repository().join("tests/bodies/src/lib.rs");
    fs::File::open(&library).unwrap().set_modified(SystemTime::now()).unwrap();
    let (code, _, said) = run(&mut command, b"");
    assert_eq!(code, 0, "{said}");
    said.lines().filter(|line| line.starts_with("src/")).map(str::to_owned).collect()
}

#[test]
fn instrumented_bodies_have_no_warnings_that_plain_ones_do_not_have() {
    let (plain, instrumented) = (lints(""), lints("instrumented"));
    assert!(!plain.is_empty(), "some bodies are there to be warned of");
    let more: Vec<&String> = instrumented.difference(&plain).collect();
    assert!(more.is_empty(), "{more:#?}");
}

/// What the bodies do.
fn outcome(features: &str, recorded: bool) -> String {
    let traces = TempDir::new().unwrap();
    let mut command = cargo("run");
    command.args(["--bin", "outcome", "--features", features]);
    if recorded {
        command.env("RACELOG", "1").env("RACELOG_DIR", traces.path());
    }
    let (code, said, errors) = run(&mut command, b"");
    assert_eq!(code, 0, "{errors}");
    for entry in fs::read_dir(traces.path()).unwrap() {
        let mut source = Source::open(&entry.unwrap().path(), None).unwrap();
        let mut items = 0;
        while source.next_item().unwrap_or_else(|error| panic!("{error}")).is_some() {
            items += 1;
        }
        assert!(items > 100, "{items}");
    }
    said
}

#[test]
fn instrumented_bodies_do_what_plain_ones_do() {
    let plain = outcome("", false);
    assert!(plain.lines().count() > 20, "{plain}");
    for recorded in [false, true] {
        assert_eq!(outcome("instrumented", recorded), plain, "recorded: {recorded}");
    }
}

#[test]
fn bodies_of_all_editions_compile() {
    for folder in ["tests/bodies", "tests/bodies/edition-2021", "tests/bodies/edition-2015"] {
        let mut command = cargo("check");
        command.current_dir(repository().join(folder));
        if folder == "tests/bodies" {
            command.args(["--features", "instrumented"]);
        }
        let (code, _, said) = run(&mut command, b"");
        assert_eq!(code, 0, "{folder}: {said}");
    }
}

/// A line and a column.
type Place = (usize, usize);

/// The places in a program that its reads and writes are recorded at.
fn places_of_accesses(program: &str) -> BTreeSet<Place> {
    let traces = TempDir::new().unwrap();
    let mut command = cargo("run");
    command.args(["--bin", program, "--features", "instrumented"]);
    command.env("RACELOG", "1").env("RACELOG_DIR", traces.path());
    let (code, _, errors) = run(&mut command, b"");
    assert_eq!(code, 0, "{errors}");
    let entry = fs::read_dir(traces.path()).unwrap().next().expect("a trace").unwrap();
    let trace = Trace::load(&mut Source::open(&entry.path(), None).unwrap(), |_| {}).unwrap();
    let mut printer = trace.printer();
    let accesses = trace.events().filter(|event| {
        let op = trace.op(*event);
        let is_atomic = matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. });
        is_atomic || matches!(op, Op::Read { .. } | Op::Write { .. })
    });
    let mut places = BTreeSet::new();
    for event in accesses {
        let location = printer.location(event).expect("accesses have locations");
        let mut numbers = location.split(':').skip(1).map(|number| number.parse().unwrap());
        places.insert((numbers.next().unwrap(), numbers.next().unwrap()));
    }
    places
}

/// The places that comments at the ends of lines name, `// at: text, text`, by what stands there.
fn places_named(source: &str) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for (line, number) in source.lines().zip(1..) {
        let Some((code, named)) = line.split_once("// at: ") else { continue };
        let mut from = 0;
        for text in named.split(", ") {
            let at = from + code[from..].find(text).expect("the text stands in the line");
            places.insert((number, at + 1));
            from = at + 1;
        }
    }
    places
}

#[test]
fn every_access_is_recorded_at_its_own_line_and_column() {
    let source = repository().join("tests/bodies/src/bin/locations.rs");
    let source = fs::read_to_string(source).unwrap();
    let named = places_named(&source);
    assert!(named.len() >= 70, "{named:?}");
    assert_eq!(places_of_accesses("locations"), named);
}
