//! The few lines that a crate needs: in its manifest, in a façade, and in its first file. What cannot
//! be added so that the crate builds as before is said, and left alone.

mod facade;
mod manifest;
mod root;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::super::{Failure, Outcome, say, terminal};
use super::args::Init;
use super::build::{self, Peeked};
use super::unrecorded;
use super::workspace::{Package, Workspace};
use root::{Root, Std, Taken};

/// What to do with a file.
#[derive(Debug)]
enum Step {
    /// There is nothing to do.
    Done(PathBuf, &'static str),
    /// Lines to add at the end.
    Append(PathBuf, String),
    /// A file to make.
    Create(PathBuf, String),
    /// Lines to put before the first item: the file as it is then.
    Declare(PathBuf, String, String),
    /// Something that only a person can decide, and lines to help with it.
    ByHand(PathBuf, String, String),
}

pub(super) fn run(args: &Init) -> Result<Outcome, Failure> {
    let workspace = Workspace::find(args.manifest_path.as_deref(), None)?;
    let package = package(&workspace, args.manifest_path.as_deref())?;
    let folder = package.manifest_path.parent().unwrap_or(Path::new(".")).to_owned();
    let steps = plan(package)?;
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
fn package<'a>(workspace: &'a Workspace, manifest: Option<&Path>) -> Result<&'a Package, Failure> {
    let here = match manifest.and_then(Path::parent) {
        Some(folder) => std::path::absolute(folder),
        None => env::current_dir(),
    };
    let here =
        here.and_then(fs::canonicalize).map_err(|error| Failure::of("this folder", error))?;
    let is_in = |package: &&Package, folder: &Path| {
        let own = package.manifest_path.parent().map(fs::canonicalize);
        own.is_some_and(|own| own.is_ok_and(|own| own == folder))
    };
    let mut packages = here
        .ancestors()
        .filter_map(|folder| workspace.packages.iter().find(|package| is_in(package, folder)));
    packages.next().ok_or_else(|| {
        let problem = "no crate is here: go to the folder of one, or give --manifest-path";
        Failure::of(here.display(), problem)
    })
}

fn plan(package: &Package) -> Result<Vec<Step>, Failure> {
    let path = package.manifest_path.clone();
    let text = fs::read_to_string(&path).map_err(|error| Failure::of(path.display(), error))?;
    let (mut steps, told) = manifest::plan(path, &text, manifest::dependency_lines)?;
    steps.extend(plan_facade(package, told)?);
    Ok(steps)
}

/// The module to import from, beside the crate's first files.
fn plan_facade(package: &Package, told: bool) -> Result<Vec<Step>, Failure> {
    let library = package.library();
    let main = package.targets.iter().find(|target| {
        target.sort() == "bin" && target.src_path.file_name().is_some_and(|name| name == "main.rs")
    });
    // Programs in files of their own import from the library.
    let paths: Vec<&PathBuf> = library.into_iter().chain(main).map(|it| &it.src_path).collect();
    let Some(first) = paths.first() else { return Ok(Vec::new()) };
    let folder = first.parent().unwrap_or(Path::new("."));
    let mut roots = Vec::new();
    for path in paths.iter().filter(|path| path.parent() == Some(folder)) {
        let text = fs::read_to_string(path).map_err(|error| Failure::of(path.display(), error))?;
        let Some(root) = Root::read(text) else {
            let what =
                "this is no Rust that is understood here: make the module yourself, as below";
            return Ok(vec![Step::ByHand(
                (*path).clone(),
                what.to_owned(),
                facade::PLAIN.to_owned(),
            )]);
        };
        roots.push(((*path).clone(), root));
    }
    let lines = facade::text(&roots[0].1, told);
    let by_hand =
        |path: &Path, what: &str| Step::ByHand(path.to_owned(), what.to_owned(), lines.clone());
    let is_there = "there is a module `sync` already: let it import from racelog, as below";
    let file = folder.join("sync.rs");
    let files = [file.clone(), folder.join("sync/mod.rs")];
    let old = package.edition == "2015";
    let declare = |(path, root): (PathBuf, Root)| {
        let lines = declaration(old, told);
        let text = root.with(&lines);
        Step::Declare(path, lines, text)
    };
    if let Some(found) = files.iter().find(|file| file.exists()) {
        let text = fs::read_to_string(found).unwrap_or_default();
        if !text.contains("cfg(racelog)") {
            return Ok(vec![by_hand(found, is_there)]);
        }
        let lacks = roots.into_iter().filter(|(_, root)| root.taken().is_none());
        let done = Step::Done(found.clone(), "imports from racelog");
        return Ok([done].into_iter().chain(lacks.map(declare)).collect());
    }
    for (path, root) in &roots {
        match root.taken() {
            None => {}
            Some(Taken::ByAnother) => {
                let what = "the name `sync` is something else's here: give the module another name, \
                            and import from that";
                return Ok(vec![by_hand(path, what)]);
            }
            Some(Taken::File | Taken::Here) => return Ok(vec![by_hand(path, is_there)]),
        }
    }
    if old && matches!(roots[0].1.std(), Std::Unless(_)) {
        let what = "in edition 2015 nothing is sure to be called `core` in a crate with std: make \
                    the module yourself, as below";
        return Ok(vec![by_hand(&roots[0].0, what)]);
    }
    let create = Step::Create(file, lines.clone());
    Ok([create].into_iter().chain(roots.into_iter().map(declare)).collect())
}

/// What a crate's first file says of the façade. Imports of edition 2015 begin at that file.
fn declaration(old: bool, told: bool) -> String {
    let mut lines = String::new();
    if old {
        lines.push_str(if told { "" } else { "#[allow(unexpected_cfgs)]\n" });
        lines.push_str("#[cfg(racelog)]\nextern crate racelog;\n");
    }
    lines.push_str("mod sync;\n");
    lines
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
            Self::Declare(path, _, text) => fs::write(path, text).map_err(|e| problem(path, e)),
        }
    }

    fn show(&self, out: &mut impl Write, written: bool) -> io::Result<()> {
        let (path, lines, does, did) = match self {
            Self::Done(path, what) => return writeln!(out, "{}: {what}\n", path.display()),
            Self::Append(path, lines) => (path, lines.as_str(), "add at the end", "added"),
            Self::Create(path, text) => (path, text.as_str(), "make this file", "written"),
            Self::Declare(path, lines, _) => {
                (path, lines.as_str(), "add before the first item", "added")
            }
            Self::ByHand(path, what, lines) => {
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
