//! Real crates, built against the mirrors of std by changing imports only: their own tests pass
//! while they are recorded, and what is recorded is a valid trace. See `tests/crates/README.md`.

use std::fs;
use std::path::Path;
use std::process::Command;

use predictor::trace::format::Source;
use predictor::trace::{Trace, validate};

use crate::support::repository;

/// Runs a crate's tests, recorded, and checks every trace that they write.
fn check(name: &str) {
    let traces = tempfile::tempdir().expect("a folder for the traces");
    let output = Command::new(env!("CARGO"))
        .args(["test", "--tests", "--quiet", "--target-dir"])
        .arg(repository().join("target/crates"))
        .current_dir(repository().join("tests/crates").join(name))
        .env("RACELOG", "1")
        .env("RACELOG_DIR", traces.path())
        // Some tests record millions of events; what is cut off must be valid, too.
        .env("RACELOG_MAX_BYTES", "10m")
        // They also spin, and must not take each other's processors.
        .env("RUST_TEST_THREADS", "1")
        .output()
        .expect("cargo runs");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{name}:\n{}", String::from_utf8_lossy(&said));
    let mut events = 0;
    for entry in fs::read_dir(traces.path()).expect("the folder is there") {
        events += events_of(&entry.expect("the folder can be read").path());
    }
    assert!(events > 0, "{name}: nothing was recorded");
}

/// How many events a trace has; it must be valid and have some.
fn events_of(path: &Path) -> usize {
    let shown = path.display();
    let mut source = Source::open(path, None).unwrap_or_else(|error| panic!("{shown}: {error}"));
    let trace = Trace::load(&mut source, |_| {}).unwrap_or_else(|error| panic!("{shown}: {error}"));
    validate(&trace).unwrap_or_else(|error| panic!("{shown}: {error}"));
    let events = trace.events().count();
    assert!(events > 0, "{shown}: a trace without events");
    events
}

#[test]
fn tests_of_real_crates_pass_and_their_traces_are_valid() {
    // One after the other: they share a target folder.
    for name in ["easy-parallel", "parking", "oneshot", "concurrent-queue"] {
        check(name);
    }
}
