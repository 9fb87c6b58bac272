//! What a name in a module stands for.
//!
//! This is as much of Rust's name resolution as it takes to tell whose `Mutex` it is: imports,
//! globs, modules, crates and names for types. Of macros, visibility and the three name spaces it
//! knows nothing; where it is at a loss, a name is the crate's own.

use std::collections::BTreeMap;

use super::known::{Verdict, brings, verdict};
use super::modules::{Crate, Import};
use crate::finding::Place;

/// How many imports of imports are followed.
const DEEPEST: usize = 16;

/// What a path stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// Something of another crate: the full path, whose first segment is what that crate calls
    /// itself.
    Other(Vec<String>),
    /// A module of this crate.
    Module(usize),
    /// Something else of this crate, or of nobody knows whom.
    Own,
}

/// What a path stands for, and how that was found out.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) found: Found,
    /// Whether an import on the way is listed itself: then this is the same thing.
    pub(super) is_listed: bool,
    /// The import in the scope of the path that its first name comes from.
    pub(super) import: Option<Place>,
}

impl Resolved {
    const OWN: Self = Self { found: Found::Own, is_listed: false, import: None };

    fn new(found: Found) -> Self {
        Self { found, is_listed: false, import: None }
    }
}

/// A block with names of its own.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) imports: Vec<Import>,
    pub(super) names: Vec<String>,
}

/// Where a path stands.
pub(super) struct Scope<'a> {
    pub(super) krate: &'a Crate,
    /// The crates that can be named, and what they call themselves.
    pub(super) crates: &'a BTreeMap<String, String>,
    pub(super) recorded_arc: bool,
    pub(super) module: usize,
    pub(super) frames: &'a [Frame],
}

impl Scope<'_> {
    /// What a path stands for.
    pub(super) fn resolve(&self, path: &[String], leading: bool) -> Resolved {
        self.path(self.module, self.frames, path, leading, 0)
    }

    /// Whether a full path is something that is listed.
    pub(super) fn verdict(&self, path: &[String]) -> Verdict {
        verdict(path, self.recorded_arc)
    }

    /// The module within another, which has none of the names of the blocks around this path.
    fn path(
        &self,
        module: usize,
        frames: &[Frame],
        path: &[String],
        leading: bool,
        depth: usize,
    ) -> Resolved {
        let Some(((first, mut rest), true)) = path.split_first().map(|it| (it, depth < DEEPEST))
        else {
            return Resolved::OWN;
        };
        let mut resolved = match first.as_str() {
            _ if leading => self.krate_named(first),
            "crate" | "$crate" => Resolved::new(Found::Module(0)),
            "self" => Resolved::new(Found::Module(module)),
            "super" => {
                let mut at = self.krate.modules[module].parent.unwrap_or(0);
                while let Some(("super", more)) = rest.split_first().map(|(a, b)| (a.as_str(), b)) {
                    at = self.krate.modules[at].parent.unwrap_or(0);
                    rest = more;
                }
                Resolved::new(Found::Module(at))
            }
            name => match self.first(module, frames, name, depth) {
                Some(resolved) => resolved,
                None => self.krate_named(name),
            },
        };
        for name in rest {
            resolved.found = match resolved.found {
                Found::Own => return resolved,
                Found::Other(mut path) => {
                    path.push(name.clone());
                    Found::Other(path)
                }
                Found::Module(at) => match self.member(at, name, depth + 1) {
                    Some(inner) => {
                        resolved.is_listed |= inner.is_listed;
                        inner.found
                    }
                    None => Found::Own,
                },
            };
        }
        resolved
    }

    fn krate_named(&self, name: &str) -> Resolved {
        match self.crates.get(name) {
            Some(own_name) => Resolved::new(Found::Other(vec![own_name.clone()])),
            None => Resolved::OWN,
        }
    }

    /// The first name of a path: of the blocks around it, or of the module.
    fn first(&self, module: usize, frames: &[Frame], name: &str, depth: usize) -> Option<Resolved> {
        for (at, frame) in frames.iter().enumerate().rev() {
            let around = &frames[..at];
            let named = frame.imports.iter().filter(|it| it.name.as_deref() == Some(name));
            let mut named = named.map(|import| self.import(module, around, import, depth));
            if let Some(resolved) = named.next() {
                return Some(resolved);
            }
            if frame.names.iter().any(|it| it == name) {
                return Some(Resolved::OWN);
            }
            let mut globs = frame.imports.iter().filter(|it| it.name.is_none());
            if let Some(it) = globs.find_map(|it| self.glob(module, around, it, name, depth)) {
                return Some(it);
            }
        }
        self.member(module, name, depth)
    }

    /// What is called so in a module.
    fn member(&self, module: usize, name: &str, depth: usize) -> Option<Resolved> {
        if depth >= DEEPEST {
            return None;
        }
        let all = &self.krate.modules[module];
        if let Some(child) = all.children.get(name) {
            return Some(Resolved::new(Found::Module(*child)));
        }
        // An import may go by the very name that it gives: `use racelog::sync; use sync::Mutex;`.
        let named = all.imports.iter().filter(|it| {
            let is_itself = !it.leading && it.path.len() == 1 && it.path[0] == name;
            it.name.as_deref() == Some(name) && !is_itself
        });
        let mut first = None;
        for import in named {
            let resolved = self.import(module, &[], import, depth);
            if matches!(resolved.found, Found::Other(_) | Found::Module(_)) {
                return Some(resolved);
            }
            first.get_or_insert(resolved);
        }
        if first.is_some() {
            return first;
        }
        if all.names.contains(name) {
            return Some(Resolved::OWN);
        }
        let mut globs = all.imports.iter().filter(|it| it.name.is_none());
        globs.find_map(|import| self.glob(module, &[], import, name, depth))
    }

    /// What an import stands for.
    fn import(&self, module: usize, around: &[Frame], import: &Import, depth: usize) -> Resolved {
        let mut resolved = self.path(module, around, &import.path, import.leading, depth + 1);
        if let Found::Other(path) = &resolved.found {
            resolved.is_listed |= !import.is_alias && self.verdict(path) != Verdict::Fine;
        }
        resolved.import = Some(import.place.clone());
        resolved
    }

    /// What a glob import brings by this name.
    fn glob(
        &self,
        module: usize,
        around: &[Frame],
        import: &Import,
        name: &str,
        depth: usize,
    ) -> Option<Resolved> {
        let from = self.path(module, around, &import.path, import.leading, depth + 1);
        let mut resolved = match from.found {
            Found::Other(mut path) if brings(&path, name) => {
                let mut glob = path.clone();
                glob.push("*".to_owned());
                path.push(name.to_owned());
                let is_listed = from.is_listed || self.verdict(&glob) != Verdict::Fine;
                Resolved { found: Found::Other(path), is_listed, import: None }
            }
            Found::Module(other) if other != module => self.member(other, name, depth + 1)?,
            _ => return None,
        };
        resolved.import = Some(import.place.clone());
        Some(resolved)
    }
}
