//! What recording costs: `cargo bench -p racelog-tests --bench recorder -- [ROUNDS] [WORKLOAD…]`,
//! five rounds over all workloads by default.
//!
//! The same workloads are built natively (racelog with recording compiled out, which is std), with
//! recording, and for comparison under ThreadSanitizer, where a nightly toolchain is there. If that
//! has no `rust-src`, std is as shipped: what of it is not inlined costs the sanitizer nothing, and
//! what it reports means nothing, so it reports nothing. Every round runs each of them once, one
//! after the other, and the fastest counts: so noise of the machine hits all alike and does not
//! last.
//!
//! `cargo bench -p racelog-tests --bench recorder -- instructions [WORKLOAD…]` counts instructions
//! instead, which a busy machine does not change: see `instructions`.

mod instructions;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A way to build and run the workloads.
struct Variant {
    program: PathBuf,
    records: bool,
}

/// The fastest run of a workload by each variant, in nanoseconds an operation.
#[derive(Default)]
struct Row {
    events: f64,
    fastest: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let rounds: usize = words.iter().find_map(|word| word.parse().ok()).unwrap_or(5);
    let mut chosen: Vec<&String> =
        words.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    let instructions = chosen.first().is_some_and(|word| *word == "instructions");
    if instructions {
        chosen.remove(0);
        let programs = [build_stable(false)?.program, build_stable(true)?.program];
        return instructions::measure(&programs, &chosen);
    }

    let mut variants = vec![build_stable(false)?, build_stable(true)?];
    match build_sanitized() {
        Ok(variant) => variants.push(variant),
        Err(why) => println!("without ThreadSanitizer: {why}"),
    }
    let names = output(Command::new(&variants[0].program).arg("--list"))?;
    let names: Vec<&str> = names
        .lines()
        .filter(|name| chosen.is_empty() || chosen.iter().any(|c| c == name))
        .collect();

    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for _ in 0..rounds {
        for name in &names {
            let row = rows.entry(name).or_default();
            row.fastest.resize(variants.len(), f64::INFINITY);
            for (variant, fastest) in variants.iter().zip(&mut row.fastest) {
                let (nanoseconds, events) = run(variant, name)?;
                *fastest = fastest.min(nanoseconds);
                row.events = events;
            }
        }
    }
    print(&names, &rows);
    Ok(())
}

/// Prints the table: times are nanoseconds an operation, but for the cost, which is an event's.
fn print(names: &[&str], rows: &BTreeMap<&str, Row>) {
    println!(
        "{:22} {:>6} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}",
        "", "events", "native", "recording", "TSan", "added per", "recording", "TSan"
    );
    println!(
        "{:22} {:>6} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}",
        "workload", "per op", "ns/op", "ns/op", "ns/op", "event, ns", "/ native", "/ native"
    );
    for name in names {
        let Row { events, fastest } = &rows[name];
        let (native, recording) = (fastest[0], fastest[1]);
        let added = (recording - native) / events;
        let (sanitized, sanitized_ratio) = match fastest.get(2) {
            Some(time) => (format!("{time:.1}"), format!("{:.1}", time / native)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        println!(
            "{name:22} {events:>6} {native:>10.1} {recording:>10.1} {sanitized:>10} {added:>10.1} \
             {:>9.1} {sanitized_ratio:>9}",
            recording / native
        );
    }
}

/// Runs one workload: nanoseconds and events an operation.
fn run(variant: &Variant, name: &str) -> Result<(f64, f64), Box<dyn Error>> {
    // Gone with its trace as soon as the run is over: traces are large.
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(&variant.program);
    command.arg(name).env_remove("RACELOG").env_remove("RACELOG_MAX_BYTES");
    command.env("TSAN_OPTIONS", "report_bugs=0");
    if variant.records {
        command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    }
    let line = output(&mut command)?;
    if variant.records && std::fs::read_dir(&folder)?.next().is_none() {
        return Err(format!("`{name}` left no trace").into());
    }
    let mut words = line.split_whitespace().skip(1);
    let mut number = || words.next().ok_or("the workloads print three words a line");
    Ok((number()?.parse()?, number()?.parse()?))
}

fn build_stable(records: bool) -> Result<Variant, Box<dyn Error>> {
    let features: &[&str] = if records { &["--features", "record"] } else { &[] };
    let folder = target_folder(if records { "-record" } else { "" });
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("build").args(features);
    build(command, &folder, &["release"], records)
}

/// An error if there is no toolchain for it.
fn build_sanitized() -> Result<Variant, Box<dyn Error>> {
    let list = ["component", "list", "--installed", "--toolchain", "nightly"];
    let components = output(Command::new("rustup").args(list))?;
    let has_source = components.lines().any(|line| line.starts_with("rust-src"));
    let folder = target_folder(if has_source { "-tsan" } else { "-tsan-shipped" });
    let mut command = Command::new("rustup");
    // What the cargo that runs this bench tells its children is for its own toolchain.
    for variable in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(variable);
    }
    command.args(["run", "nightly", "cargo", "build", "--target", TARGET]);
    if has_source {
        command.arg("-Zbuild-std").env("RUSTFLAGS", "-Zsanitizer=thread");
    } else {
        println!("ThreadSanitizer with std as shipped: the nightly toolchain has no rust-src");
        let mixed = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
        command.env("RUSTFLAGS", mixed);
    }
    build(command, &folder, &[TARGET, "release"], false)
}

/// Runs a `cargo build` and finds the program in the folders within its target folder.
fn build(
    mut command: Command,
    folder: &Path,
    within: &[&str],
    records: bool,
) -> Result<Variant, Box<dyn Error>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-workloads/Cargo.toml");
    command.args(["--release", "--quiet", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(folder);
    let status = command.status()?;
    if !status.success() {
        return Err(format!("the workloads were not built: {status}").into());
    }
    let program = within.iter().fold(folder.to_owned(), |path, name| path.join(name));
    Ok(Variant { program: program.join("bench-workloads"), records })
}

/// A folder for a variant, next to the one that cargo gives benches.
fn target_folder(suffix: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR"));
    beside.with_file_name(format!("bench-workloads{suffix}"))
}

/// What a command prints, if it ends well.
fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
