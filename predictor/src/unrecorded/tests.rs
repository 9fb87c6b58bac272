//! Small sources, and what they use.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// What a crate of these files uses: `line:column name`, or with the file before it where there are
/// several.
fn uses_of(files: &[(&str, &str)], change: impl FnOnce(&mut Root)) -> Vec<String> {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let crates = ["racelog", "parking_lot", "rayon", "tokio", "once_cell", "crossbeam"];
    let mut root = Root {
        file: files[0].0.to_owned(),
        cfg: Cfg::new(Truth::Yes),
        crates: crates.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect(),
        recorded_arc: true,
        programs: vec!["program".to_owned()],
    };
    change(&mut root);
    let mut found = scan(&root, &|file| texts.get(file).map(|text| (*text).to_owned()));
    assert_eq!(found.unread, [], "all of it can be read");
    found.add_drops();
    let uses = found.uses.iter().map(|one| {
        let place = match files.len() {
            1 => format!("{}:{}", one.place.line, one.place.column),
            _ => one.place.to_string(),
        };
        format!("{place} {}", one.name)
    });
    uses.collect()
}

fn uses(text: &str) -> Vec<String> {
    uses_of(&[("src/lib.rs", text)], |_| ())
}

#[test]
fn imports_are_listed_by_place() {
    for (text, found) in [
        ("use std::sync::Mutex;", &["1:16 std::sync::Mutex"][..]),
        ("use ::std::sync::Mutex;", &["1:18 std::sync::Mutex"]),
        ("use std::sync::Mutex as M;\nfn f(_: M<u8>) {}", &["1:16 std::sync::Mutex"]),
        (
            "use std::{sync::{Mutex, atomic::{AtomicU8, Ordering}}, thread};\nfn f() { thread::spawn(|| ()); }",
            &[
                "1:18 std::sync::Mutex",
                "1:34 std::sync::atomic::AtomicU8",
                "1:56 std::thread::spawn",
            ],
        ),
        ("use std::sync::*;\nfn f(_: Mutex<u8>) {}", &["1:16 std::sync::*"]),
        ("use std::sync::{self};\nfn f(_: sync::RwLock<u8>) {}", &["1:17 std::sync::RwLock"]),
        ("use std::sync::{self as s};\nfn f(_: s::Once) {}", &["1:17 std::sync::Once"]),
        ("use core::sync::atomic::AtomicBool;", &["1:25 core::sync::atomic::AtomicBool"]),
        (
            "use std::sync::mpsc;\nfn f() { mpsc::channel::<u8>(); }",
            &["1:16 std::sync::mpsc::channel"],
        ),
        ("use parking_lot::Mutex;", &["1:18 parking_lot::Mutex"]),
        ("use once_cell::sync::Lazy;", &["1:22 once_cell::sync::Lazy"]),
        ("use rayon::prelude::*;", &["1:21 rayon::prelude::*"]),
        ("extern crate parking_lot as pl;\nuse pl::Mutex;", &["2:9 parking_lot::Mutex"]),
        ("pub(crate) use std::thread::JoinHandle;", &["1:29 std::thread::JoinHandle"]),
        ("fn f() { use std::sync::Mutex; Mutex::new(1); }", &["1:25 std::sync::Mutex"]),
    ] {
        assert_eq!(uses(text), found, "{text}");
    }
}

#[test]
fn paths_are_listed_by_place() {
    for (text, found) in [
        ("fn f() { std::sync::Mutex::new(1); }", &["1:10 std::sync::Mutex"][..]),
        ("static A: std::sync::atomic::AtomicU8 = todo!();", &["1:11 std::sync::atomic::AtomicU8"]),
        ("struct A { a: Vec<std::sync::RwLock<u8>> }", &["1:19 std::sync::RwLock"]),
        ("fn f() { ::std::thread::scope(|_| ()); }", &["1:10 std::thread::scope"]),
        ("fn f() { rayon::join(|| (), || ()); }", &["1:10 rayon::join"]),
        ("#[tokio::test] async fn f() {}", &["1:3 tokio::test"]),
        ("#[cfg_attr(racelog, tokio::test)] async fn f() {}", &["1:21 tokio::test"]),
        ("fn f() { format!(\"{:?}\", std::sync::Mutex::new(1)); }", &["1:26 std::sync::Mutex"]),
        (
            "macro_rules! m { () => { use std::sync::{Mutex, Once}; std::thread::spawn(|| ()) }; }",
            &["1:42 std::sync::Mutex", "1:49 std::sync::Once", "1:56 std::thread::spawn"],
        ),
        ("odd! { use std::sync::*; }", &["1:23 std::sync::*"]),
    ] {
        assert_eq!(uses(text), found, "{text}");
    }
}

#[test]
fn what_is_recorded_or_orders_nothing_is_not_listed() {
    for text in [
        "use racelog::sync::{Arc, Mutex};\nuse racelog::thread;\nfn f() { thread::spawn(|| Arc::new(1)); }",
        "use std::sync::atomic::Ordering;\nuse std::sync::PoisonError;",
        "use std::thread;\nfn f() { thread::sleep(d); thread::yield_now(); thread::panicking(); }",
        "use std::thread;\nfn f() { thread::current().name(); thread::available_parallelism(); }",
        "use std::sync::atomic::Ordering::{self, Relaxed};",
        "use std::cell::UnsafeCell;\nuse std::collections::HashMap;",
        // Names of the crate's own.
        "mod spin { pub struct Mutex; }\nuse spin::Mutex;",
        "struct Mutex;\nfn f(_: Mutex) {}",
        "mod sync { pub struct Mutex; }\nuse self::sync::Mutex;\nfn f(_: sync::Mutex) {}",
        "fn spawn() {}\nfn f() { spawn(); a.lock(); b.sync.thread(); }",
        // Crates that are no dependencies are no crates.
        "mod dashmap;\nfn f() { flume::bounded(1); }",
        "/// `std::sync::Mutex` in words.\nfn f() { \"std::sync::Mutex\"; }",
    ] {
        let files = [("src/lib.rs", text), ("src/dashmap.rs", "")];
        assert_eq!(uses_of(&files, |_| ()), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_is_not_compiled_is_not_listed() {
    for text in [
        "#[cfg(racelog)]\npub use racelog::sync::*;\n#[cfg(not(racelog))]\npub use std::sync::*;",
        "#[cfg(not(any(loom, racelog)))]\npub(crate) use std::{cell, sync::*, thread};",
        "#[cfg(not(racelog))]\nmod real { pub use std::sync::Mutex; }",
        "#[cfg(not(test))]\nuse std::sync::Mutex;",
        "#![cfg(not(racelog))]\nuse std::sync::Mutex;",
        "struct A { #[cfg(not(racelog))] a: std::sync::Mutex<u8> }",
        "impl A { #[cfg(not(racelog))] fn f() { std::thread::spawn(|| ()); } }",
        "fn f() { #[cfg(not(racelog))] let a = std::sync::Mutex::new(1); #[cfg(not(racelog))] { std::thread::spawn(f); } }",
        "fn f() { #[cfg(not(racelog))] use std::sync::Mutex; }",
        "#[cfg(feature = \"off\")]\nuse std::sync::Mutex;",
    ] {
        let off = |root: &mut Root| root.cfg.features = Some(BTreeSet::new());
        assert_eq!(uses_of(&[("src/lib.rs", text)], off), Vec::<String>::new(), "{text}");
    }
    for text in ["#[cfg(loom)]\nuse std::sync::Mutex;", "#[cfg(not(loom))]\nuse std::sync::Mutex;"]
    {
        assert_eq!(uses(text), ["2:16 std::sync::Mutex"], "what may be compiled is: {text}");
    }
}

/// A façade, and who imports from it.
const FACADE: &str = "#[cfg(racelog)]\npub(crate) use racelog::{cell, sync::*, thread};\n\
                      #[cfg(not(racelog))]\npub(crate) use std::{cell, sync::*, thread};\n";

#[test]
fn a_facade_is_followed() {
    let user = "mod sync;\nuse crate::sync::{Arc, Mutex, atomic::AtomicU8, thread};\n\
                fn f() { thread::spawn(|| Arc::get_mut(&mut a)); }";
    let files = [("src/lib.rs", user), ("src/sync.rs", FACADE)];
    assert_eq!(uses_of(&files, |_| ()), Vec::<String>::new());
    // Racelog's `Arc` is std's, unless the feature says otherwise.
    let plain = |root: &mut Root| root.recorded_arc = false;
    assert_eq!(
        uses_of(&files, plain),
        ["src/lib.rs:2:19 racelog::sync::Arc", "src/lib.rs:3:27 racelog::sync::Arc::get_mut"]
    );
    // What a façade has from std is listed there, once.
    let files = [("src/lib.rs", user), ("src/sync.rs", "pub use std::{sync::*, thread};")];
    assert_eq!(
        uses_of(&files, |_| ()),
        [
            "src/lib.rs:2:49 std::thread::spawn",
            "src/lib.rs:3:27 std::sync::Arc::get_mut",
            "src/sync.rs:1:21 std::sync::*",
        ]
    );
}

#[test]
fn arcs_and_what_goes_by_their_counts() {
    let plain = |root: &mut Root| root.recorded_arc = false;
    for (text, found) in [
        ("use std::sync::Arc;\nfn f() { Arc::new(1); }", &["1:16 std::sync::Arc"][..]),
        (
            "use racelog::sync::*;\nfn f() { Arc::new(1); Arc::new(2); }",
            &["1:20 racelog::sync::Arc"],
        ),
        (
            "use std::sync::Arc;\nfn f() { Arc::strong_count(&a); <Arc<u8>>::try_unwrap(a); }",
            &[
                "1:16 std::sync::Arc",
                "2:10 std::sync::Arc::strong_count",
                "2:33 std::sync::Arc::try_unwrap",
            ],
        ),
        (
            "type Shared = std::sync::Arc<u8>;\nfn f() { Shared::get_mut(&mut a); }",
            &["1:15 std::sync::Arc", "2:10 std::sync::Arc::get_mut"],
        ),
        ("use std::sync::Weak;", &["1:16 std::sync::Weak"]),
        // The last owner runs destructors.
        (
            "use racelog::sync::Arc;\nimpl Drop for Log { fn drop(&mut self) {} }",
            &["1:20 racelog::sync::Arc", "2:15 Drop for Log"],
        ),
        ("impl Drop for Log { fn drop(&mut self) {} }", &[]),
    ] {
        assert_eq!(uses_of(&[("src/lib.rs", text)], plain), found, "{text}");
    }
    let recorded =
        "use racelog::sync::{Arc, Weak};\nimpl Drop for A {}\nfn f() { Arc::get_mut(&mut a); }";
    assert_eq!(uses(recorded), Vec::<String>::new());
}

#[test]
fn modules_are_found() {
    let files = [
        (
            "src/lib.rs",
            "mod a;\nmod inner { mod c; }\n#[path = \"odd/name.rs\"]\nmod d;\n#[cfg(not(racelog))]\nmod gone;\n\
             #[cfg(test)]\nmod tests { use super::a::b::Lock; fn f(_: Lock) {} }",
        ),
        ("src/a.rs", "pub mod b;"),
        ("src/a/b.rs", "pub use std::sync::Mutex as Lock;"),
        ("src/inner/c/mod.rs", "mod e;"),
        ("src/inner/c/e.rs", "use std::sync::Once;"),
        ("src/odd/name.rs", "mod f;"),
        ("src/odd/f.rs", "use std::sync::Barrier;"),
        ("src/gone.rs", "use std::sync::Condvar;"),
        ("src/nobodys.rs", "use std::sync::Condvar;"),
    ];
    assert_eq!(
        uses_of(&files, |_| ()),
        [
            "src/a/b.rs:1:20 std::sync::Mutex",
            "src/inner/c/e.rs:1:16 std::sync::Once",
            "src/odd/f.rs:1:16 std::sync::Barrier",
        ]
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let root = Root {
        file: "lib.rs".to_owned(),
        cfg: Cfg::new(Truth::No),
        crates: BTreeMap::new(),
        recorded_arc: false,
        programs: vec!["one".to_owned()],
    };
    let read = |file: &str| match file {
        "lib.rs" => Some(
            "mod broken;\nmod missing;\n#[cfg(odd)] mod other;\nuse std::sync::Once;".to_owned(),
        ),
        "broken.rs" => Some("fn f( {\n".to_owned()),
        _ => None,
    };
    let found = scan(&root, &read);
    assert_eq!(found.uses.len(), 1);
    let unread: Vec<&str> = found.unread.iter().map(|one| one.file.as_str()).collect();
    assert_eq!(unread, ["broken.rs", "missing.rs"]);
    assert!(found.unread[0].problem.starts_with("line 1, column "), "{:?}", found.unread);
    assert_eq!(found.unread[0].programs, ["one"]);
}

#[test]
fn allocators_of_programs_are_found_where_they_are_compiled() {
    let text = "mod inner;\n#[cfg(not(racelog))]\n#[global_allocator]\nstatic A: X = X;\n\
                #[cfg_attr(test, global_allocator)]\nstatic B: X = X;\nstatic C: X = X;\n";
    let inner = "    #[global_allocator]\n    pub static D: Y = Y;\n";
    let texts = BTreeMap::from([("src/lib.rs", text), ("src/inner.rs", inner)]);
    let mut cfg = Cfg::new(Truth::Yes);
    cfg.compiler.insert("racelog".to_owned());
    let root = Root {
        file: "src/lib.rs".to_owned(),
        cfg,
        crates: BTreeMap::new(),
        recorded_arc: false,
        programs: Vec::new(),
    };
    let found = scan(&root, &|file| texts.get(file).map(|text| (*text).to_owned()));
    let places: Vec<String> = found.allocators.iter().map(ToString::to_string).collect();
    assert_eq!(places, ["src/inner.rs:2:16", "src/lib.rs:6:8"]);
}
