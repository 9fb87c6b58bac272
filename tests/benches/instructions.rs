//! How many instructions of the processor an event costs, as Valgrind counts them.
//!
//! Each workload runs twice, with few and with many operations, under `valgrind --tool=cachegrind`.
//! The difference is what the operations themselves cost: the program's start and end, and what is
//! done only once, are in both. Workloads in which threads wait for each other are not counted: how
//! often they look is not the same in two runs.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether no threads wait for each other in a workload.
fn is_steady(name: &str) -> bool {
    !name.ends_with("-2-threads") && name != "channel-ping-pong"
}

/// So many operations, of a workload that does at least a million.
const FEW: u64 = 2_000;
const MANY: u64 = 102_000;

/// Of the others an operation is many events, or a thread.
const FEW_LARGE: u64 = 100;
const MANY_LARGE: u64 = 600;

/// Prints what the workloads cost natively and recorded, which the two programs are.
pub(super) fn measure(
    [native, recording]: &[PathBuf; 2],
    chosen: &[&String],
) -> Result<(), Box<dyn Error>> {
    let names = super::output(Command::new(native).arg("--list"))?;
    println!("{:22} {:>6} {:>10} {:>10} {:>10}", "", "events", "native", "recording", "added per");
    println!("{:22} {:>6} {:>10} {:>10} {:>10}", "workload", "per op", "per op", "per op", "event");
    for name in names.lines().filter(|name| is_steady(name)) {
        if !chosen.is_empty() && !chosen.iter().any(|word| *word == name) {
            continue;
        }
        let large = matches!(name, "shared-array" | "spawn-join");
        let (few, many) = if large { (FEW_LARGE, MANY_LARGE) } else { (FEW, MANY) };
        let cost = |program: &Path, records: bool| -> Result<(f64, f64), Box<dyn Error>> {
            let (first, events) = count(program, name, few, records)?;
            let (second, _) = count(program, name, many, records)?;
            Ok((second.saturating_sub(first) as f64 / (many - few) as f64, events))
        };
        let (native, _) = cost(native, false)?;
        let (recording, events) = cost(recording, true)?;
        let added = (recording - native) / events;
        println!("{name:22} {events:>6} {native:>10.1} {recording:>10.1} {added:>10.1}");
    }
    Ok(())
}

/// The instructions of a run of a workload, and how many events an operation of it is.
fn count(
    program: &Path,
    name: &str,
    operations: u64,
    records: bool,
) -> Result<(u64, f64), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(program).arg(format!("--operations={operations}")).arg(name);
    command.env_remove("RACELOG").env_remove("RACELOG_MAX_BYTES");
    if records {
        command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    }
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{command:?}: {}\n{said}", output.status).into());
    }
    let line = said.lines().find_map(|line| line.split_once("refs:"));
    let digits: String =
        line.ok_or("Valgrind prints a total")?.1.chars().filter(char::is_ascii_digit).collect();
    let printed = String::from_utf8(output.stdout)?;
    let events = printed.split_whitespace().nth(2).ok_or("a workload prints three words")?;
    Ok((digits.parse()?, events.parse()?))
}
