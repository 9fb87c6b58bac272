//! Types and functions that programs use and racelog does not record, found in their sources.
//!
//! A lock of std's orders accesses, and no trace says so: a race that is predicted there may be
//! none. The recorder cannot know, but the source can be read. A crate is read as the compiler
//! would read it: from its first file, along its modules, without what `#[cfg]` takes away (`cfg`,
//! `modules`). Every import and every path is followed to what it stands for (`resolve`), in the
//! arguments of macros as far as they look like paths (`walk`), and `known` says of the names of
//! std and of other crates which of them synchronise.
//!
//! Guaranteed: each name that is listed stands in code that is compiled, or may be. Missed: the
//! code that macros of other crates expand to, files that `include!` brings, and crates that
//! `known` does not list.
//!
//! This reads no files: its caller does.

mod cfg;
mod known;
mod list;
mod modules;
mod resolve;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeMap;

pub use self::cfg::{Cfg, Truth};
pub use self::known::is_synchronising;
pub use self::list::{Dependency, Unread, Unrecorded, Use, What};
use self::modules::Crate;

/// A crate to read.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its first file.
    pub file: String,
    /// What is set when it is compiled.
    pub cfg: Cfg,
    /// What it calls the crates that it depends on, and what these call themselves. std is always
    /// there.
    pub crates: BTreeMap<String, String>,
    /// Whether racelog's `Arc` is its own, and recorded.
    pub recorded_arc: bool,
    /// The programs that this crate is in.
    pub programs: Vec<String>,
}

/// Lists what a crate uses. `read` gives the text of a file, by the name of the first one with
/// another last part.
pub fn scan(root: &Root, read: &dyn Fn(&str) -> Option<String>) -> Unrecorded {
    let mut crates = root.crates.clone();
    for name in ["std", "core", "alloc"] {
        crates.insert(name.to_owned(), name.to_owned());
    }
    let mut krate = Crate::read(&root.file, &root.cfg, read);
    let unread = std::mem::take(&mut krate.unread);
    let allocators = krate.allocators(&root.cfg);
    let mut all = Unrecorded { unread, allocators, ..Unrecorded::default() };
    for module in 0..krate.modules.len() {
        all.add(walk::walk(&krate, module, &crates, &root.cfg, root.recorded_arc));
    }
    for one in all.uses.iter_mut().chain(&mut all.drops) {
        one.programs.clone_from(&root.programs);
    }
    for one in &mut all.unread {
        one.programs.clone_from(&root.programs);
    }
    all
}
