//! Every race that is predicted is confirmed by a replay, in both orders; and a program that depends
//! on more than its schedule is told apart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{examples, predictor, run};

/// A program, and how it is recorded.
struct Case<'a> {
    program: &'a Path,
    args: &'a [&'a str],
    /// A seed, where the run itself has to be the same every time.
    seed: Option<&'a str>,
    input: &'a [u8],
    all_pairs: bool,
}

impl<'a> Case<'a> {
    fn new(program: &'a Path, args: &'a [&'a str]) -> Self {
        Self { program, args, seed: None, input: b"", all_pairs: true }
    }

    /// Records a run; gives its trace, if it leaves one.
    fn record(&self, folder: &Path) -> Option<PathBuf> {
        let mut command = Command::new(self.program);
        command.args(self.args).env("RACELOG", "1").env("RACELOG_DIR", folder);
        command
            .env_remove("RACELOG_MAX_BYTES")
            .envs(self.seed.map(|seed| ("RACELOG_CONTROL", seed)));
        run(&mut command, self.input);
        Some(fs::read_dir(folder).ok()?.next()?.unwrap().path())
    }

    /// The races of a trace, as `replay` takes them.
    fn predict(&self, trace: &Path) -> Vec<String> {
        let mut command = predictor();
        command.args(["analyze", "--detector", "mcm", "--format", "json"]).arg(trace);
        command.args(self.all_pairs.then_some("--all-pairs"));
        let (_, out, err) = run(&mut command, b"");
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
        let findings = report["findings"].as_array().unwrap();
        findings.iter().map(|race| format!("{},{}", race["events"][0], race["events"][1])).collect()
    }

    fn replay(&self, trace: &Path, race: &str) -> (i32, Value) {
        let mut command = predictor();
        command.args(["replay", "--format", "json"]).arg(trace).arg(race);
        command.arg("--").arg(self.program).args(self.args);
        let (code, out, err) = run(&mut command, b"");
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{:?}: {err}", self.args)))
    }

    /// Confirms all races; says how many there are, and how many of them do harm.
    fn confirm(&self) -> (usize, usize) {
        let folder = TempDir::new().unwrap();
        let Some(trace) = self.record(folder.path()) else { return (0, 0) };
        let races = self.predict(&trace);
        let mut harmful = 0;
        for race in &races {
            let (code, replayed) = self.replay(&trace, race);
            let verdict = &replayed["verdict"];
            assert_eq!(code, 0, "{} {:?} {race}: {verdict}", self.program.display(), self.args);
            assert_eq!(verdict["result"], "confirmed");
            harmful += usize::from(verdict["harmful"] == true);
            for order in replayed["orders"].as_array().unwrap() {
                assert_eq!(order["outcome"]["reached"], "confirmed", "{order}");
            }
        }
        (races.len(), harmful)
    }
}

#[test]
fn every_race_of_every_example_is_confirmed() {
    let mut racy = Vec::new();
    for program in examples() {
        // Those that take an argument want a file to write.
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file.rlog");
        let (races, _) = Case::new(program, &[file.to_str().unwrap()]).confirm();
        if races > 0 {
            racy.push(program.file_stem().unwrap().to_str().unwrap());
        }
    }
    assert!(racy.contains(&"racy_counter"), "{racy:?}");
}

#[test]
fn every_race_of_the_recorded_programs_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_recorded"));
    assert_eq!(Case::new(program, &["race"]).confirm(), (1, 0));
    for args in
        [["count", "5"], ["threads", "4"], ["objects", "40"], ["panic", "3"], ["never", "3"]]
    {
        Case::new(program, &args).confirm();
    }
}

/// Eight threads that do everything, with waits that end by a time-out: where the witness needs one
/// just then, the program may go another way, and that is said.
#[test]
fn races_of_eight_threads_are_confirmed_or_time_is_to_blame() {
    let program = Path::new(env!("CARGO_BIN_EXE_recorded"));
    let (mut confirmed, mut diverged) = (0, 0);
    for seed in ["random:1", "random:2", "random:3", "random:4", "pct:5:2000:3"] {
        let case = Case::new(program, &["stress", "30"]);
        let case = Case { seed: Some(seed), all_pairs: false, ..case };
        let folder = TempDir::new().unwrap();
        let trace = case.record(folder.path()).expect("it is recorded");
        for race in case.predict(&trace) {
            let (code, replayed) = case.replay(&trace, &race);
            let verdict = &replayed["verdict"];
            if verdict["result"] == "confirmed" {
                assert_eq!(code, 0);
                confirmed += 1;
            } else {
                let expected = verdict["expected"].as_str().unwrap();
                assert!(expected.contains(" wake"), "{seed} {race}: {verdict}");
                assert_eq!((code, &verdict["result"]), (1, &Value::from("diverged")));
                diverged += 1;
            }
        }
    }
    assert!(confirmed >= 8 && diverged <= 2, "{confirmed} confirmed, {diverged} diverged");
}

#[test]
fn every_race_of_the_instrumented_programs_is_confirmed() {
    let program = Path::new(env!("CARGO_BIN_EXE_instrumented"));
    for name in ["figure1", "figure2-case1", "array-element", "edge-none", "ring-bug"] {
        assert!(Case::new(program, &[name]).confirm().0 >= 1, "{name}");
    }
    for name in ["static-bug", "spin-bug", "once-bug"] {
        assert!(Case::new(program, &[name]).confirm().0 >= 1, "{name}");
    }
}

#[test]
fn harm_is_told_where_it_follows() {
    let controlled = Path::new(env!("CARGO_BIN_EXE_controlled"));
    // The writer has to go first all the way, or the reader does not come to its access.
    let seeds = (0..50).map(|seed| format!("pct:1:1:{seed}"));
    let mut found = seeds.map(|seed| {
        let case = Case::new(controlled, &["late"]);
        Case { seed: Some(&seed), ..case }.confirm()
    });
    assert_eq!(found.find(|(races, _)| *races > 0), Some((1, 1)));
}

#[test]
fn a_race_of_a_test_is_confirmed_in_that_test() {
    let program = std::env::current_exe().unwrap();
    let args = ["controlled::replay::a_racy_test", "--exact"];
    assert_eq!(Case::new(&program, &args).confirm(), (1, 0));
}

/// Records a program, and replays its race where it must go another way.
fn diverge(args: &[&str], input: &[u8]) {
    let program = Path::new(env!("CARGO_BIN_EXE_controlled"));
    let case = Case { input, ..Case::new(program, args) };
    let folder = TempDir::new().unwrap();
    let trace = case.record(folder.path()).expect("it is recorded");
    let races = case.predict(&trace);
    assert_eq!(races.len(), 1, "{args:?}");
    let (code, replayed) = case.replay(&trace, &races[0]);
    assert_eq!(code, 1, "{replayed}");
    let verdict = &replayed["verdict"];
    assert_eq!(verdict["result"], "diverged", "{verdict}");
    let text = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
    // It takes no lock this time.
    let place = format!(" @ tests/src/bin/controlled.rs:{}", line("the ordinary way"));
    let expected = text("expected");
    assert!(expected.starts_with("0.1 acquire ") && expected.contains(&place), "{verdict}");
    assert!(text("found").starts_with("0.1 write "), "{verdict}");
    // The steps before are those of the main thread, and the thread's begin.
    let step = verdict["step"].as_u64().unwrap();
    assert!((2..10).contains(&step), "{verdict}");
}

fn line(remark: &str) -> usize {
    let source = fs::read_to_string("src/bin/controlled.rs").unwrap();
    source.lines().position(|line| line.ends_with(&format!("// {remark}"))).unwrap() + 1
}

#[test]
fn a_program_that_depends_on_its_input_diverges() {
    diverge(&["input"], b"lock\n");
}

#[test]
fn a_program_that_depends_on_the_time_diverges() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("last");
    diverge(&["time", file.to_str().unwrap()], b"");
}

#[test]
fn what_cannot_be_replayed_is_an_error() {
    let program = Path::new(env!("CARGO_BIN_EXE_recorded"));
    let folder = TempDir::new().unwrap();
    let case = Case::new(program, &["race"]);
    let trace = case.record(folder.path()).unwrap();
    let race = case.predict(&trace).remove(0);
    let replay = |race: &str, words: &[&str]| {
        let mut command = predictor();
        let (code, out, err) =
            run(command.arg("replay").arg(&trace).arg(race).arg("--").args(words), b"");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        err
    };
    assert!(replay("1,2", &["true"]).contains("do not conflict"));
    assert!(replay(&race, &["true"]).contains("true: it has left no outcome"));
    assert!(replay(&race, &["no-such-program"]).contains("it cannot be started"));
}
