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
        recorded.variables.retain(|(name, _)| is_kept(name));
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
/// at: <https://doc.rust-lang.org/cargo/reference/environment-variables.html>. Names that end in
/// `_` stand for all that begin so. What people set for cargo, tokens and proxies among it, is not
/// here.
const KEPT: [&str; 16] = [
    "CARGO",
    "CARGO_BIN_EXE_",
    "CARGO_BIN_NAME",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_TARGET_TMPDIR",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "NEXTEST",
    "NEXTEST_BIN_EXE_",
    "NEXTEST_EXECUTION_MODE",
    "NEXTEST_WORKSPACE_ROOT",
    "OUT_DIR",
];

/// Whether a variable belongs to how a program was run. A name that speaks of a secret never does,
/// wherever it was set.
pub(super) fn is_kept(name: &str) -> bool {
    let is = |kept: &&str| name == *kept || (kept.ends_with('_') && name.starts_with(*kept));
    let upper = name.to_ascii_uppercase();
    let secret = ["TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
    KEPT.iter().any(is) && !secret.iter().any(|word| upper.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_kept() {
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_BIN_EXE_tool", "OUT_DIR"] {
            assert!(is_kept(name), "{name}");
        }
        for name in [
            "CARGO_REGISTRY_TOKEN",
            "CARGO_REGISTRIES_MINE_TOKEN",
            "CARGO_HTTP_PROXY",
            "CARGO_HOME",
            "CARGO_BIN_EXE_TOKEN",
            "CARGO_PKG_secret",
            "NEXTEST_PROFILE",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
        ] {
            assert!(!is_kept(name), "{name}");
        }
    }
}
