//! The source files that may be shown: those of the workspace, the toolchain and the registry.
//!
//! A trace names files, and its author chose the names. What lies elsewhere is not shown, and
//! what is no plain file is not even opened.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::{regular, say};
use super::workspace::Workspace;
use crate::project::{Sources, Suppression, suppressions_in};

/// The largest source file that is read.
const LARGEST: u64 = 16 << 20;

/// Reads source files, each once.
pub(super) struct Files {
    /// Where relative names may start.
    starts: Vec<PathBuf>,
    /// The folders that files are shown from. There are no links in their paths.
    rooms: Vec<PathBuf>,
    known: Mutex<HashMap<String, Option<Arc<str>>>>,
}

impl Files {
    pub(super) fn new(workspace: &Workspace) -> Self {
        let packages = workspace.packages.iter().filter_map(|p| p.manifest_path.parent());
        let starts = [workspace.root.clone()].into_iter().chain(packages.map(PathBuf::from));
        let starts: Vec<PathBuf> = starts.collect();
        // What build scripts have written is built with the rest.
        let rooms = starts.iter().cloned().chain([workspace.build_folder()]).chain(others());
        let rooms = rooms.filter_map(|room| fs::canonicalize(room).ok()).collect();
        Self { starts, rooms, known: Mutex::default() }
    }

    /// The text of a file, if it may be shown.
    fn open(&self, path: &Path) -> Option<String> {
        // Follows links, and opens nothing.
        let real = fs::canonicalize(path).ok()?;
        let is_shown = |room: &PathBuf| {
            real.strip_prefix(room).is_ok_and(|inside| !inside.components().any(is_hidden))
        };
        if !self.rooms.iter().any(is_shown) {
            return None;
        }
        regular::read(&real, LARGEST).ok()
    }
}

/// Names that begin with a dot are those of settings and secrets.
fn is_hidden(part: Component<'_>) -> bool {
    part.as_os_str().as_encoded_bytes().starts_with(b".")
}

/// The sources of dependencies and of the standard library.
fn others() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    let home = home.map(PathBuf::from);
    let of = |variable: &str, usual: &str| {
        let set = std::env::var_os(variable).map(PathBuf::from);
        set.or_else(|| home.as_ref().map(|home| home.join(usual)))
    };
    let cargo = of("CARGO_HOME", ".cargo");
    let cargo = cargo.into_iter().flat_map(|c| [c.join("registry/src"), c.join("git/checkouts")]);
    let toolchains = of("RUSTUP_HOME", ".rustup").map(|rustup| rustup.join("toolchains"));
    let toolchains = toolchains.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let toolchains = toolchains.flatten().map(|toolchain| toolchain.path().join("lib"));
    let toolchains = toolchains.chain(["/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    cargo.chain(toolchains.map(|lib| lib.join("rustlib/src"))).collect()
}

impl Sources for Files {
    fn read(&self, file: &str) -> Option<Arc<str>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || self.starts.iter().find_map(|start| self.open(&start.join(file)));
        known.entry(file.to_owned()).or_insert_with(|| read().map(Arc::from)).clone()
    }
}

/// The suppressions in the comments of the workspace. What is wrong with one is said.
pub(super) fn suppressions(workspace: &Workspace, files: &Files) -> Vec<Suppression> {
    let mut found = Vec::new();
    for (name, path) in workspace.source_files() {
        let Some(text) = files.open(&path) else { continue };
        let (some, problems) = suppressions_in(&name, &text);
        found.extend(some);
        for problem in problems {
            say("warning", problem);
        }
    }
    found
}
