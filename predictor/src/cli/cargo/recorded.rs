//! How a program was run: enough to run it again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::regular;
use crate::child::End;
use crate::trace::Trace;

/// The file that says how a program was run, beside its traces. It is there to be read; what is run
/// comes from [`super::own_runs`].
pub(super) const FILE: &str = "program.json";

/// How a program was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recorded {
    /// The program, and what comes before it on the command line.
    pub(super) words: Vec<String>,
    /// How many words come before it.
    #[serde(default)]
    pub(super) before: usize,
    /// What follows it.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    /// The folder.
    pub(super) folder: PathBuf,
    /// The variables that cargo sets.
    pub(super) variables: Vec<(String, String)>,
    /// How it ended, if that is known.
    #[serde(default)]
    pub(super) ended: Option<Ended>,
}

/// How a program ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    Code(i32),
    Signal(i32),
}

impl Ended {
    /// Whoever was ended by us has not ended by itself.
    pub(super) fn of(end: End) -> Option<Self> {
        match end {
            End::Exit(code) => Some(Self::Code(code)),
            End::Signal(signal) => Some(Self::Signal(signal)),
            End::TimeUp | End::Stopped => None,
        }
    }
}

impl Recorded {
    /// Reads what a folder of traces says about its program.
    pub(super) fn read(traces: &Path) -> Option<Self> {
        let text = regular::read(&traces.join(FILE), regular::ANY_SIZE).ok()?;
        let mut recorded: Self = serde_json::from_str(&text).ok()?;
        recorded.variables.retain(|(name, value)| is_kept(name, value));
        Some(recorded).filter(|recorded| !recorded.words.is_empty())
    }

    /// The file that was run.
    pub(super) fn program(&self) -> Option<&str> {
        self.words.get(self.before).map(String::as_str)
    }

    /// The command that runs what was recorded again: of a test program, the one test.
    pub(super) fn command(&self, trace: &Trace) -> Result<Vec<OsString>, String> {
        let mut words: Vec<OsString> = self.words.iter().map(OsString::from).collect();
        let metadata = trace.metadata();
        match &metadata.test {
            Some(test) => {
                // The runner of tests leaves out the name of the crate.
                let name = test.split_once("::").map_or(test.as_str(), |(_, rest)| rest);
                if name.starts_with('-') || name.is_empty() {
                    return Err(format!("`{test}` is not the name of a test"));
                }
                let flags =
                    [name, "--exact", "--nocapture", "--test-threads=1", "--include-ignored"];
                words.extend(flags.map(OsString::from));
            }
            None => words.extend(metadata.arguments.iter().map(OsString::from)),
        }
        Ok(words)
    }
}

/// The variables that cargo and nextest set for the programs that they run, and that programs look
/// at: <https://doc.rust-lang.org/cargo/reference/environment-variables.html>. What people set for
/// cargo, tokens and proxies among it, is not here.
const KEPT: [&str; 27] = [
    "CARGO",
    "CARGO_BIN_NAME",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_AUTHORS",
    "CARGO_PKG_DESCRIPTION",
    "CARGO_PKG_HOMEPAGE",
    "CARGO_PKG_LICENSE",
    "CARGO_PKG_LICENSE_FILE",
    "CARGO_PKG_NAME",
    "CARGO_PKG_README",
    "CARGO_PKG_REPOSITORY",
    "CARGO_PKG_RUST_VERSION",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_TARGET_TMPDIR",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "NEXTEST",
    "NEXTEST_EXECUTION_MODE",
    "NEXTEST_WORKSPACE_ROOT",
    "OUT_DIR",
];

/// What the names begin with of variables that say where a program of the package is.
const PROGRAMS: [&str; 2] = ["CARGO_BIN_EXE_", "NEXTEST_BIN_EXE_"];

/// Whether a variable belongs to how a program was run. What is named like a program's place has to
/// be one: people could call anything so.
pub(super) fn is_kept(name: &str, value: &str) -> bool {
    let is_program = || {
        let path = Path::new(value);
        PROGRAMS.iter().any(|start| name.starts_with(start)) && path.is_absolute() && path.is_file()
    };
    KEPT.contains(&name) || is_program()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_kept() {
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "OUT_DIR"] {
            assert!(is_kept(name, "any"), "{name}");
        }
        let program = std::env::current_exe().unwrap().display().to_string();
        assert!(is_kept("CARGO_BIN_EXE_tool", &program));
        for name in [
            "CARGO_REGISTRY_TOKEN",
            "CARGO_REGISTRIES_MINE_TOKEN",
            "CARGO_HTTP_PROXY",
            "CARGO_HOME",
            "CARGO_BIN_EXE_api_key",
            "CARGO_PKG_api_key",
            "NEXTEST_PROFILE",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
        ] {
            assert!(!is_kept(name, "no file"), "{name}");
        }
    }
}
