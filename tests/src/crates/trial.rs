//! What is measured of one crate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use predictor::finding::Level;
use predictor::project::Project;
use serde::{Deserialize, Serialize};

use super::catalogue::{Entry, Rewrite};
pub use super::suite::Ran;
use super::suite::{Suite, limited};
use super::{attributes, imports};
use crate::registry::{Error, Package, fetch};

/// Where and how crates are tried.
#[derive(Clone, Debug)]
pub struct Laboratory {
    /// The folder for what is fetched.
    pub folder: PathBuf,
    /// The folder where it is built.
    pub target: PathBuf,
    /// The program `cargo-racelog`.
    pub cargo_racelog: PathBuf,
    /// How long one step of one crate may take: to build it, to run its tests, to analyse.
    pub time: Duration,
    /// How large a trace may become, as `RACELOG_MAX_BYTES` has it.
    pub max_bytes: String,
}

/// What is made of a crate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing.
    Plain,
    /// Its imports are racelog's.
    Converted,
    /// The same, and it has the attribute everywhere.
    Instrumented,
}

/// What the analysis of a run found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysed {
    /// Events.
    pub events: u64,
    /// Bytes of all traces.
    pub bytes: u64,
    /// How many findings that count.
    pub findings: u64,
    /// How many that are doubtful.
    pub doubtful: u64,
    /// How many candidates were not decided.
    pub undecided: u64,
    /// The findings, a line each.
    pub lines: Vec<String>,
    /// Why there is no analysis; empty if there is.
    pub problem: String,
}

/// What became of one crate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What it is called.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its tests as they were published.
    pub plain: Ran,
    /// With racelog's types, not recorded.
    pub unrecorded: Ran,
    /// With racelog's types, recorded.
    pub recorded: Ran,
    /// Recorded, with the attribute everywhere.
    pub instrumented: Ran,
    /// What was found in what was recorded.
    pub found: Analysed,
    /// What was found in what was recorded with the attribute.
    pub found_instrumented: Analysed,
}

impl Outcome {
    /// Whether all that passed before passes, and nothing is reported.
    pub fn is_green(&self) -> bool {
        let runs = [&self.unrecorded, &self.recorded, &self.instrumented];
        let same = |ran: &&Ran| ran.is_green() && ran.passed == self.plain.passed;
        let analyses = [&self.found, &self.found_instrumented];
        self.plain.is_green()
            && runs.iter().all(same)
            && analyses.iter().all(|found| found.problem.is_empty() && found.findings == 0)
    }
}

impl Laboratory {
    /// Tries a crate.
    ///
    /// # Errors
    /// If it cannot be had, or files cannot be written. What goes wrong with the crate itself is an
    /// outcome.
    pub fn try_crate(&self, entry: &Entry) -> Result<Outcome, Error> {
        let plain = self.prepare(entry, Change::Plain, &as_it_is)?;
        let plain = self.suite(&plain, entry).run(&[]);
        let mut outcome = Outcome {
            name: entry.name.to_owned(),
            version: entry.version.to_owned(),
            plain,
            ..Outcome::default()
        };
        let converted = self.prepare(entry, Change::Converted, &as_it_is)?;
        outcome.unrecorded = self.suite(&converted, entry).run(&[]);
        (outcome.recorded, outcome.found) = self.record(&converted, entry)?;
        let instrumented = self.prepare(entry, Change::Instrumented, &as_it_is)?;
        (outcome.instrumented, outcome.found_instrumented) = self.record(&instrumented, entry)?;
        Ok(outcome)
    }

    /// Fetches a crate and changes it in both ways, and no more.
    ///
    /// # Errors
    /// If it cannot be had, or files cannot be written.
    pub fn change(&self, entry: &Entry) -> Result<(), Error> {
        for change in [Change::Converted, Change::Instrumented] {
            self.prepare(entry, change, &as_it_is)?;
        }
        Ok(())
    }

    /// Fetches a crate and changes it, first by hand.
    ///
    /// # Errors
    /// If it cannot be had, or files cannot be written.
    pub fn prepare(
        &self,
        entry: &Entry,
        change: Change,
        by_hand: &dyn Fn(&Package) -> Result<(), Error>,
    ) -> Result<Package, Error> {
        let folder = self.folder.join(match change {
            Change::Plain => "plain",
            Change::Converted => "converted",
            Change::Instrumented => "instrumented",
        });
        fs::create_dir_all(&folder)?;
        let mut package = fetch(entry.name, entry.version, &folder)?;
        by_hand(&package)?;
        for file in entry.left_out {
            fs::remove_file(package.folder().join(file))?;
        }
        leave_out_tests(&mut package);
        leave_out_dependencies(&mut package)?;
        if change != Change::Plain {
            package.depend_on_racelog(&[&["record"], entry.racelog].concat());
            if has_own_allocator(&package)? {
                package.keep_own_allocator();
            }
            for rewrite in entry.by_hand {
                rewrite.apply(package.folder())?;
            }
        }
        package.save()?;
        if change != Change::Plain {
            for folder in ["src", "tests"] {
                for path in package.sources(folder)? {
                    let mut source = imports::convert(&fs::read_to_string(&path)?)?;
                    if change == Change::Instrumented && folder == "src" {
                        source = attributes::instrument(&source)?;
                    }
                    // In this edition crates have to be named at the root.
                    if package.edition() == "2015" && is_root(&path, package.folder()) {
                        source.push_str("\nextern crate racelog;\n");
                    }
                    fs::write(&path, source)?;
                }
            }
        }
        Ok(package)
    }

    /// Runs the tests of a crate recorded, and analyses what they leave.
    ///
    /// # Errors
    /// If files cannot be written.
    pub fn record(&self, package: &Package, entry: &Entry) -> Result<(Ran, Analysed), Error> {
        let traces = package.folder().join("traces");
        if traces.exists() {
            fs::remove_dir_all(&traces)?;
        }
        fs::create_dir_all(&traces)?;
        let on = Path::new("1");
        let size = Path::new(&self.max_bytes);
        let variables = [("RACELOG", on), ("RACELOG_DIR", &traces), ("RACELOG_MAX_BYTES", size)];
        let ran = self.suite(package, entry).run(&variables);
        let analysed = self.analyse(package, &traces);
        fs::remove_dir_all(&traces)?;
        Ok((ran, analysed))
    }

    fn suite<'a>(&'a self, package: &'a Package, entry: &'a Entry) -> Suite<'a> {
        Suite { package, entry, target: &self.target, time: self.time }
    }

    fn analyse(&self, package: &Package, traces: &Path) -> Analysed {
        let bytes = size(traces);
        let report = package.folder().join("report.json");
        let mut command = Command::new(&self.cargo_racelog);
        command.args(["racelog", "analyze", "--format", "json", "--jobs", "1", "--output"]);
        command.arg(&report).args(["--total-time", "60"]).arg(traces).current_dir(package.folder());
        let problem = |problem: String| Analysed { bytes, problem, ..Analysed::default() };
        match limited(&mut command, self.time) {
            Err(error) => return problem(error),
            Ok(finished) if !matches!(finished.end.code(), Some(0 | 1)) => {
                let said = String::from_utf8_lossy(&finished.stderr.bytes).into_owned();
                let said = said.lines().next().unwrap_or_default();
                return problem(format!("{}: {said}", finished.end));
            }
            Ok(_) => {}
        }
        let project = fs::read_to_string(&report).map_err(|error| error.to_string());
        match project.and_then(|text| Project::from_json(&text)) {
            Ok(project) => summary(&project, bytes),
            Err(error) => problem(error),
        }
    }
}

/// Nothing is changed by hand.
fn as_it_is(_: &Package) -> Result<(), Error> {
    Ok(())
}

fn summary(project: &Project, bytes: u64) -> Analysed {
    let is_doubtful = |level: Level| level == Level::Doubtful;
    let doubtful = project.open_findings().filter(|finding| is_doubtful(finding.level)).count();
    let all = project.open_findings().count();
    let lines = project.open_findings().map(|finding| {
        let parts = finding.occurrences[0].parts.iter();
        let places: Vec<String> = parts
            .map(|part| match &part.source.place {
                Some(place) => place.to_string(),
                None => "an unknown place".to_owned(),
            })
            .collect();
        format!("{} {} at {}", finding.kind.code(), finding.level.name(), places.join(" and "))
    });
    Analysed {
        events: project.traces.iter().map(|trace| trace.events).sum(),
        bytes,
        findings: (all - doubtful) as u64,
        doubtful: doubtful as u64,
        undecided: project.unknown(),
        lines: lines.collect(),
        problem: String::new(),
    }
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

impl Rewrite {
    fn apply(&self, package: &Path) -> Result<(), Error> {
        let path = package.join(self.file);
        let source = fs::read_to_string(&path)?;
        let found = source.matches(self.from).count();
        if found != 1 {
            return Err(format!("{} has `{}` {found} times, not once", self.file, self.from).into());
        }
        fs::write(path, source.replace(self.from, self.to))?;
        Ok(())
    }
}

/// Whether a source of a package says what its allocator is.
fn has_own_allocator(package: &Package) -> Result<bool, Error> {
    for folder in ["src", "tests"] {
        for path in package.sources(folder)? {
            if fs::read_to_string(path)?.contains("#[global_allocator]") {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a file is the root of a package's library or of one of its tests.
fn is_root(path: &Path, package: &Path) -> bool {
    path == package.join("src/lib.rs") || path.parent() == Some(&package.join("tests"))
}

/// Leaves out of the manifest the tests whose files are not there.
fn leave_out_tests(package: &mut Package) {
    let folder = package.folder().to_owned();
    let Some(tests) = package.manifest().get_mut("test").and_then(toml::Value::as_array_mut) else {
        return;
    };
    tests.retain(|test| {
        let path = test.get("path").and_then(toml::Value::as_str);
        path.is_none_or(|path| folder.join(path).exists())
    });
}

/// Whether a source uses a crate, and does not only speak of it.
fn uses(source: &str, name: &str) -> bool {
    [format!("{name}::"), format!("use {name}"), format!("extern crate {name}"), format!("{name}!")]
        .iter()
        .any(|used| source.contains(used))
}

/// Leaves out of the manifest the dependencies of tests that no file uses: those of benches.
fn leave_out_dependencies(package: &mut Package) -> Result<(), Error> {
    let mut text = String::new();
    for folder in ["src", "tests"] {
        for path in package.sources(folder)? {
            text.push_str(&fs::read_to_string(path)?);
        }
    }
    let table = package.manifest().get_mut("dev-dependencies");
    if let Some(dependencies) = table.and_then(toml::Value::as_table_mut) {
        dependencies.retain(|name, _| uses(&text, &name.replace('-', "_")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::uses;

    #[test]
    fn a_crate_that_is_only_spoken_of_is_not_used() {
        assert!(!uses("//! Measured with criterion.\n", "criterion"));
        assert!(uses("use criterion::Bencher;\n", "criterion"));
        assert!(uses("fn f() { rand::random() }", "rand"));
        assert!(uses("#[macro_use]\nextern crate lazy_static;", "lazy_static"));
        assert!(uses("proptest! {}", "proptest"));
    }
}
