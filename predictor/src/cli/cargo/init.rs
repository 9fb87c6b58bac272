//! The few lines that a crate needs.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::super::{Failure, Outcome, say, terminal};
use super::args::Init;
use super::build::{self, Peeked};
use super::unrecorded;
use super::workspace::Workspace;

/// What a crate imports from instead of std.
const FACADE: &str = "\
//! What this crate imports instead of `std::sync`, `std::thread` and `std::cell`.
//!
//! `cargo racelog` builds with `--cfg racelog`; in all other builds these are std's.

#![allow(unused_imports)]

#[cfg(racelog)]
pub(crate) use racelog::{cell, hint, sync::*, test, thread};

#[cfg(not(racelog))]
pub(crate) use std::{cell, hint, prelude::v1::test, sync::*, thread};
";

const LINTS: &str = "\
[lints.rust]
unexpected_cfgs = { level = \"warn\", check-cfg = [\"cfg(racelog)\"] }
";

/// What to do with a file.
enum Step {
    /// There is nothing to do.
    Done(PathBuf, &'static str),
    /// Lines to add at the end.
    Append(PathBuf, String),
    /// A file to make.
    Create(PathBuf, &'static str),
    /// A line to put before the first item.
    Declare(PathBuf, &'static str),
    /// Something that only a person can decide.
    ByHand(PathBuf, &'static str),
}

pub(super) fn run(args: &Init) -> Result<Outcome, Failure> {
    let workspace = Workspace::find(args.manifest_path.as_deref(), None)?;
    let folder = crate_folder(&workspace, args.manifest_path.as_deref())?;
    let steps = plan(&folder)?;
    let mut out = terminal::stdout(terminal::Kind::Text);
    for step in &steps {
        if args.write {
            step.write()?;
        }
        step.show(&mut out, args.write)?;
    }
    writeln!(
        out,
        "Then import from `crate::sync` what you import from `std::sync`, `std::thread` and `std::cell`, \
         `use crate::sync::test;` where your tests are, and run `cargo racelog test`."
    )?;
    work_to_do(&mut out, &workspace, &folder)?;
    out.flush()?;
    if !args.write {
        say("note", "nothing was written: `cargo racelog init --write` does that");
    }
    Ok(Outcome::NothingFound)
}

/// Lists what the crate uses today that is not recorded.
fn work_to_do(out: &mut impl Write, workspace: &Workspace, folder: &Path) -> Result<(), Failure> {
    let words = ["--manifest-path".into(), folder.join("Cargo.toml").into()];
    let peeked = Peeked::new(&["test"], &words);
    let found = match unrecorded::list(workspace, &["test"], &peeked, &build::rustflags(&peeked)?) {
        Ok(found) => found,
        Err(problem) => {
            say("warning", format_args!("the sources could not be looked through: {problem}"));
            return Ok(());
        }
    };
    if !found.is_empty() {
        writeln!(out, "\nThis is what to change, in {} places:", found.uses.len())?;
        unrecorded::show(out, &found)?;
    }
    Ok(())
}

/// The crate that is meant: the one whose folder we are in.
fn crate_folder(workspace: &Workspace, manifest: Option<&Path>) -> Result<PathBuf, Failure> {
    let here = match manifest.and_then(Path::parent) {
        Some(folder) => std::path::absolute(folder),
        None => env::current_dir(),
    };
    let here =
        here.and_then(fs::canonicalize).map_err(|error| Failure::of("this folder", error))?;
    let folders = workspace.packages.iter().filter_map(|package| package.manifest_path.parent());
    let mut folders = folders.filter_map(|folder| fs::canonicalize(folder).ok());
    let found = here.ancestors().find_map(|folder| folders.find(|package| package == folder));
    found.ok_or_else(|| {
        let problem = "no crate is here: go to the folder of one, or give --manifest-path";
        Failure::of(here.display(), problem)
    })
}

fn plan(folder: &Path) -> Result<Vec<Step>, Failure> {
    let manifest = folder.join("Cargo.toml");
    let problem = |error: &dyn std::fmt::Display| Failure::of(manifest.display(), error);
    let text = fs::read_to_string(&manifest).map_err(|error| problem(&error))?;
    let table: Table = text.parse().map_err(|error| problem(&error))?;
    let mut steps = Vec::new();
    let target = table.get("target").and_then(|target| target.get("cfg(racelog)"));
    let dependency = target.and_then(|target| target.get("dependencies"));
    steps.push(match dependency.map(|dependencies| dependencies.get("racelog").is_some()) {
        Some(true) => Step::Done(manifest.clone(), "has the dependency"),
        Some(false) => {
            Step::ByHand(manifest.clone(), "add racelog to `[target.'cfg(racelog)'.dependencies]`")
        }
        None => Step::Append(manifest.clone(), dependency_lines()),
    });
    let lints = table.get("lints");
    let by_workspace = lints.and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
    let rust = lints.and_then(|lints| lints.get("rust"));
    let knows = || rust.is_some_and(|rust| format!("{rust:?}").contains("cfg(racelog)"));
    steps.push(match lints {
        None => Step::Append(manifest, LINTS.to_owned()),
        Some(_) if knows() => Step::Done(manifest, "knows the cfg"),
        Some(_) if by_workspace == Some(true) => {
            Step::ByHand(manifest, "tell the lints of the workspace of `cfg(racelog)`, as below")
        }
        Some(_) if rust.is_none() => Step::Append(manifest, LINTS.to_owned()),
        Some(_) => Step::ByHand(manifest, "tell the lints of `cfg(racelog)`, as below"),
    });
    let facade = folder.join("src/sync.rs");
    let has_facade = facade.exists() || folder.join("src/sync/mod.rs").exists();
    if has_facade {
        let what = "there is a module `sync` already: let it import from racelog, as below";
        let text = fs::read_to_string(&facade).unwrap_or_default();
        steps.push(match text.contains("cfg(racelog)") {
            true => Step::Done(facade, "imports from racelog"),
            false => Step::ByHand(facade, what),
        });
    } else {
        steps.push(Step::Create(facade, FACADE));
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
        steps.extend(roots.into_iter().filter(|root| root.exists()).map(|root| {
            match fs::read_to_string(&root).is_ok_and(|t| t.contains("mod sync;")) {
                true => Step::Done(root, "has the module"),
                false => Step::Declare(root, "mod sync;\n"),
            }
        }));
    }
    Ok(steps)
}

/// The dependency: on the sources that this program was built from, if they are still there.
fn dependency_lines() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(|root| root.join("racelog"));
    let which = match sources.filter(|folder| folder.join("Cargo.toml").is_file()) {
        Some(folder) => {
            format!("path = {}", serde_json::Value::from(folder.to_string_lossy().into_owned()))
        }
        None => format!("version = \"{minor}\""),
    };
    format!(
        "[target.'cfg(racelog)'.dependencies]\nracelog = {{ {which}, features = [\"record\"] }}\n"
    )
}

impl Step {
    fn write(&self) -> Result<(), Failure> {
        let problem = |path: &Path, error: io::Error| Failure::of(path.display(), error);
        match self {
            Self::Done(..) | Self::ByHand(..) => Ok(()),
            Self::Append(path, lines) => {
                let mut file =
                    fs::OpenOptions::new().append(true).open(path).map_err(|e| problem(path, e))?;
                write!(file, "\n{lines}").map_err(|error| problem(path, error))
            }
            Self::Create(path, text) => fs::write(path, text).map_err(|e| problem(path, e)),
            Self::Declare(path, line) => {
                let text = fs::read_to_string(path).map_err(|error| problem(path, error))?;
                let at = first_item(&text);
                let gap = if text[at..].trim().is_empty() { "" } else { "\n" };
                let text = format!("{}{line}{gap}{}", &text[..at], &text[at..]);
                fs::write(path, text).map_err(|error| problem(path, error))
            }
        }
    }

    fn show(&self, out: &mut impl Write, written: bool) -> io::Result<()> {
        let (path, lines, does, did) = match self {
            Self::Done(path, what) => return writeln!(out, "{}: {what}\n", path.display()),
            Self::Append(path, lines) => (path, lines.as_str(), "add at the end", "added"),
            Self::Create(path, text) => (path, *text, "make this file", "written"),
            Self::Declare(path, line) => (path, *line, "add before the first item", "added"),
            Self::ByHand(path, what) => {
                let lines =
                    if path.extension().is_some_and(|e| e == "rs") { FACADE } else { LINTS };
                writeln!(out, "{}: {what}", path.display())?;
                return indent(out, lines);
            }
        };
        writeln!(out, "{}: {}", path.display(), if written { did } else { does })?;
        indent(out, lines)
    }
}

fn indent(out: &mut impl Write, lines: &str) -> io::Result<()> {
    for line in lines.lines() {
        writeln!(out, "{}", format!("    {line}").trim_end())?;
    }
    writeln!(out)
}

/// Where the first item of a file starts: after its own documentation and attributes.
fn first_item(text: &str) -> usize {
    let mut at = 0;
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        // An attribute may go over several lines.
        let opens = start.starts_with("#![");
        let is_head = inside || opens || start.starts_with("//!") || start.trim().is_empty();
        if !is_head {
            return at;
        }
        inside = (inside || opens) && !line.trim_end().ends_with(']');
        at += line.len();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_after_the_head() {
        let head = "//! Docs.\n\n#![allow(\n    dead_code,\n)]\n\n";
        assert_eq!(first_item(&format!("{head}/// A.\nfn a() {{}}\n")), head.len());
        assert_eq!(first_item("fn a() {}\n"), 0);
        assert_eq!(first_item(""), 0);
    }
}
