//! Runs the tests of a crate, with a limit to their time.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use predictor::child::{Bounds, End, Finished, Limits, run_captured};
use serde::{Deserialize, Serialize};

use super::catalogue::Entry;
use crate::registry::Package;

/// What the tests of a crate did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// How many passed.
    pub passed: u32,
    /// Why the others did not, or why there are none; empty if all passed.
    pub problem: String,
    /// How long they took, in seconds, by their own account.
    pub seconds: f64,
}

impl Ran {
    /// Whether all passed.
    pub fn is_green(&self) -> bool {
        self.problem.is_empty()
    }

    /// No tests, for this reason.
    pub fn not(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), ..Self::default() }
    }
}

/// The tests of a crate.
pub(super) struct Suite<'a> {
    pub(super) package: &'a Package,
    pub(super) entry: &'a Entry,
    /// Where all crates are built.
    pub(super) target: &'a Path,
    /// How long building them and running them may take, each.
    pub(super) time: Duration,
}

impl Suite<'_> {
    /// Builds the tests, and runs them with these variables in the environment.
    pub(super) fn run(&self, variables: &[(&str, &Path)]) -> Ran {
        match limited(self.command().arg("--no-run"), self.time) {
            Ok(built) if built.end.is_success() => {}
            Ok(built) if built.end == End::TimeUp => {
                return Ran::not(format!("took more than {} s to compile", built.time.as_secs()));
            }
            Ok(built) => return Ran::not(format!("does not compile: {}", first_error(&built))),
            Err(problem) => return Ran::not(problem),
        }
        let mut command = self.command();
        command.args(["--no-fail-fast", "--", "--test-threads=1"]);
        for name in self.entry.skipped {
            command.args(["--skip", name]);
        }
        command.envs(variables.iter().copied());
        match limited(&mut command, self.time) {
            Ok(finished) => account(&finished),
            Err(problem) => Ran::not(problem),
        }
    }

    fn command(&self) -> Command {
        let mut cargo = self.package.cargo("test");
        cargo.args(["--lib", "--tests"]).args(self.entry.features);
        cargo.env("CARGO_TARGET_DIR", self.target);
        // Nothing but racelog may tell the builds apart: what they share is built once.
        cargo.env("RUSTFLAGS", "--cfg racelog --cap-lints warn");
        // Tests of this kind spin.
        cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "1");
        cargo.env("CARGO_TERM_COLOR", "never").env("RUST_BACKTRACE", "0");
        cargo
    }
}

/// Runs a command, and all that it starts, for so long.
pub(super) fn limited(command: &mut Command, time: Duration) -> Result<Finished, String> {
    let limits = Limits { time: Some(time), own_group: true, ..Limits::default() };
    run_captured(command, &limits, Bounds::default()).map_err(|error| error.to_string())
}

/// What a run of `cargo test` says.
fn account(finished: &Finished) -> Ran {
    let said = String::from_utf8_lossy(&finished.stdout.bytes);
    let mut ran = Ran::default();
    let mut failed = Vec::new();
    for line in said.lines() {
        if let Some(result) = line.strip_prefix("test result:") {
            ran.passed += number_before(result, " passed").unwrap_or(0);
            let time =
                result.split("finished in ").nth(1).and_then(|t| t.trim_end().strip_suffix('s'));
            ran.seconds += time.and_then(|time| time.parse::<f64>().ok()).unwrap_or(0.0);
        } else if let Some(test) = line.strip_suffix(" ... FAILED") {
            failed.push(test.trim_start_matches("test ").to_owned());
        }
    }
    ran.problem = match finished.end {
        End::Exit(0) => String::new(),
        End::TimeUp => format!("ran for more than {} s", finished.time.as_secs()),
        _ if !failed.is_empty() => format!("failed: {}", failed.join(", ")),
        end => format!("{end}: {}", last_line(&finished.stderr.bytes)),
    };
    ran
}

fn number_before(text: &str, word: &str) -> Option<u32> {
    text.split(word).next()?.rsplit(' ').next()?.parse().ok()
}

/// The first error of a compiler, with its place.
fn first_error(finished: &Finished) -> String {
    let said = String::from_utf8_lossy(&finished.stderr.bytes).into_owned();
    let mut lines = said.lines().skip_while(|line| !line.starts_with("error"));
    let error = lines.next().unwrap_or("no error is said").to_owned();
    match lines.find(|line| line.trim_start().starts_with("-->")) {
        Some(place) => format!("{error} {}", place.trim()),
        None => error,
    }
}

fn last_line(bytes: &[u8]) -> String {
    let said = String::from_utf8_lossy(bytes);
    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use predictor::child::Captured;

    use super::*;

    fn finished(end: End, stdout: &str, stderr: &str) -> Finished {
        let captured = |text: &str| Captured { bytes: text.into(), dropped: 0 };
        let (stdout, stderr) = (captured(stdout), captured(stderr));
        Finished { end, time: Duration::from_secs(9), stdout, stderr }
    }

    #[test]
    fn what_cargo_says_is_understood() {
        let said = "test a ... ok\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; \
                    0 filtered out; finished in 0.25s\ntest result: ok. 2 passed; 0 failed; 0 ignored; \
                    0 measured; 0 filtered out; finished in 1.50s\n";
        let ran = account(&finished(End::Exit(0), said, ""));
        assert_eq!(ran, Ran { passed: 5, problem: String::new(), seconds: 1.75 });
        let ran =
            account(&finished(End::Exit(101), "test b::c ... FAILED\n", "error: test failed"));
        assert_eq!(ran.problem, "failed: b::c");
        let ran = account(&finished(End::TimeUp, "", ""));
        assert_eq!(ran.problem, "ran for more than 9 s");
        let said = "warning: x\nerror[E0599]: no method\n  --> src/lib.rs:3:4\n";
        let error = first_error(&finished(End::Exit(101), "", said));
        assert_eq!(error, "error[E0599]: no method --> src/lib.rs:3:4");
    }
}
