//! Stands between cargo and the programs that it runs.
//!
//! Cargo knows in which folder and with which variables a program is to be run; to replay it later
//! we must know as well. And programs of one name must not share a folder for their traces.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

use super::super::{Failure, say};

/// The subcommand that cargo is told to run programs with.
pub(super) const NAME: &str = "run-recorded";

/// The file that says how a program was run, beside its traces.
pub(super) const FILE: &str = "program.json";

/// The folder of the traces of programs that cargo has not run by us.
pub(super) const OTHERS: &str = "others";

/// How a program was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recorded {
    /// The program, and what comes before it on the command line.
    pub(super) words: Vec<String>,
    /// The folder.
    pub(super) folder: PathBuf,
    /// The variables that cargo sets.
    pub(super) variables: Vec<(String, String)>,
}

impl Recorded {
    /// Reads how the program was run whose traces are in a folder.
    pub(super) fn read(traces: &Path) -> Option<Self> {
        let text = fs::read_to_string(traces.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }
}

/// Whether a variable is one that cargo, or the runner of tests, sets.
fn is_cargos(name: &str) -> bool {
    ["CARGO", "NEXTEST", "OUT_DIR", "LD_LIBRARY_PATH", "DYLD_"]
        .iter()
        .any(|it| name.starts_with(it))
}

/// Runs a program: the first word is the folder of the traces; the last runner's words may stand
/// before the program, and say how many they are.
pub(super) fn run(words: &[OsString]) -> Result<ExitCode, Failure> {
    let [folder, before, words @ ..] = words else {
        return Err(Failure::Message(format!("`{NAME}` is for cargo to call")));
    };
    let before: usize = before.to_str().and_then(|text| text.parse().ok()).unwrap_or(0);
    let Some(program) = words.get(before) else {
        return Err(Failure::Message(format!("`{NAME}` is for cargo to call")));
    };
    let stem = Path::new(program).file_stem().unwrap_or(OsStr::new("program"));
    let traces = Path::new(folder).join(stem);
    if let Err(error) = remember(&traces, &words[..=before]) {
        // Without that nothing can be replayed, but all else can be done.
        say("warning", format_args!("{}: {error}", traces.display()));
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("RACELOG_DIR", &traces);
    become_it(&mut command).map_err(|error| Failure::of(words[0].to_string_lossy(), error))
}

fn remember(traces: &Path, words: &[OsString]) -> std::io::Result<()> {
    fs::create_dir_all(traces)?;
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        is_cargos(&name).then_some((name, value))
    });
    let absolute = |word: &OsString| {
        let path = Path::new(word);
        // A relative program is relative to the folder that it is run in.
        let path = if path.exists() { std::path::absolute(path).ok() } else { None };
        path.map_or_else(
            || word.to_string_lossy().into_owned(),
            |p| p.to_string_lossy().into_owned(),
        )
    };
    let recorded = Recorded {
        words: words.iter().map(absolute).collect(),
        folder: std::env::current_dir()?,
        variables: variables.collect(),
    };
    let text = serde_json::to_string_pretty(&recorded)?;
    // Several programs may do this at once: none must see half a file.
    let file = tempfile::NamedTempFile::new_in(traces)?;
    fs::write(file.path(), text)?;
    file.persist(traces.join(FILE)).map(drop).map_err(|error| error.error)
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
