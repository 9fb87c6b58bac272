//! What the first file of a crate says that matters to its façade.

use syn::spanned::Spanned;
use syn::{Attribute, File, Item, Meta, UseTree};

/// The first file of a crate.
pub(super) struct Root {
    text: String,
    file: File,
    /// What the compiler skips before it reads the file.
    skipped: usize,
}

/// What stands for the module `sync` already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// It is in a file of its own.
    File,
    /// It is here.
    Here,
    /// The name is something else's.
    ByAnother,
}

/// Which std there is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Std {
    Always,
    Never,
    /// When this condition does not hold, as `cfg` has it.
    Unless(String),
}

/// A crate that the file names with `extern crate`, and on which conditions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Extern {
    pub(super) conditions: Vec<String>,
}

impl Root {
    /// Reads the file; `None` if it is no Rust that is understood.
    pub(super) fn read(text: String) -> Option<Self> {
        let file = syn::parse_file(&text).ok()?;
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let skipped = mark + file.shebang.as_ref().map_or(0, String::len);
        Some(Self { text, file, skipped })
    }

    /// The text with lines put before the first item, after what the file says of itself.
    pub(super) fn with(&self, lines: &str) -> String {
        let at = self.first_item();
        let gap = if self.text[at..].trim().is_empty() { "" } else { "\n" };
        format!("{}{lines}{gap}{}", &self.text[..at], &self.text[at..])
    }

    /// Where the first item starts: at the beginning of a line, if it does.
    fn first_item(&self) -> usize {
        let start = |item: &Item| self.skipped + item.span().byte_range().start;
        let item = self.file.items.first().map_or(self.text.len(), start);
        let line = self.text[..item].rfind('\n').map_or(0, |newline| newline + 1);
        if self.text[line..item].trim().is_empty() { line } else { item }
    }

    /// What the name `sync` stands for already.
    pub(super) fn taken(&self) -> Option<Taken> {
        let items = self.file.items.iter();
        let taken = items.filter_map(|item| match item {
            Item::Mod(module) if module.ident == "sync" => Some(match module.content {
                None => Taken::File,
                Some(_) => Taken::Here,
            }),
            Item::Use(import) if imports(&import.tree) => Some(Taken::ByAnother),
            Item::ExternCrate(it) => {
                let name = it.rename.as_ref().map_or(&it.ident, |(_, name)| name);
                (name == "sync").then_some(Taken::ByAnother)
            }
            Item::Struct(it) => (it.ident == "sync").then_some(Taken::ByAnother),
            Item::Enum(it) => (it.ident == "sync").then_some(Taken::ByAnother),
            Item::Trait(it) => (it.ident == "sync").then_some(Taken::ByAnother),
            Item::Type(it) => (it.ident == "sync").then_some(Taken::ByAnother),
            _ => None,
        });
        taken.min_by_key(|taken| *taken == Taken::ByAnother)
    }

    /// Which std there is.
    pub(super) fn std(&self) -> Std {
        let attributes = self.file.attrs.iter();
        let mut found = attributes.filter_map(|attribute| {
            if attribute.path().is_ident("no_std") {
                return Some(Std::Never);
            }
            let Meta::List(list) = &attribute.meta else { return None };
            let text = list.tokens.to_string();
            let (condition, what) = split_last(&text)?;
            let is_it = list.path.is_ident("cfg_attr") && what == "no_std";
            is_it.then(|| Std::Unless(condition.to_owned()))
        });
        found.next_back().unwrap_or(Std::Always)
    }

    /// `extern crate` of this name, if there is one.
    pub(super) fn names_crate(&self, name: &str) -> Option<Extern> {
        self.file.items.iter().find_map(|item| match item {
            Item::ExternCrate(it) if it.ident == name && it.rename.is_none() => {
                Some(Extern { conditions: it.attrs.iter().filter_map(condition).collect() })
            }
            _ => None,
        })
    }
}

/// What an attribute `cfg` asks for.
fn condition(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => Some(list.tokens.to_string()),
        _ => None,
    }
}

/// What stands before the last comma, and what after it.
fn split_last(text: &str) -> Option<(&str, &str)> {
    let (before, after) = text.trim_end_matches([',', ' ']).rsplit_once(',')?;
    Some((before.trim(), after.trim()))
}

/// Whether an import gives something the name `sync`.
fn imports(tree: &UseTree) -> bool {
    match tree {
        UseTree::Path(path) => match &*path.tree {
            // `use a::sync::{self}`.
            UseTree::Group(group) if path.ident == "sync" => group.items.iter().any(is_self),
            tree => imports(tree),
        },
        UseTree::Name(name) => name.ident == "sync",
        UseTree::Rename(rename) => rename.rename == "sync",
        UseTree::Glob(_) => false,
        UseTree::Group(group) => group.items.iter().any(imports),
    }
}

fn is_self(tree: &UseTree) -> bool {
    matches!(tree, UseTree::Name(name) if name.ident == "self") || imports(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(text: &str) -> Root {
        Root::read(text.to_owned()).expect("it is Rust")
    }

    #[test]
    fn items_come_after_the_head() {
        let heads = [
            "//! Docs.\n\n#![allow(\n    dead_code,\n)]\n\n",
            "// Copyright.\n// All of it.\n\n//! Docs.\n\n",
            "/*\n * A licence.\n */\n\n/*! Docs,\n    long. */\n#![no_std]\n\n",
            "#!/usr/bin/env run\n//! A script.\n",
            "\u{feff}// Marked.\n",
            "",
        ];
        for head in heads {
            let text = format!("{head}/// A.\nfn a() {{}}\n");
            assert_eq!(
                root(&text).with("mod sync;\n"),
                format!("{head}mod sync;\n\n/// A.\nfn a() {{}}\n")
            );
        }
        assert_eq!(root("//! Only docs.\n").with("mod sync;\n"), "//! Only docs.\nmod sync;\n");
        assert!(Root::read("fn (".to_owned()).is_none());
    }

    #[test]
    fn a_name_that_is_taken_is_noticed() {
        assert_eq!(root("mod a;").taken(), None);
        assert_eq!(root("use std::sync::Arc; use std::sync::{Mutex};").taken(), None);
        assert_eq!(root("pub(crate) mod sync;").taken(), Some(Taken::File));
        assert_eq!(root("mod sync { pub use std::sync::*; }").taken(), Some(Taken::Here));
        for text in ["use std::sync;", "use std::{fmt, sync::{self, Arc}};", "use a::b as sync;"] {
            assert_eq!(root(text).taken(), Some(Taken::ByAnother), "{text}");
        }
    }

    #[test]
    fn it_is_known_which_std_there_is() {
        assert_eq!(root("//! A.").std(), Std::Always);
        assert_eq!(root("#![no_std]").std(), Std::Never);
        let unless = |condition: &str| Std::Unless(condition.to_owned());
        assert_eq!(root("#![cfg_attr(not(test), no_std)]").std(), unless("not (test)"));
        let named = root("#[cfg(feature = \"std\")]\nextern crate std;").names_crate("std");
        assert_eq!(named.expect("it is there").conditions, ["feature = \"std\""]);
        assert_eq!(root("extern crate alloc as a;").names_crate("alloc"), None);
    }
}
