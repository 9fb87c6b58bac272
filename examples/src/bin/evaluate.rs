//! Records all programs, runs all detectors on the same traces, and prints the papers' tables.

use std::io::{self, BufWriter, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use racelog::interrupt;
use racelog_examples::evaluate::{Arguments, write};

/// Something has come out that must not be.
const WRONG: u8 = 1;
/// Something could not be measured.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(instead) = &arguments.instead {
        instead.run();
        return ExitCode::SUCCESS;
    }
    let executable = match std::env::current_exe() {
        Ok(executable) => executable,
        Err(error) => {
            eprintln!("error: where this program is cannot be found out: {error}");
            return ExitCode::from(ERROR);
        }
    };
    let (mut tables, effort) = (arguments.tables(), arguments.effort());
    let mut failed = false;
    interrupt::note_first();
    for program in arguments.programs() {
        if io::stderr().is_terminal() {
            eprintln!("{}", program.name);
        }
        let child = arguments.child(executable.clone(), program);
        let measured = child.record_as_known().and_then(|recorded| {
            tables.iter_mut().try_for_each(|table| table.add(&recorded, &child, &effort))
        });
        if let Err(problem) = measured {
            eprintln!("error: {problem}");
            failed = true;
        }
        if let Some(signal) = interrupt::noted() {
            interrupt::end_by(signal);
        }
    }
    interrupt::as_usual();
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&tables, arguments.format, &mut out, &mut io::stderr());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error: standard output: {error}");
            ExitCode::from(ERROR)
        }
        _ if failed => ExitCode::from(ERROR),
        _ if tables.iter().any(|table| table.is_wrong()) => ExitCode::from(WRONG),
        _ => ExitCode::SUCCESS,
    }
}
