//! A crate whose sources are ours to change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

use super::{Error, fetch};
use crate::expected::repository;

/// A published crate in a folder of its own: a workspace of itself, without benches and examples.
#[derive(Debug)]
pub struct Package {
    name: String,
    version: String,
    folder: PathBuf,
    manifest: Table,
}

impl Package {
    /// The crate in a folder.
    pub(super) fn open(name: &str, version: &str, folder: PathBuf) -> Result<Self, Error> {
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?.parse()?;
        let mut package =
            Self { name: name.to_owned(), version: version.to_owned(), folder, manifest };
        package.stand_alone();
        package.save()?;
        Ok(package)
    }

    /// What the crate is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its manifest; [`save`](Self::save) writes it.
    pub fn manifest(&mut self) -> &mut Table {
        &mut self.manifest
    }

    /// The edition that it is written in.
    pub fn edition(&self) -> &str {
        let package = self.manifest.get("package");
        package.and_then(|package| package.get("edition")?.as_str()).unwrap_or("2015")
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self) -> Result<(), Error> {
        fs::write(self.folder.join("Cargo.toml"), toml::to_string(&self.manifest)?)?;
        Ok(())
    }

    /// Makes it depend on the racelog of this repository, with these features, in builds with
    /// `--cfg racelog`. [`save`](Self::save) writes it.
    pub fn depend_on_racelog(&mut self, features: &[&str]) {
        let features = features.iter().copied().map(Value::from).collect();
        let path = repository().join("racelog").display().to_string();
        let racelog = Table::from_iter([
            ("path".to_owned(), Value::String(path)),
            ("features".to_owned(), Value::Array(features)),
        ]);
        let dependencies = ["target", "cfg(racelog)", "dependencies"]
            .iter()
            .fold(&mut self.manifest, |at, key| table_in(at, key));
        dependencies.insert("racelog".to_owned(), Value::Table(racelog));
    }

    /// Has racelog leave the allocator to the package, for one of its tests has one of its own. After
    /// [`depend_on_racelog`](Self::depend_on_racelog).
    pub fn keep_own_allocator(&mut self) {
        let racelog = ["target", "cfg(racelog)", "dependencies", "racelog"]
            .iter()
            .fold(&mut self.manifest, |at, key| table_in(at, key));
        racelog.insert("default-features".to_owned(), Value::Boolean(false));
    }

    /// Leaves out a dependency of its tests, such as one that only benches need.
    /// [`save`](Self::save) writes it.
    pub fn leave_out(&mut self, dependency: &str) {
        table_in(&mut self.manifest, "dev-dependencies").remove(dependency);
    }

    /// Its Rust files in a folder, such as `src` or `tests`, and in all folders within; none if
    /// there is no such folder. In order of their names.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn sources(&self, folder: &str) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.join(folder)];
        while let Some(folder) = folders.pop().filter(|folder| folder.is_dir()) {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// `cargo COMMAND` in its folder, with a target folder beside it that all crates share. Nothing
    /// in the environment decides what is built or recorded but what is said here.
    pub fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new(fetch::cargo());
        let target = self.folder.parent().expect("it was copied to a folder").join("target");
        cargo.arg(command).current_dir(&self.folder).env("CARGO_TARGET_DIR", target);
        let decides = |name: &str| name.starts_with("RACELOG") || name.ends_with("RUSTFLAGS");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(decides) {
                cargo.env_remove(name);
            }
        }
        cargo
    }

    /// Leaves out what is not built: benches, examples, and tests that were not published.
    fn stand_alone(&mut self) {
        let (manifest, folder) = (&mut self.manifest, &self.folder);
        manifest.insert("workspace".to_owned(), Value::Table(Table::new()));
        for left_out in ["bench", "example"] {
            manifest.remove(left_out);
        }
        let package = table_in(manifest, "package");
        for automatic in ["autobenches", "autoexamples"] {
            package.insert(automatic.to_owned(), Value::Boolean(false));
        }
        if let Some(Value::Array(tests)) = manifest.get_mut("test") {
            tests.retain(|test| {
                let text = |key: &str| test.get(key).and_then(Value::as_str);
                let by_name = || text("name").map(|name| format!("tests/{name}.rs"));
                let path = text("path").map(str::to_owned).or_else(by_name);
                path.is_some_and(|path| folder.join(path).exists())
            });
        }
    }
}

/// The table of this name, which is made if there is none.
fn table_in<'a>(table: &'a mut Table, key: &str) -> &'a mut Table {
    let entry = table.entry(key.to_owned()).or_insert_with(|| Value::Table(Table::new()));
    entry.as_table_mut().expect("cargo asks for a table there, too")
}
