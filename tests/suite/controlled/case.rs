//! Programs that are recorded, and whose predicted races are then replayed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{findings_of, predictor, run, run_raw};

/// A program, and how it is recorded.
pub(super) struct Case<'a> {
    pub(super) program: &'a Path,
    pub(super) args: &'a [&'a str],
    /// A seed, where the run itself has to be the same every time.
    pub(super) seed: Option<&'a str>,
    /// What it reads while it is recorded. In replays it reads nothing.
    pub(super) input: &'a [u8],
    pub(super) all_pairs: bool,
}

impl<'a> Case<'a> {
    pub(super) fn new(program: &'a Path, args: &'a [&'a str]) -> Self {
        Self { program, args, seed: None, input: b"", all_pairs: true }
    }

    /// Records a run; gives its trace, if it leaves one.
    pub(super) fn record(&self, folder: &Path) -> Option<PathBuf> {
        let mut command = self.command(folder);
        command.envs(self.seed.map(|seed| ("RACELOG_CONTROL", seed)));
        run_raw(&mut command, self.input);
        trace_in(folder)
    }

    /// The command that is recorded.
    pub(super) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(self.program);
        command.args(self.args).env("RACELOG", "1").env("RACELOG_DIR", folder);
        command.env_remove("RACELOG_MAX_BYTES");
        command
    }

    /// The races of a trace, as `replay` takes them.
    pub(super) fn predict(&self, trace: &Path) -> Vec<String> {
        let mut command = predictor();
        command.args(["analyze", "--detector", "mcm", "--goals", "races", "--format", "json"]);
        command.arg(trace);
        command.args(self.all_pairs.then_some("--all-pairs"));
        let (_, out, err) = run(&mut command, b"");
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
        let events = |race: &Value| {
            let parts = &race["occurrences"][0]["parts"];
            format!("{},{}", parts[0]["event"], parts[1]["event"])
        };
        findings_of(&report).iter().map(events).collect()
    }

    /// Replays a race; gives the exit code, and what is printed and said.
    pub(super) fn replay_as(
        &self,
        trace: &Path,
        race: &str,
        format: &str,
    ) -> (i32, String, String) {
        let mut command = predictor();
        command.args(["replay", "--format", format]).arg(trace).arg(race);
        command.arg("--").arg(self.program).args(self.args);
        run(&mut command, b"")
    }

    pub(super) fn replay(&self, trace: &Path, race: &str) -> (i32, Value) {
        let (code, out, err) = self.replay_as(trace, race, "json");
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{:?}: {err}", self.args)))
    }

    /// Confirms all races; says how many there are, and how many of them do harm.
    pub(super) fn confirm(&self) -> (usize, usize) {
        let folder = TempDir::new().unwrap();
        self.record(folder.path()).map_or((0, 0), |trace| self.confirm_all(&trace))
    }

    /// Confirms all races of a trace.
    pub(super) fn confirm_all(&self, trace: &Path) -> (usize, usize) {
        let races = self.predict(trace);
        let mut harmful = 0;
        for race in &races {
            let (code, replayed) = self.replay(trace, race);
            let verdict = &replayed["verdict"];
            let (program, args) = (self.program.display(), self.args);
            assert_eq!(code, 0, "{program} {args:?} {:?} {race}: {verdict}", self.seed);
            assert_eq!(verdict["result"], "confirmed");
            harmful += usize::from(verdict["harmful"] == true);
            for order in replayed["orders"].as_array().unwrap() {
                assert_eq!(order["outcome"]["reached"], "confirmed", "{order}");
            }
        }
        (races.len(), harmful)
    }

    /// Replays the only race that is predicted; gives the exit code, and what is said in JSON and
    /// in words.
    pub(super) fn replay_only_race(&self) -> (i32, Value, String) {
        let folder = TempDir::new().unwrap();
        let trace = self.record(folder.path()).expect("it is recorded");
        let races = self.predict(&trace);
        assert_eq!(races.len(), 1, "{:?}", self.args);
        let (code, replayed) = self.replay(&trace, &races[0]);
        let (again, words, _) = self.replay_as(&trace, &races[0], "text");
        assert_eq!(code, again, "{replayed}\n{words}");
        (code, replayed, words)
    }
}

/// The one trace in a folder.
pub(super) fn trace_in(folder: &Path) -> Option<PathBuf> {
    Some(fs::read_dir(folder).ok()?.next()?.unwrap().path())
}
