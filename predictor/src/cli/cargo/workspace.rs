//! The workspace that we are in, and where things of ours are in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::super::Failure;
use super::traces;
use crate::child;
use crate::project::TraceFile;

/// A workspace.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    pub(super) packages: Vec<Package>,
    /// `racelog` in the target directory: traces, reports, and what is built for recording.
    pub(super) folder: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) manifest_path: PathBuf,
    /// The edition that it is written in.
    #[serde(default)]
    pub(super) edition: String,
    /// What `cargo run` runs.
    #[serde(default)]
    pub(super) default_run: Option<String>,
    #[serde(default)]
    pub(super) targets: Vec<Target>,
    dependencies: Vec<Dependency>,
}

/// What is built of a package.
#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub(super) name: String,
    /// Its first file.
    pub(super) src_path: PathBuf,
    kind: Vec<String>,
    /// Whether it has tests that run.
    #[serde(default)]
    pub(super) test: bool,
}

impl Target {
    /// Which sort it is, as flags of cargo call it.
    pub(super) fn sort(&self) -> &'static str {
        let sorts = ["bin", "test", "example", "bench", "custom-build"];
        sorts.into_iter().find(|sort| self.kind.iter().any(|kind| kind == sort)).unwrap_or("lib")
    }

    pub(super) fn is_library(&self) -> bool {
        self.sort() == "lib"
    }

    /// The name of its program.
    pub(super) fn program(&self) -> String {
        self.name.replace('-', "_")
    }
}

impl Package {
    pub(super) fn library(&self) -> Option<&Target> {
        self.targets.iter().find(|target| target.is_library())
    }

    /// What its code calls the crates that it depends on, and what these call themselves.
    pub(super) fn crates(&self) -> BTreeMap<String, String> {
        let own = |name: &str| name.replace('-', "_");
        let dependencies = self.dependencies.iter().map(|dependency| {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
            (own(name), own(&dependency.name))
        });
        dependencies.collect()
    }
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    #[serde(default)]
    rename: Option<String>,
    features: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
    packages: Vec<Package>,
}

/// The command that cargo says it is.
pub(super) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

impl Workspace {
    /// The workspace of a manifest, or of the current folder.
    pub(super) fn find(
        manifest: Option<&Path>,
        target_dir: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(cargo());
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if let Some(path) = manifest {
            command.arg("--manifest-path").arg(path);
        }
        let answer = child::ask(&mut command);
        let answer = answer.map_err(|error| Failure::of("cargo metadata", error.source))?;
        if !answer.end.is_success() {
            let said = String::from_utf8_lossy(&answer.stderr.bytes);
            return Err(Failure::Message(said.trim().trim_start_matches("error: ").to_owned()));
        }
        let metadata: Metadata = serde_json::from_slice(&answer.stdout.bytes)
            .map_err(|error| Failure::of("cargo metadata", error))?;
        let target = target_dir.map_or(metadata.target_directory, Path::to_owned);
        let target = std::path::absolute(&target).unwrap_or(target);
        Ok(Self {
            root: metadata.workspace_root,
            packages: metadata.packages,
            folder: target.join("racelog"),
        })
    }

    /// The traces that are there.
    pub(super) fn traces(&self) -> Result<Vec<TraceFile>, Failure> {
        if self.folder.is_dir() { traces::find(&self.folder) } else { Ok(Vec::new()) }
    }

    /// Where things are built for recording, so that other builds stay as they are.
    pub(super) fn build_folder(&self) -> PathBuf {
        self.folder.join("build")
    }

    /// The last report, for machines.
    pub(super) fn report(&self) -> PathBuf {
        self.folder.join("report.json")
    }

    /// The last report, for browsers.
    pub(super) fn html(&self) -> PathBuf {
        self.folder.join("report.html")
    }

    /// The packages that use racelog, but never with its feature `record`.
    pub(super) fn without_record(&self) -> impl Iterator<Item = &str> {
        let uses = |package: &&Package| package.dependencies.iter().any(|d| d.name == "racelog");
        let records = |package: &&Package| {
            let ours = package.dependencies.iter().filter(|d| d.name == "racelog");
            ours.flat_map(|d| &d.features).any(|f| f == "record" || f == "recorded-arc")
        };
        let packages = self.packages.iter().filter(uses).filter(move |p| !records(p));
        packages.map(|package| package.name.as_str())
    }

    /// Whether any package has a target of this kind and name; the name may be a pattern, of which
    /// nothing is known.
    pub(super) fn has_target(&self, kind: &str, name: &str) -> bool {
        let is = |target: &Target| target.name == name && target.kind.iter().any(|k| k == kind);
        name.contains(['*', '?', '[']) || self.packages.iter().any(|p| p.targets.iter().any(is))
    }

    /// Whether cargo knows a package by this specification.
    pub(super) fn knows_package(&self, specification: &str) -> bool {
        let member = |package: &Package| package.name == specification;
        if specification.contains(['*', '?', '[']) || self.packages.iter().any(member) {
            return true;
        }
        let mut command = Command::new(cargo());
        command.args(["pkgid", "--offline", "--manifest-path"]).arg(self.root.join("Cargo.toml"));
        // If it cannot be asked, nothing is known against it.
        child::ask(command.arg(specification)).map_or(true, |answer| answer.end.is_success())
    }

    /// Whether any package uses racelog at all.
    pub(super) fn uses_racelog(&self) -> bool {
        self.packages.iter().any(|package| package.dependencies.iter().any(|d| d.name == "racelog"))
    }

    /// What the compiler calls a file.
    pub(super) fn name_of(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        inside.to_string_lossy().replace('\\', "/")
    }

    /// All Rust files of the packages, as the compiler would call them.
    pub(super) fn source_files(&self) -> Vec<(String, PathBuf)> {
        let mut files = Vec::new();
        for package in &self.packages {
            if let Some(folder) = package.manifest_path.parent() {
                self.walk(folder, &mut files);
            }
        }
        files.sort();
        files.dedup();
        files
    }

    fn walk(&self, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                if name != "target" && !name.to_string_lossy().starts_with('.') {
                    self.walk(&path, files);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push((self.name_of(&path), path));
            }
        }
    }
}
