//! Reads the sources of what cargo is about to run, and lists what they use that is not recorded.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::{Failure, regular, say};
use super::build::Peeked;
use super::graph::Graph;
use super::output;
use super::workspace::{Package, Target, Workspace};
use crate::child;
use crate::unrecorded::{
    Cfg, Dependency, Root, Truth, Unrecorded, Use, What, is_synchronising, scan,
};

/// The file of the list, beside the traces.
pub(super) const FILE: &str = "unrecorded.json";

/// How many places are named before cargo runs.
const SHOWN: usize = 3;

/// Lists what the programs use that a command of cargo is about to run.
pub(super) fn list(
    workspace: &Workspace,
    subcommand: &[&str],
    peeked: &Peeked,
    rustflags: &str,
) -> Result<Unrecorded, String> {
    let is_run = subcommand == ["run"];
    let edges = if is_run { "normal" } else { "normal,dev" };
    let graph = Graph::ask(&peeked.rest, edges, rustflags)?;
    let chosen = Chosen::new(&peeked.rest, is_run);
    let compiler = compiler(peeked.target(), rustflags);
    let others = other_packages(workspace, &graph);
    let all_packages = || workspace.packages.iter().chain(&others);
    let package_at = |folder: Option<&Path>| {
        all_packages().find(|package| folder.is_some() && package.manifest_path.parent() == folder)
    };
    let mut all = Unrecorded::default();
    let recorded_arc = graph.has_recorded_arc();
    for selected in &graph.selected {
        let node = &graph.nodes[*selected];
        let Some(package) = package_at(node.folder.as_deref()) else { continue };
        let targets: Vec<&Target> =
            package.targets.iter().filter(|target| chosen.runs(target, package)).collect();
        let programs: Vec<String> = targets.iter().map(|target| target.program()).collect();
        let linked = graph.linked(*selected);
        let mut roots: Vec<(PathBuf, Truth, usize, Vec<String>)> = Vec::new();
        for target in &targets {
            let test = if is_run { Truth::No } else { Truth::Yes };
            roots.push((target.src_path.clone(), test, *selected, vec![target.program()]));
        }
        for at in &linked {
            let other = &graph.nodes[*at];
            if other.folder.is_none() {
                if is_synchronising(&other.name) && !programs.is_empty() {
                    let (name, programs) = (other.name.clone(), programs.clone());
                    let crates = vec![Dependency { name, programs }];
                    all.add(Unrecorded { crates, ..Unrecorded::default() });
                }
                continue;
            }
            let lib = package_at(other.folder.as_deref()).and_then(Package::library);
            // The tests of a library are the library.
            let users = targets.iter().filter(|target| *at != *selected || !target.is_library());
            let users: Vec<String> = users.map(|target| target.program()).collect();
            if let Some(lib) = lib.filter(|_| !users.is_empty()) {
                roots.push((lib.src_path.clone(), Truth::No, *at, users));
            }
        }
        for (file, test, at, programs) in roots {
            let node = &graph.nodes[at];
            let Some(package) = package_at(node.folder.as_deref()) else { continue };
            let root = Root {
                file: workspace.name_of(&file),
                cfg: Cfg {
                    test,
                    features: Some(node.features.clone()),
                    compiler: compiler.clone(),
                },
                crates: package.crates(),
                recorded_arc,
                programs,
            };
            all.add(scan(&root, &|name| read(&workspace.root.join(name))));
        }
    }
    all.add_drops();
    if !graph.has_allocator() {
        // Then there is none of racelog's that could be in their way.
        all.allocators.clear();
    }
    Ok(all)
}

/// A source file.
fn read(path: &Path) -> Option<String> {
    regular::read(path, regular::ANY_SIZE).ok()
}

/// Packages whose sources are here, and that are no members of the workspace.
fn other_packages(workspace: &Workspace, graph: &Graph) -> Vec<Package> {
    let linked: BTreeSet<usize> =
        graph.selected.iter().flat_map(|selected| graph.linked(*selected)).collect();
    let folders = linked.iter().filter_map(|at| graph.nodes[*at].folder.as_deref());
    let is_member = |folder: &Path| {
        workspace.packages.iter().any(|it| it.manifest_path.parent() == Some(folder))
    };
    let mut found = Vec::new();
    for folder in folders.filter(|folder| !is_member(folder)) {
        if let Ok(other) = Workspace::find(Some(&folder.join("Cargo.toml")), None) {
            found.extend(other.packages);
        }
    }
    found
}

/// What the compiler says is set for a target.
fn compiler(target: Option<&str>, rustflags: &str) -> BTreeSet<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--print", "cfg"]);
    if let Some(target) = target {
        command.args(["--target", target]);
    }
    command.args(rustflags.split('\x1f').filter(|flag| !flag.is_empty()));
    // Without an answer nothing is known of the target, and all of it may be compiled.
    let answer = child::ask(&mut command).ok().filter(|answer| answer.end.is_success());
    let text = answer.map_or_else(Vec::new, |answer| answer.stdout.bytes);
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// Which targets of a package run.
struct Chosen {
    is_run: bool,
    /// Kinds that are asked for as a whole.
    kinds: BTreeSet<&'static str>,
    /// Targets that are asked for by name: kind and name, which may have `*` in it.
    names: Vec<(&'static str, String)>,
}

impl Chosen {
    fn new(args: &[OsString], is_run: bool) -> Self {
        let mut chosen = Self { is_run, kinds: BTreeSet::new(), names: Vec::new() };
        let mut words = args.iter().take_while(|word| *word != "--");
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            match &*text {
                "--lib" => drop(chosen.kinds.insert("lib")),
                "--bins" => drop(chosen.kinds.insert("bin")),
                "--tests" => chosen.kinds.extend(["lib", "bin", "test"]),
                "--examples" => drop(chosen.kinds.insert("example")),
                "--benches" => chosen.kinds.extend(["bench"]),
                "--all-targets" => chosen.kinds.extend(["lib", "bin", "test", "example", "bench"]),
                "--doc" => drop(chosen.kinds.insert("doc")),
                other => {
                    for kind in ["bin", "test", "example", "bench"] {
                        let rest = other.strip_prefix("--").and_then(|it| it.strip_prefix(kind));
                        let name = match rest {
                            Some("") => {
                                words.next().map(|word| word.to_string_lossy().into_owned())
                            }
                            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                            None => None,
                        };
                        chosen.names.extend(name.map(|name| (kind, name)));
                    }
                }
            }
        }
        chosen
    }

    fn runs(&self, target: &Target, package: &Package) -> bool {
        let kind = target.sort();
        if self.names.iter().any(|(of, name)| *of == kind && fits(name, &target.name)) {
            return true;
        }
        if !self.kinds.is_empty() || !self.names.is_empty() {
            // Documentation has no program of its own that could be named.
            return self.kinds.contains(kind) || (self.kinds.contains("doc") && kind == "lib");
        }
        match kind {
            "bin" if self.is_run => {
                package.default_run.as_ref().is_none_or(|name| *name == target.name)
            }
            _ => !self.is_run && target.test,
        }
    }
}

/// Whether a name is the one that is meant; `*` stands for anything at its end.
fn fits(meant: &str, name: &str) -> bool {
    match meant.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => meant == name,
    }
}

/// Says in short what is not recorded.
pub(super) fn summarise(found: &Unrecorded) {
    for unread in &found.unread {
        let (file, problem) = (&unread.file, &unread.problem);
        say("warning", format_args!("{file} could not be looked through: {problem}"));
    }
    if let Some(place) = found.allocators.first() {
        let without = "so racelog's feature `allocator` is off for this build: races of memory on \
                       the heap that raw pointers reach are not found";
        say("note", format_args!("the program has an allocator of its own, at {place}, {without}"));
    }
    let (arcs, others): (Vec<&Use>, Vec<&Use>) =
        found.uses.iter().partition(|one| matches!(one.what, What::Arc | What::ArcOrder));
    let first = |uses: &[&Use]| {
        let words: Vec<String> =
            uses.iter().take(SHOWN).map(|one| format!("`{}` at {}", one.name, one.place)).collect();
        let rest = uses.len().saturating_sub(SHOWN);
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        format!("{}{rest}", words.join(", "))
    };
    let places = |uses: &[&Use]| match uses.len() {
        1 => "1 place".to_owned(),
        number => format!("{number} places"),
    };
    if !others.is_empty() {
        let text = format!("what is not recorded, in {}: {}", places(&others), first(&others));
        say("warning", format_args!("{text}; `cargo racelog report --verbose` lists all"));
    }
    if !arcs.is_empty() {
        let text = format!("std's `Arc` is not recorded, in {}: {}", places(&arcs), first(&arcs));
        let how = "racelog's feature `recorded-arc` records it, and what destructors free";
        say("note", format_args!("{text}; {how}"));
    }
}

/// Lists all of it, as work to do.
pub(super) fn show(out: &mut impl Write, found: &Unrecorded) -> std::io::Result<()> {
    for one in &found.uses {
        let what = match one.what {
            What::Arc | What::ArcOrder => "recorded with the feature `recorded-arc` only",
            _ => "not recorded",
        };
        writeln!(out, "    {}: `{}` is {what}", one.place, one.name)?;
    }
    Ok(())
}

/// Keeps the list beside the traces.
pub(super) fn keep(folder: &Path, found: &Unrecorded) -> Result<(), Failure> {
    let mut json = serde_json::to_vec_pretty(found).map_err(std::io::Error::from)?;
    json.push(b'\n');
    output::replace(&folder.join(FILE), &json)
}

/// The list that was kept, if there is one.
pub(super) fn kept(folder: &Path) -> Result<Unrecorded, Failure> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(Unrecorded::default());
    }
    let problem = |error| Failure::of(path.display(), error);
    let text = regular::read(&path, regular::ANY_SIZE).map_err(problem)?;
    serde_json::from_str(&text).map_err(|error| Failure::of(path.display(), error))
}
