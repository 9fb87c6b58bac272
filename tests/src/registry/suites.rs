//! Runs the suites of crates and says what came of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Error, Package};

/// What a crate's suite said.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// Whether everything was built and every test program ended with success.
    pub success: bool,
    /// How many tests passed.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
}

/// How a suite is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How<'a> {
    /// As the crate is.
    Plain,
    /// With `--cfg racelog`, not recorded.
    Built,
    /// With `--cfg racelog`, recorded into this folder.
    Recorded(&'a Path),
}

/// Runs the tests of a crate's library and its integration tests. `arguments` go to cargo. What is
/// said is written to a file beside the crate.
///
/// # Errors
/// If cargo cannot be run.
pub(super) fn run_suite(
    package: &Package,
    how: How<'_>,
    arguments: &[&str],
) -> Result<Outcome, Error> {
    let mut cargo = package.cargo("test");
    cargo.args(["--quiet", "--lib", "--tests", "--no-fail-fast"]).args(arguments);
    let name = match how {
        How::Plain => "plain",
        How::Built => "built",
        How::Recorded(_) => "recorded",
    };
    if how != How::Plain {
        cargo.env("RUSTFLAGS", "--cfg racelog --check-cfg cfg(racelog)");
    }
    if let How::Recorded(folder) = how {
        cargo.env("RACELOG", "1").env("RACELOG_DIR", folder);
    }
    let (outcome, said) = outcome(&mut cargo)?;
    fs::write(package.folder().join(format!("{name}.txt")), said)?;
    Ok(outcome)
}

fn outcome(cargo: &mut Command) -> Result<(Outcome, String), Error> {
    let output = cargo.output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut outcome = Outcome { success: output.status.success(), ..Outcome::default() };
    for line in said.lines() {
        let Some((_, counts)) = line.split_once("test result: ") else { continue };
        let count = |what: &str| {
            let before = counts.split_once(what).map_or("", |(before, _)| before);
            before.split_whitespace().next_back().and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        outcome.passed += count(" passed;");
        outcome.failed += count(" failed;");
    }
    Ok((outcome, said))
}
