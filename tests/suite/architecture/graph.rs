//! Which files of a module use which, and whether that goes in circles.
//!
//! A file uses another if one of its paths (`use` lines, and paths that start with `crate`, `super`
//! or `self`) leads there. Tests are not looked at, nor is the declaration of a module.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::rust_files;

/// A module by its path from the crate's root.
type Module = Vec<String>;

/// Which module uses which.
#[derive(Default)]
pub(super) struct Graph {
    uses: BTreeMap<Module, BTreeSet<Module>>,
}

impl Graph {
    /// The graph of the files below a module of a crate.
    pub(super) fn of(sources: &Path, room: &str) -> Self {
        let mut files = Vec::new();
        rust_files(&sources.join(room), &mut files);
        let modules = files.iter().map(|file| {
            let path = file.strip_prefix(sources).unwrap().with_extension("");
            let mut module: Module =
                path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if module.last().is_some_and(|name| name == "mod") {
                module.pop();
            }
            (module, fs::read_to_string(file).unwrap())
        });
        Self::of_modules(&modules.collect())
    }

    fn of_modules(modules: &BTreeMap<Module, String>) -> Self {
        let mut uses = BTreeMap::new();
        for (module, source) in modules {
            if module.last().is_some_and(|name| name == "tests") {
                continue;
            }
            let targets = paths(&code(source)).into_iter().filter_map(|path| {
                let path = resolve(module, &path, modules)?;
                (1..=path.len()).rev().map(|len| path[..len].to_vec()).find(|target| {
                    // What leads to no file of this module is of no interest.
                    modules.contains_key(target)
                })
            });
            let targets = targets.filter(|target| target != module).collect();
            uses.insert(module.clone(), targets);
        }
        Self { uses }
    }

    /// The graph of folders and files right below the module.
    pub(super) fn folders(&self) -> Self {
        let mut folders = Self::default();
        let short = |module: &Module| module[..module.len().min(2)].to_vec();
        for (module, targets) in &self.uses {
            let from = short(module);
            let targets = targets.iter().map(short).filter(|target| *target != from);
            folders.uses.entry(from.clone()).or_default().extend(targets);
        }
        folders
    }

    pub(super) fn len(&self) -> usize {
        self.uses.len()
    }

    /// Modules that use each other in a circle, if there are any.
    pub(super) fn cycle(&self) -> Option<String> {
        let mut done = BTreeSet::new();
        self.uses.keys().find_map(|module| self.search(module, &mut Vec::new(), &mut done))
    }

    fn search<'a>(
        &'a self,
        module: &'a Module,
        path: &mut Vec<&'a Module>,
        done: &mut BTreeSet<&'a Module>,
    ) -> Option<String> {
        if let Some(start) = path.iter().position(|other| *other == module) {
            let names = path[start..].iter().chain([&module]).map(|module| module.join("::"));
            return Some(names.collect::<Vec<_>>().join(" -> "));
        }
        if done.contains(module) {
            return None;
        }
        path.push(module);
        let targets = self.uses.get(module).into_iter().flatten();
        let found = targets.into_iter().find_map(|target| self.search(target, path, done));
        path.pop();
        done.insert(module);
        found
    }
}

/// The code of a file, without comments, tests and restrictions of what is public.
fn code(source: &str) -> String {
    let mut code = String::new();
    // Tests are the last thing in a file.
    let tests = source.find("\nmod tests {").unwrap_or(source.len());
    for line in source[..tests].lines() {
        let line = line.split_once("//").map_or(line, |(line, _)| line);
        // In a module within the file this leads to the file itself.
        if line.starts_with(' ') && line.trim_start().starts_with("use super::") {
            continue;
        }
        code.push_str(line);
        code.push('\n');
    }
    while let Some(start) = code.find("pub(in ") {
        let end = code[start..].find(')').expect("it is closed");
        code.replace_range(start..=start + end, "pub");
    }
    code
}

/// All paths in some code that can lead to another file.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for statement in code.split(';') {
        if let Some(at) = statement.rfind("use ")
            && statement[..at].chars().last().is_none_or(|c| c.is_whitespace() || c == ')')
        {
            expand(&[], statement[at + "use ".len()..].trim(), &mut found);
        }
    }
    let of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in code.split(|c| !of_path(c)) {
        let starts = ["crate::", "super::", "self::"].iter().any(|start| word.starts_with(start));
        // What ends so is the start of a tree, which is expanded above.
        if starts && !word.ends_with("::") {
            found.push(split(word));
        }
    }
    found
}

fn split(path: &str) -> Vec<String> {
    path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The paths of a `use` tree.
fn expand(before: &[String], tree: &str, found: &mut Vec<Vec<String>>) {
    let Some((start, list)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap().trim();
        let path = path.strip_suffix("::self").unwrap_or(path);
        let own = split(path).into_iter().filter(|part| part != "*" && !part.is_empty());
        found.push(before.iter().cloned().chain(own).collect());
        return;
    };
    let before: Vec<String> = before.iter().cloned().chain(split(start.trim())).collect();
    let list = list.trim_end().strip_suffix('}').unwrap_or(list);
    let (mut depth, mut from) = (0, 0);
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                match list[from..at].trim() {
                    "" => {}
                    "self" => found.push(before.clone()),
                    item => expand(&before, item, found),
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// The path from the crate's root, if the crate is meant.
fn resolve(module: &Module, path: &[String], modules: &BTreeMap<Module, String>) -> Option<Module> {
    let (mut base, mut rest) = (module.clone(), path);
    match path.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &path[1..]),
        "super" | "self" => {
            while let Some((first @ ("super" | "self"), others)) =
                rest.split_first().map(|(first, others)| (first.as_str(), others))
            {
                if first == "super" {
                    base.pop();
                }
                rest = others;
            }
        }
        // A child of this module, or another crate.
        name => {
            let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
            modules.contains_key(&child).then_some(())?;
        }
    }
    Some(base.into_iter().chain(rest.iter().cloned()).collect())
}

#[test]
fn cycles_are_found_whatever_the_path() {
    let module = |path: &str| split(path);
    let graph = |sources: &[(&str, &str)]| {
        let sources = sources.iter().map(|(path, source)| (module(path), (*source).to_owned()));
        Graph::of_modules(&sources.collect())
    };
    let mut sources = vec![
        ("rt", "mod a;\nmod b;\npub(crate) use a::{A, x::X};\nuse b::B as C;\n"),
        ("rt::a", "use std::fmt;\nuse super::b::{self, B};\nuse crate::trace::Op;\n"),
        ("rt::b", "use super::c;\n// use super::a::A;\npub(in crate::rt) struct B;\n"),
        ("rt::c", "use std::{fmt, io};\n#[cfg(test)]\nmod tests {\n    use crate::rt::a;\n}\n"),
    ];
    assert_eq!(graph(&sources).cycle(), None);
    for back in ["use super::a::A;", "fn f() { crate::rt::a::g() }", "use super::{c, a::A};"] {
        sources[3].1 = back;
        let cycle = graph(&sources).cycle();
        assert_eq!(cycle.as_deref(), Some("rt::a -> rt::b -> rt::c -> rt::a"), "{back}");
    }
    // What the parent exports is the parent's.
    sources[3].1 = "use super::A;";
    let cycle = graph(&sources).cycle();
    assert_eq!(cycle.as_deref(), Some("rt -> rt::a -> rt::b -> rt::c -> rt"));
}

#[test]
fn folders_can_go_in_circles_where_files_do_not() {
    let sources = [
        ("rt::low::a", "use crate::rt::high::b;"),
        ("rt::high::b", ""),
        ("rt::high::c", "use crate::rt::low::d;"),
        ("rt::low::d", ""),
    ];
    let sources = sources.map(|(path, source)| (split(path), source.to_owned()));
    let graph = Graph::of_modules(&sources.into_iter().collect());
    assert_eq!(graph.cycle(), None);
    assert_eq!(graph.folders().cycle().as_deref(), Some("rt::high -> rt::low -> rt::high"));
}
