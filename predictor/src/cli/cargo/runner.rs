//! Stands between cargo and the programs that it runs.
//!
//! Cargo knows in which folder and with which variables a program is to be run; to replay it later
//! we must know as well. And programs of one name must not share a folder for their traces.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use racelog::contract::environment::Variable;
use racelog::interrupt;

use super::super::args::seconds;
use super::super::{Failure, say};
use super::own_runs::OwnRuns;
use super::recorded::{Ended, FILE, Recorded, is_kept};
use super::run_folder::RunFolder;
use crate::child::{self, End, Interrupt, Limits};

/// The subcommand that cargo is told to run programs with.
pub(super) const NAME: &str = "run-recorded";

/// The folder of the traces of programs that cargo has not run by us.
pub(super) const OTHERS: &str = "others";

/// The exit code of a program whose time was up: that of `timeout`.
const TIME_UP: u8 = 124;

/// The exit code of a program that is made by libtest if it does not understand its arguments, and
/// also if a test fails.
const LIBTESTS: i32 = 101;

/// How long a test program may take to list its tests.
const LISTING: Duration = Duration::from_secs(10);

/// Runs a program. The words are cargo's subcommand, the folder of the traces, the folder where
/// commands are kept, the folder of the run, the time that it may take in seconds or `-`, how many
/// words of another runner follow, these, and the program with its arguments.
pub(super) fn run(words: &[OsString]) -> Result<ExitCode, Failure> {
    let not_ours = || Failure::Message(format!("`{NAME}` is for cargo to call"));
    let [subcommand, folder, runs, run_folder, time, before, words @ ..] = words else {
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
    let mut recorded = recorded(words, before).map_err(|error| Failure::of(&stem, error))?;
    let remember = |recorded: &Recorded| {
        if let Err(error) = remember(&traces, &runs, &stem, recorded) {
            // Without that nothing can be replayed, but all else can be done.
            say("warning", format_args!("{}: {error}", traces.display()));
        }
    };
    remember(&recorded);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(Variable::Folder, &traces);
    let run_folder = RunFolder::within(run_folder.into());
    let end = supervise(&mut command, &run_folder, time)
        .map_err(|error| Failure::of(words[0].to_string_lossy(), error))?;
    recorded.ended = Ended::of(end);
    if recorded.ended.is_some() {
        remember(&recorded);
    }
    if subcommand == "test" && end == End::Exit(LIBTESTS) && refuses(words, before) {
        run_folder.refused();
    }
    Ok(match end {
        End::Exit(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        End::Signal(signal) => interrupt::end_by(signal),
        End::TimeUp => {
            run_folder.took_too_long(&stem);
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

/// Whether a test program does not understand its arguments. What it says of that, and its exit
/// code, are not told from those of a test that fails; but if it is only to list its tests, none
/// can fail.
fn refuses(words: &[OsString], before: usize) -> bool {
    let (program, arguments) = words.split_at(before + 1);
    let has_flags = arguments.iter().any(|word| word.as_encoded_bytes().starts_with(b"-"));
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).arg("--list").args(arguments).env_remove(Variable::Record);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let limits = Limits { time: Some(LISTING), own_group: true, ..Limits::default() };
    let mut lists = || child::run(&mut command, &limits).map(|finished| finished.end);
    has_flags && lists().is_ok_and(|end| end == End::Exit(LIBTESTS))
}

/// Runs a program within its time.
fn supervise(
    command: &mut Command,
    run_folder: &RunFolder,
    time: Option<Duration>,
) -> io::Result<End> {
    let Ok(running) = run_folder.enter() else {
        return Err(io::Error::other("the command that wanted it is gone"));
    };
    interrupt::note_first();
    let parent = parent();
    // Neither the command nor cargo is a parent that could send an event.
    let stop = || run_folder.is_stopped() || self::parent() != parent;
    if interrupt::noted().is_some() || stop() {
        return Ok(End::Stopped);
    }
    // A program that asks at the terminal must be able to read from there.
    let own_group = !io::stdin().is_terminal();
    let limits = Limits { time, own_group, interrupt: Interrupt::Ends, stop_when: Some(&stop) };
    let finished = child::run(command, &limits).map_err(|error| error.source)?;
    run_folder.ran_for(finished.time);
    drop(running);
    Ok(finished.end)
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

/// How a program is run.
fn recorded(words: &[OsString], before: usize) -> io::Result<Recorded> {
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        is_kept(&name, &value).then_some((name, value))
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
    Ok(Recorded {
        words: words.iter().map(absolute).collect(),
        before,
        arguments: arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: std::env::current_dir()?,
        variables: variables.collect(),
        ended: None,
    })
}

/// Keeps how a program was run, and how it ended once that is known.
fn remember(traces: &Path, runs: &OwnRuns, stem: &str, recorded: &Recorded) -> io::Result<()> {
    fs::create_dir_all(traces)?;
    let text = serde_json::to_string_pretty(recorded)?;
    // Several programs may do this at once: none must see half a file.
    let file = tempfile::NamedTempFile::new_in(traces)?;
    fs::write(file.path(), text)?;
    file.persist(traces.join(FILE)).map_err(|error| error.error)?;
    runs.keep(stem, recorded)
}
