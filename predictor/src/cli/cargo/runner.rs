//! Stands between cargo and the programs that it runs.
//!
//! Cargo knows in which folder and with which variables a program is to be run; to replay it later
//! we must know as well. And programs of one name must not share a folder for their traces.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::super::{Failure, say};
use super::own_runs::OwnRuns;
use super::recorded::{FILE, Recorded, is_kept};

/// The subcommand that cargo is told to run programs with.
pub(super) const NAME: &str = "run-recorded";

/// The folder of the traces of programs that cargo has not run by us.
pub(super) const OTHERS: &str = "others";

/// Runs a program. The words are the folder of the traces, the folder where commands are kept, how
/// many words of another runner follow, these, and the program with its arguments.
pub(super) fn run(words: &[OsString]) -> Result<ExitCode, Failure> {
    let not_ours = || Failure::Message(format!("`{NAME}` is for cargo to call"));
    let [folder, runs, before, words @ ..] = words else { return Err(not_ours()) };
    let before: usize = before.to_str().and_then(|text| text.parse().ok()).ok_or_else(not_ours)?;
    let program = words.get(before).ok_or_else(not_ours)?;
    let stem = Path::new(program).file_stem().unwrap_or(OsStr::new("program"));
    let stem = stem.to_string_lossy();
    let traces = Path::new(folder).join(&*stem);
    let runs = OwnRuns::within(runs.into());
    if let Err(error) = remember(&traces, &runs, &stem, words, before) {
        // Without that nothing can be replayed, but all else can be done.
        say("warning", format_args!("{}: {error}", traces.display()));
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("RACELOG_DIR", &traces);
    become_it(&mut command).map_err(|error| Failure::of(words[0].to_string_lossy(), error))
}

fn remember(
    traces: &Path,
    runs: &OwnRuns,
    stem: &str,
    words: &[OsString],
    before: usize,
) -> std::io::Result<()> {
    fs::create_dir_all(traces)?;
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        is_kept(&name).then_some((name, value))
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
    let (words, arguments) = words.split_at(before + 1);
    let recorded = Recorded {
        words: words.iter().map(absolute).collect(),
        before,
        arguments: arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: std::env::current_dir()?,
        variables: variables.collect(),
    };
    let text = serde_json::to_string_pretty(&recorded)?;
    // Several programs may do this at once: none must see half a file.
    let file = tempfile::NamedTempFile::new_in(traces)?;
    fs::write(file.path(), text)?;
    file.persist(traces.join(FILE)).map_err(|error| error.error)?;
    runs.keep(stem, recorded)
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
