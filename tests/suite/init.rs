//! `cargo racelog init --write`: whatever a crate looks like, it builds as before, with and without
//! `--cfg racelog`; what cannot be done is said, and left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{cargo_racelog, repository, run};

/// A crate that is written for one test.
struct Package {
    folder: PathBuf,
}

impl Package {
    /// With this edition, more of its manifest, and its files.
    fn new(
        within: &Path,
        name: &str,
        edition: &str,
        manifest: &str,
        files: &[(&str, &str)],
    ) -> Self {
        let folder = within.join(name);
        let head = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n\n\
             [workspace]\n\n{manifest}"
        );
        let manifest = [("Cargo.toml", head.as_str())];
        for (path, text) in manifest.iter().chain(files) {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        Self { folder }
    }

    fn init(&self) -> String {
        let mut command = cargo_racelog();
        command.args(["init", "--write"]).current_dir(&self.folder);
        for variable in ["CARGO", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "NO_COLOR"] {
            command.env_remove(variable);
        }
        let (code, out, err) = run(&mut command, b"");
        assert_eq!(code, 0, "{out}{err}");
        out
    }

    /// The crate builds, its tests too, in both ways.
    fn builds(&self) {
        for flags in ["", "--cfg racelog"] {
            let output = Command::new(env!("CARGO"))
                .args(["check", "--tests", "--quiet", "--target-dir"])
                .arg(repository().join("target/init"))
                .env("RUSTFLAGS", flags)
                .current_dir(&self.folder)
                .output()
                .expect("cargo runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let shown = self.folder.display();
            assert!(output.status.success(), "{shown}, `{flags}`:\n{said}");
            // What was no warning before is none now.
            assert!(!said.contains("warning"), "{shown}, `{flags}`:\n{said}");
        }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).expect("the file is there")
    }

    fn has(&self, path: &str) -> bool {
        self.folder.join(path).exists()
    }
}

const USES: &str = "
use sync::atomic::{AtomicU32, Ordering};

/// Counts.
pub struct Count(AtomicU32);

impl Count {
    /// One more.
    pub fn add(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}
";

/// The body of the first file, after `init` has put in the module.
fn uses(head: &str, edition: &str) -> String {
    let path = if edition == "2015" { "sync::" } else { "crate::sync::" };
    // Until there is a module, nothing is imported from it.
    format!("{head}{}", USES.replace("use sync::", &format!("use {path}")))
}

#[test]
fn a_crate_builds_as_before_whatever_it_looks_like() {
    let temp = tempfile::tempdir().expect("a folder");
    let heads = [
        (
            "licence",
            "2021",
            "// Copyright.\n// All rights.\n\n//! Counts.\n#![deny(missing_docs)]\n",
        ),
        (
            "block",
            "2018",
            "/* A licence. */\n/*! Counts,\n    and no more. */\n#![deny(warnings)]\n",
        ),
        ("old", "2015", "//! Counts.\n"),
        ("bare", "2024", "//! Counts.\n#![no_std]\n\nextern crate alloc;\n"),
        ("old-bare", "2015", "//! Counts.\n#![no_std]\n"),
        ("half", "2018", "//! Counts.\n#![cfg_attr(not(feature = \"std\"), no_std)]\n"),
    ];
    for (name, edition, head) in heads {
        let manifest = "[features]\ndefault = [\"std\"]\nstd = []\n";
        let text = uses(head, edition);
        let package = Package::new(temp.path(), name, edition, manifest, &[("src/lib.rs", &text)]);
        let said = package.init();
        assert!(package.has("src/sync.rs"), "{said}");
        package.builds();
        // A second time there is nothing to do.
        let before = [package.read("Cargo.toml"), package.read("src/lib.rs")];
        let said = package.init();
        assert!(said.contains("imports from racelog") && !said.contains("added"), "{said}");
        assert_eq!(before, [package.read("Cargo.toml"), package.read("src/lib.rs")]);
    }
}

#[test]
fn an_own_module_for_imports_is_left_alone() {
    let temp = tempfile::tempdir().expect("a folder");
    let loom = "#[cfg(loom)]\npub(crate) use loom::sync::*;\n#[cfg(not(loom))]\npub(crate) use std::sync::*;\n";
    let lints = "[lints.rust]\nunexpected_cfgs = { level = \"allow\" }\n";
    let text = format!("mod sync;\n{}", uses("", "2021"));
    let files = [("src/lib.rs", text.as_str()), ("src/sync.rs", loom)];
    let own = Package::new(temp.path(), "own", "2021", lints, &files);
    let said = own.init();
    assert!(said.contains("there is a module `sync` already"), "{said}");
    assert!(said.contains("tell the lints of `cfg(racelog)`"), "{said}");
    assert_eq!((own.read("src/sync.rs"), own.read("src/lib.rs")), (loom.to_owned(), text.clone()));
    own.builds();

    let inline = format!("mod sync {{ pub(crate) use std::sync::*; }}\n{}", uses("", "2021"));
    let inline = Package::new(temp.path(), "inline", "2021", "", &[("src/lib.rs", &inline)]);
    assert!(inline.init().contains("there is a module `sync` already"));
    assert!(!inline.has("src/sync.rs"));
    inline.builds();

    let named = "use std::sync;\n\n/// Makes one.\npub fn one() -> sync::Arc<u32> {\n    sync::Arc::new(1)\n}\n";
    let named = Package::new(temp.path(), "named", "2021", "", &[("src/lib.rs", named)]);
    assert!(named.init().contains("the name `sync` is something else's here"));
    assert!(!named.has("src/sync.rs"));
    named.builds();
}

#[test]
fn it_writes_no_path_that_it_does_not_explain() {
    let temp = tempfile::tempdir().expect("a folder");
    let package =
        Package::new(temp.path(), "plain", "2021", "", &[("src/lib.rs", "//! Nothing.\n")]);
    package.init();
    let manifest = package.read("Cargo.toml");
    let explained = manifest.contains("# A path on this machine:") && manifest.contains("path = ");
    assert!(explained || manifest.contains("racelog = { version = "), "{manifest}");
}
