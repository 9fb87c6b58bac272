//! Stands between cargo and the programs that it runs.
//!
//! Cargo knows in which folder and with which variables a program is to be run; to replay it later
//! we must know as well. And programs of one name must not share a folder for their traces.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use racelog::contract::environment::Variable;
use racelog::interrupt;

use super::super::args::seconds;
use super::super::{Failure, say};
use super::own_runs::OwnRuns;
use super::recorded::{FILE, Recorded, is_kept};
use super::run_folder::RunFolder;
use crate::child::{self, End, Interrupt, Limits};

/// The subcommand that cargo is told to run programs with.
pub(super) const NAME: &str = "run-recorded";

/// The folder of the traces of programs that cargo has not run by us.
pub(super) const OTHERS: &str = "others";

/// The exit code of a program whose time was up: that of `timeout`.
const TIME_UP: u8 = 124;

/// Runs a program. The words are the folder of the traces, the folder where commands are kept, the
/// folder of the run, the time that it may take in seconds or `-`, how many words of another runner
/// follow, these, and the program with its arguments.
pub(super) fn run(words: &[OsString]) -> Result<ExitCode, Failure> {
    let not_ours = || Failure::Message(format!("`{NAME}` is for cargo to call"));
    let [folder, runs, run_folder, time, before, words @ ..] = words else {
        return Err(not_ours());
    };
    let time = match time.to_str() {
        Some("-") => None,
        text => Some(text.and_then(|text| seconds(text).ok()).ok_or_else(not_ours)?),
    };
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
    command.args(&words[1..]).env(Variable::Folder, &traces);
    supervise(&mut command, &RunFolder::within(run_folder.into()), &stem, time)
        .map_err(|error| Failure::of(words[0].to_string_lossy(), error))
}

/// Runs a program within its time, and ends as it does.
fn supervise(
    command: &mut Command,
    run_folder: &RunFolder,
    stem: &str,
    time: Option<Duration>,
) -> io::Result<ExitCode> {
    let Ok(running) = run_folder.enter() else {
        return Err(io::Error::other("the command that wanted it is gone"));
    };
    interrupt::note_first();
    let parent = parent();
    // Neither the command nor cargo is a parent that could send an event.
    let stop = || run_folder.is_stopped() || self::parent() != parent;
    if interrupt::noted().is_some() || stop() {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    // A program that asks at the terminal must be able to read from there.
    let own_group = !io::stdin().is_terminal();
    let limits = Limits { time, own_group, interrupt: Interrupt::Ends, stop_when: Some(&stop) };
    let finished = child::run(command, &limits).map_err(|error| error.source)?;
    drop(running);
    Ok(match finished.end {
        End::Exit(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        End::Signal(signal) => interrupt::end_by(signal),
        End::TimeUp => {
            run_folder.took_too_long(stem);
            let seconds = time.unwrap_or_default().as_secs_f64();
            say(
                "error",
                format_args!("`{stem}` was ended after {seconds} seconds: see --test-time"),
            );
            ExitCode::from(TIME_UP)
        }
        End::Stopped => ExitCode::from(INTERRUPTED),
    })
}

/// The exit code of a program that did not run to its end because all was to stop.
const INTERRUPTED: u8 = 130;

/// The process that has started us: another one if that one is gone.
#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

#[cfg(not(unix))]
fn parent() -> u32 {
    0
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
