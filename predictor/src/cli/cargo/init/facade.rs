//! The module that a crate imports from instead of std.

use super::root::{Root, Std};

/// What a crate with all of std imports from.
pub(super) const PLAIN: &str = "\
//! What this crate imports instead of `std::sync`, `std::thread`, `std::cell` and `std::time`.
//!
//! `cargo racelog` builds with `--cfg racelog`; in all other builds these are std's.

#![allow(unused_imports)]

#[cfg(racelog)]
pub(crate) use racelog::{cell, hint, sync::*, test, thread, time};

#[cfg(not(racelog))]
pub(crate) use std::{cell, hint, prelude::v1::test, sync::*, thread, time};
";

/// The façade of a crate with this first file. If no lint is told of the cfg, it has to allow it.
pub(super) fn text(root: &Root, told: bool) -> String {
    let text = match root.std() {
        Std::Always => PLAIN.to_owned(),
        std => without_std(root, &std),
    };
    match told {
        true => text,
        false => {
            text.replace("#![allow(unused_imports)]", "#![allow(unexpected_cfgs, unused_imports)]")
        }
    }
}

/// Of a crate that has `core` for sure, and `alloc` and std only as it says.
fn without_std(root: &Root, std: &Std) -> String {
    let mut text = String::from(
        "\
//! What this crate imports instead of `core::sync`, `core::cell` and `core::hint`, and where it has
//! them, of `alloc` and `std`.
//!
//! `cargo racelog` builds with `--cfg racelog`, and then all is there; in all other builds these are
//! the originals.

#![allow(unused_imports)]

#[cfg(racelog)]
pub(crate) use racelog::{cell, hint, sync::*, test, thread, time};

#[cfg(not(racelog))]
pub(crate) use core::{cell, hint, prelude::v1::test, sync::*};
",
    );
    let mut also = |conditions: &[String], what: &str| {
        text.push_str("\n#[cfg(not(racelog))]\n");
        conditions.iter().for_each(|condition| text.push_str(&format!("#[cfg({condition})]\n")));
        text.push_str(&format!("pub(crate) use {what};\n"));
    };
    if let Some(alloc) = root.names_crate("alloc") {
        also(&alloc.conditions, "alloc::sync::*");
    }
    match (root.names_crate("std"), std) {
        (Some(std), _) => also(&std.conditions, "std::{sync::*, thread, time}"),
        (None, Std::Unless(condition)) => {
            also(&[format!("not({condition})")], "std::{sync::*, thread, time}");
        }
        (None, _) => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_without_std_imports_what_it_has() {
        let root = |text: &str| Root::read(text.to_owned()).expect("it is Rust");
        assert_eq!(text(&root("//! A."), true), PLAIN);
        assert!(
            text(&root("//! A."), false).contains("#![allow(unexpected_cfgs, unused_imports)]")
        );
        let of = text(&root("#![no_std]\nextern crate alloc;"), true);
        assert!(of.contains("use core::{cell,") && !of.contains("use std::"), "{of}");
        assert!(of.ends_with("#[cfg(not(racelog))]\npub(crate) use alloc::sync::*;\n"), "{of}");
        let of = text(&root("#![cfg_attr(not(feature = \"std\"), no_std)]"), true);
        let std =
            "#[cfg(not(not (feature = \"std\")))]\npub(crate) use std::{sync::*, thread, time};\n";
        assert!(of.ends_with(std), "{of}");
        let of = text(&root("#![no_std]\n#[cfg(feature = \"std\")]\nextern crate std;"), true);
        assert!(of.contains("#[cfg(feature = \"std\")]\npub(crate) use std::"), "{of}");
    }
}
