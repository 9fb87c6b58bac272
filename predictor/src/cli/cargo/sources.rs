//! The source files of the workspace.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::say;
use super::workspace::Workspace;
use crate::project::{Sources, Suppression, suppressions_in};

/// Reads source files, each once.
pub(super) struct Files {
    /// Where relative names may start.
    roots: Vec<PathBuf>,
    known: Mutex<HashMap<String, Option<Arc<str>>>>,
}

impl Files {
    pub(super) fn new(workspace: &Workspace) -> Self {
        let packages = workspace.packages.iter().filter_map(|p| p.manifest_path.parent());
        let roots = [workspace.root.clone()].into_iter().chain(packages.map(PathBuf::from));
        Self { roots: roots.collect(), known: Mutex::default() }
    }
}

impl Sources for Files {
    fn read(&self, file: &str) -> Option<Arc<str>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let texts = self.roots.iter().map(|root| fs::read_to_string(root.join(file)));
            texts.flatten().next().map(Arc::from)
        };
        known.entry(file.to_owned()).or_insert_with(read).clone()
    }
}

/// The suppressions in the comments of the workspace. What is wrong with one is said.
pub(super) fn suppressions(workspace: &Workspace) -> Vec<Suppression> {
    let mut found = Vec::new();
    for (name, path) in workspace.source_files() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        match suppressions_in(&name, &text) {
            Ok(some) => found.extend(some),
            Err(problem) => say("warning", problem),
        }
    }
    found
}
