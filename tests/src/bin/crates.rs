//! Tries other people's crates: see [`racelog_tests::crates`].
//!
//! ```text
//! cargo run -p racelog-tests --bin crates -- FOLDER [crates | weakened | changed | table] [NAME…]
//! ```
//!
//! `changed` only fetches and changes them, into the folders `converted` and `instrumented`, to be
//! looked at and built by hand.
//!
//! `--with PROGRAM` before all that names a `cargo-racelog` that is built already.
//!
//! What is done is kept in FOLDER, a file a crate; a second run goes on where the first has stopped.
//! To try one again, delete its file in FOLDER/results.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use racelog_tests::crates::catalogue::CRATES;
use racelog_tests::crates::table;
use racelog_tests::crates::trial::{Laboratory, Outcome};
use racelog_tests::crates::weaken::{PLACES, Weakened};
use racelog_tests::expected::repository;
use racelog_tests::registry::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crates: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Error> {
    let mut words = env::args().skip(1).peekable();
    let mut built = None;
    if words.next_if(|word| word == "--with").is_some() {
        built = Some(PathBuf::from(words.next().ok_or("--with which program?")?));
    }
    let folder = words.next().ok_or("which folder is to hold what is fetched and built?")?;
    let what = words.next().unwrap_or_else(|| "crates".to_owned());
    let names: Vec<String> = words.collect();
    let is_meant = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
    fs::create_dir_all(&folder)?;
    let folder = fs::canonicalize(folder)?;
    let laboratory = laboratory(&folder, built)?;
    let results = folder.join("results");
    fs::create_dir_all(&results)?;
    match &*what {
        "crates" => {
            for entry in CRATES.iter().filter(|entry| is_meant(entry.name)) {
                eprintln!("{} {}", entry.name, entry.version);
                kept(&results, entry.name, || laboratory.try_crate(entry))?;
            }
        }
        "weakened" => {
            for (place, file) in places().filter(|(place, _)| is_meant(place.name)) {
                eprintln!("{} {}:{}", place.name, place.file, place.line);
                kept(&results, &file, || laboratory.try_weakened(&place))?;
            }
        }
        "changed" => {
            for entry in CRATES.iter().filter(|entry| is_meant(entry.name)) {
                laboratory.change(entry)?;
            }
            return Ok(());
        }
        "table" => {}
        _ => return Err(format!("`{what}` is none of crates, weakened, changed and table").into()),
    }
    let outcomes = CRATES.iter().filter_map(|entry| read(&results, entry.name));
    let outcomes = outcomes.collect::<Result<Vec<Outcome>, Error>>()?;
    let weakened = places().filter_map(|(place, file)| {
        let result: Option<Result<Weakened, Error>> = read(&results, &file);
        result.map(|result| result.map(|result| (place, result)))
    });
    let weakened = weakened.collect::<Result<Vec<_>, Error>>()?;
    let text = format!(
        "{}\n{}\n{}",
        table::crates(&outcomes),
        table::problems(&outcomes),
        table::weakened(&weakened)
    );
    fs::write(folder.join("table.md"), &text)?;
    print!("{text}");
    Ok(())
}

/// The places that are weakened, and the names of the files of their results.
fn places() -> impl Iterator<Item = (racelog_tests::crates::weaken::Place, String)> {
    PLACES.iter().map(|place| {
        let file = place.file.replace(['/', '.'], "-");
        (*place, format!("weakened-{}-{file}-{}", place.name, place.line))
    })
}

fn laboratory(folder: &Path, built: Option<PathBuf>) -> Result<Laboratory, Error> {
    Ok(Laboratory {
        target: folder.join("target"),
        folder: folder.to_owned(),
        cargo_racelog: built.map_or_else(cargo_racelog, Ok)?,
        time: Duration::from_secs(600),
        max_bytes: "20m".to_owned(),
    })
}

/// The program `cargo-racelog`, of this repository.
fn cargo_racelog() -> Result<PathBuf, Error> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--package", "predictor", "--bin", "cargo-racelog"]);
    cargo.args(["--message-format", "json"]).current_dir(repository()).stderr(Stdio::inherit());
    let said = String::from_utf8(cargo.output()?.stdout)?;
    let messages = said.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut built = messages
        .filter_map(|message: serde_json::Value| message["executable"].as_str().map(PathBuf::from));
    Ok(built.next().ok_or("cargo-racelog could not be built")?)
}

fn file(results: &Path, name: &str) -> PathBuf {
    results.join(format!("{name}.json"))
}

/// A result that is kept.
fn read<T: DeserializeOwned>(results: &Path, name: &str) -> Option<Result<T, Error>> {
    let text = fs::read_to_string(file(results, name)).ok()?;
    Some(serde_json::from_str(&text).map_err(|error| format!("{name}: {error}").into()))
}

/// Makes a result and keeps it, unless there is one.
fn kept<T: Serialize + DeserializeOwned>(
    results: &Path,
    name: &str,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<(), Error> {
    if read::<T>(results, name).is_none() {
        let result = make().map_err(|error| format!("{name}: {error}"))?;
        fs::write(file(results, name), serde_json::to_string_pretty(&result)?)?;
    }
    Ok(())
}
