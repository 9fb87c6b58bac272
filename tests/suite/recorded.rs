//! The tests of `behaviour` again, recorded: they pass, and what is recorded is possible.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::Command;

use predictor::trace::format::Source;
use predictor::trace::{Op, Trace};
use racelog::trace::{End, Object};

/// The tests with `#[racelog::test]`, with how many threads each has.
const RECORDED: [(&str, usize); 8] = [
    ("panics", 1),
    ("returns_a_result", 9),
    ("side_by_side::left", 4),
    ("side_by_side::right", 4),
    ("first::same_name", 3),
    ("second::same_name", 5),
    ("is_an_ordinary_function", 2),
    (STARTS_A_THREAD_OF_STD, 1),
];

/// The one of them that starts a thread that nobody sees.
const STARTS_A_THREAD_OF_STD: &str = "starts_a_thread_of_std";

/// Runs the behaviour tests in a process that is recorded, and loads the traces that it leaves.
/// Loading replays them: an event that could not have happened where it stands is an error.
fn run(folder: &Path, jobs: &str) -> BTreeMap<String, Trace> {
    // Only the behaviour tests run in there, so this test does not start itself again.
    let output = Command::new(env::current_exe().expect("the tests have a path"))
        .args(["behaviour::", "--test-threads", jobs])
        .env("RACELOG", "1")
        .env("RACELOG_DIR", folder)
        .env_remove("RACELOG_MAX_BYTES")
        .output()
        .expect("the tests can be run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains("running 0 tests"), "{text}");
    let mut traces = BTreeMap::new();
    for entry in folder.read_dir().expect("the folder is there") {
        let path = entry.expect("the folder can be listed").path();
        let mut source = Source::open(&path, None).expect("the trace opens");
        let trace = Trace::load(&mut source, |_| {});
        let trace = trace.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        traces.insert(name, trace);
    }
    traces
}

fn check(traces: &BTreeMap<String, Trace>) {
    let events: usize = traces.values().map(Trace::len).sum();
    assert!(events > 500, "{events} events");
    // One for each test that has its own, and one for all others.
    assert_eq!(traces.len(), RECORDED.len() + 1, "{:?}", traces.keys());
    for (name, threads) in RECORDED {
        let test = format!("suite::behaviour::attribute::{name}");
        let file = format!("racelog-tests.{}.rlog", test.replace("::", "."));
        let trace = traces.get(&file).unwrap_or_else(|| panic!("there is no {file}"));
        assert_eq!(trace.metadata().test, Some(test), "{file}");
        assert_eq!(trace.end(), End::Clean, "{file}");
        check_threads(trace, threads, &file);
        if name == STARTS_A_THREAD_OF_STD {
            // While other tests run nobody knows whose it is; then the trace says so.
            let found = trace.foreign_threads().count() + trace.unattributed().len();
            assert_eq!(found, 1, "{file}");
        }
    }
    let process = traces.iter().find(|(_, trace)| trace.metadata().test.is_none());
    let (file, process) = process.expect("the process has a trace of its own");
    assert_eq!(process.end(), End::Clean, "{file}");
    assert!(process.thread_count() > 50, "{file}");
}

/// One thread runs the test; all others are forked by one of the trace, or foreign.
fn check_threads(trace: &Trace, threads: usize, file: &str) {
    let own: Vec<_> = trace.threads().filter(|&t| !trace.is_foreign(t)).collect();
    assert_eq!(own.len(), threads, "{file}");
    let roots: Vec<_> = own.into_iter().filter(|&t| trace.fork_of(t).is_none()).collect();
    let [root] = roots[..] else { panic!("{file}: {} roots", roots.len()) };
    assert_eq!(trace.printer().name(Object::Thread(root)), "main", "{file}");
    let forks = trace.events().filter(|&event| matches!(trace.op(event), Op::Fork(_)));
    assert_eq!(forks.count(), threads - 1, "{file}");
}

#[test]
fn behaviour_in_parallel() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    check(&run(folder.path(), "4"));
}

#[test]
fn behaviour_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    check(&run(folder.path(), "1"));
}
