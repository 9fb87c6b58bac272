//! Takes imports from racelog that come from std: the modules `sync`, `thread`, `cell` and `hint`
//! of `std`, `core` and `alloc`, wherever a path names them; and `#[test]`.
//!
//! It goes by tokens, so that the bodies of macros are changed as well. The paths are global, so
//! that edition 2015 understands them in every module.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::edit::Edits;
use crate::registry::Error;

/// The crates whose modules are mirrored, and these modules.
const LIBRARIES: [&str; 3] = ["std", "core", "alloc"];
const MIRRORED: [&str; 4] = ["sync", "thread", "cell", "hint"];

/// The source with its imports changed.
///
/// # Errors
/// If it is no Rust.
pub fn convert(source: &str) -> Result<String, Error> {
    let tokens: TokenStream = source.parse().map_err(|error| format!("no Rust: {error}"))?;
    let mut edits = Edits::default();
    walk(source, tokens, &mut edits);
    Ok(edits.apply(source))
}

fn walk(source: &str, tokens: TokenStream, edits: &mut Edits) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(name) = test_attribute(&tokens[at..]) {
            edits.replace(name, "::racelog::test");
            at += 2;
            continue;
        }
        match library_path(&tokens, at) {
            Some(Path::Mirrored) => {
                edits.replace(place(&tokens[at]), racelog(&tokens, at));
                at += 3;
            }
            Some(Path::List(list)) => {
                split(source, &tokens[at], list, racelog(&tokens, at), edits);
                at += 4;
            }
            None => {
                if let TokenTree::Group(group) = &tokens[at] {
                    walk(source, group.stream(), edits);
                }
                at += 1;
            }
        }
    }
}

fn place(token: &TokenTree) -> Range<usize> {
    token.span().byte_range()
}

/// What a path begins with that replaces one of a library.
fn racelog(tokens: &[TokenTree], library: usize) -> &'static str {
    if follows_colons(tokens, library) { "racelog" } else { "::racelog" }
}

/// Whether `::` stands before a token.
fn follows_colons(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && is_colons(tokens, at - 2)
}

/// Whether a token is the first of `::`.
fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(at) && colon(at + 1)
}

/// The name in `#[test]`.
fn test_attribute(tokens: &[TokenTree]) -> Option<Range<usize>> {
    let [TokenTree::Punct(hash), TokenTree::Group(group), ..] = tokens else { return None };
    if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let mut inside = group.stream().into_iter();
    match (inside.next(), inside.next()) {
        (Some(TokenTree::Ident(name)), None) if name == "test" => Some(name.span().byte_range()),
        _ => None,
    }
}

/// A path that begins with the name of a library.
enum Path<'a> {
    /// It goes on with a module that is mirrored.
    Mirrored,
    /// It goes on with a list.
    List(&'a Group),
}

fn library_path(tokens: &[TokenTree], at: usize) -> Option<Path<'_>> {
    let TokenTree::Ident(library) = &tokens[at] else { return None };
    if !LIBRARIES.iter().any(|name| library == name) || !is_colons(tokens, at + 1) {
        return None;
    }
    // `a::std::sync` is a path in a module of the crate; `::std::sync` is not.
    if at >= 3 && follows_colons(tokens, at) {
        let before = &tokens[at - 3];
        let keyword = |word: &proc_macro2::Ident| {
            ["use", "in", "as", "dyn", "impl", "for", "return", "mut", "const", "unsafe", "where"]
                .iter()
                .any(|keyword| word == keyword)
        };
        if matches!(before, TokenTree::Ident(word) if !keyword(word)) {
            return None;
        }
    }
    match tokens.get(at + 3)? {
        TokenTree::Ident(module) if MIRRORED.iter().any(|name| module == name) => {
            Some(Path::Mirrored)
        }
        TokenTree::Group(list) if list.delimiter() == Delimiter::Brace => Some(Path::List(list)),
        _ => None,
    }
}

/// Splits `std::{fmt, sync::Arc}` into `{std::{fmt}, racelog::{sync::Arc}}`.
fn split(source: &str, library: &TokenTree, list: &Group, racelog: &str, edits: &mut Edits) {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    let mut item: Vec<TokenTree> = Vec::new();
    let mut sort = |item: &mut Vec<TokenTree>| {
        let (Some(first), Some(last)) = (item.first(), item.last()) else { return };
        let text = &source[place(first).start..place(last).end];
        let mirrored = MIRRORED.iter().any(|name| first.to_string() == *name);
        if mirrored {
            ours.push(text);
        } else {
            theirs.push(text);
        };
        item.clear();
    };
    for token in list.stream() {
        match &token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => sort(&mut item),
            _ => item.push(token),
        }
    }
    sort(&mut item);
    if ours.is_empty() {
        return;
    }
    let (theirs, ours) = (theirs.join(", "), ours.join(", "));
    let text = match theirs.is_empty() {
        true => format!("{racelog}::{{{ours}}}"),
        false => format!("{{{library}::{{{theirs}}}, {racelog}::{{{ours}}}}}"),
    };
    edits.replace(place(library).start..list.span().byte_range().end, text);
}

#[cfg(test)]
mod tests {
    use super::convert;

    #[track_caller]
    fn becomes(before: &str, after: &str) {
        assert_eq!(convert(before).unwrap(), after);
    }

    #[test]
    fn paths_to_what_is_mirrored_are_changed_and_no_others() {
        becomes("use std::sync::Arc;", "use ::racelog::sync::Arc;");
        becomes(
            "pub(crate) use core::cell::UnsafeCell as C;",
            "pub(crate) use ::racelog::cell::UnsafeCell as C;",
        );
        becomes("use ::alloc::sync::Arc;", "use ::racelog::sync::Arc;");
        becomes("use std::fmt; use crate::std::sync::X;", "use std::fmt; use crate::std::sync::X;");
        becomes(
            "fn f() { std::thread::yield_now(); std::mem::drop(0) }",
            "fn f() { ::racelog::thread::yield_now(); std::mem::drop(0) }",
        );
        becomes(
            "macro_rules! m { () => { std::hint::spin_loop() } }",
            "macro_rules! m { () => { ::racelog::hint::spin_loop() } }",
        );
        becomes(
            "// std::sync\nconst S: &str = \"std::sync\";",
            "// std::sync\nconst S: &str = \"std::sync\";",
        );
    }

    #[test]
    fn lists_are_split() {
        becomes(
            "use std::{fmt, sync::{Arc, atomic::*}, thread};",
            "use {std::{fmt}, ::racelog::{sync::{Arc, atomic::*}, thread}};",
        );
        becomes("use ::std::{fmt, sync::Arc};", "use ::{std::{fmt}, racelog::{sync::Arc}};");
        becomes("use core::{cell::Cell};", "use ::racelog::{cell::Cell};");
        becomes("use std::{fmt, io};", "use std::{fmt, io};");
    }

    #[test]
    fn tests_are_ours() {
        becomes("#[test]\n#[ignore]\nfn a() {}", "#[::racelog::test]\n#[ignore]\nfn a() {}");
        becomes(
            "#[cfg(test)] mod tests { #[test] fn a() {} }",
            "#[cfg(test)] mod tests { #[::racelog::test] fn a() {} }",
        );
    }
}
