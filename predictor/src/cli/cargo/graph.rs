//! What a command of cargo builds: packages with their features, and who depends on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use super::workspace::cargo;
use crate::child;

/// A package that is built.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    /// Its folder, if its sources are here and not in a registry.
    pub(super) folder: Option<PathBuf>,
    pub(super) features: BTreeSet<String>,
    pub(super) is_proc_macro: bool,
    needs: Vec<usize>,
}

/// All packages that are built.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// Those that were asked for.
    pub(super) selected: Vec<usize>,
}

/// Flags of cargo that say what is built, and have a value.
const WITH_VALUE: [&str; 8] =
    ["--package", "-p", "--exclude", "--features", "-F", "--manifest-path", "--target", "--config"];

/// Those that have none.
const WITHOUT: [&str; 7] = [
    "--workspace",
    "--all",
    "--all-features",
    "--no-default-features",
    "--locked",
    "--offline",
    "--frozen",
];

/// The words of a command line that say which packages are built and how, and not what of them.
pub(super) fn selection(args: &[OsString]) -> Vec<OsString> {
    let mut chosen = Vec::new();
    let mut words = args.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let is_joined = |flag: &str| match flag.strip_prefix("--") {
            Some(_) => text.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')),
            None => text.len() > 2 && text.starts_with(flag),
        };
        if WITHOUT.iter().any(|flag| text == *flag) || WITH_VALUE.iter().any(|flag| is_joined(flag))
        {
            chosen.push(word.clone());
        } else if WITH_VALUE.iter().any(|flag| text == *flag) {
            chosen.push(word.clone());
            chosen.extend(words.next().cloned());
        }
    }
    chosen
}

impl Graph {
    /// Asks cargo what a command with these arguments builds. `edges` are the kinds of dependencies
    /// that it needs.
    pub(super) fn ask(args: &[OsString], edges: &str, rustflags: &str) -> Result<Self, String> {
        let mut command = Command::new(cargo());
        command.args(["tree", "--edges", edges, "--prefix", "depth", "--format", "|{p}|{f}|"]);
        command.args(["--color", "never", "--charset", "ascii"]);
        command.args(selection(args)).env("CARGO_ENCODED_RUSTFLAGS", rustflags);
        let answer = child::ask(&mut command).map_err(|error| error.source.to_string())?;
        if !answer.end.is_success() {
            return Err(String::from_utf8_lossy(&answer.stderr.bytes).trim().to_owned());
        }
        Ok(Self::parse(&String::from_utf8_lossy(&answer.stdout.bytes)))
    }

    /// Reads what `cargo tree` prints: `1|racelog v0.1.0 (/here/racelog)|default,record|`, with `
    /// (*)` after what was printed before.
    fn parse(text: &str) -> Self {
        let mut graph = Self::default();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut above: Vec<usize> = Vec::new();
        for line in text.lines() {
            let mut parts = line.split('|');
            let (Some(depth), Some(package)) = (parts.next(), parts.next()) else { continue };
            let Ok(depth) = depth.parse::<usize>() else { continue };
            let features = parts.next().unwrap_or_default();
            let at = *known.entry(package.to_owned()).or_insert_with(|| {
                graph.nodes.push(node(package));
                graph.nodes.len() - 1
            });
            let features = features.split(',').filter(|name| !name.is_empty());
            graph.nodes[at].features.extend(features.map(str::to_owned));
            above.truncate(depth);
            match above.last() {
                None => graph.selected.push(at),
                Some(parent) if !graph.nodes[*parent].needs.contains(&at) => {
                    let parent = *parent;
                    graph.nodes[parent].needs.push(at);
                }
                Some(_) => {}
            }
            above.push(at);
        }
        graph
    }

    /// A package and all that is linked with it, but not what racelog and macros need for
    /// themselves.
    pub(super) fn linked(&self, package: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![package];
        while let Some(at) = open.pop() {
            let node = &self.nodes[at];
            if node.is_proc_macro || node.is_racelog() || !found.insert(at) {
                continue;
            }
            open.extend(&node.needs);
        }
        found
    }

    /// Whether racelog's `Arc` is recorded.
    pub(super) fn has_recorded_arc(&self) -> bool {
        self.racelog_has(&["recorded-arc"])
    }

    /// Whether racelog's allocator is the program's.
    pub(super) fn has_allocator(&self) -> bool {
        self.racelog_has(&["allocator", "record"])
    }

    fn racelog_has(&self, features: &[&str]) -> bool {
        let mut racelog = self.nodes.iter().filter(|node| node.name == "racelog");
        racelog.any(|node| features.iter().all(|feature| node.features.contains(*feature)))
    }
}

impl Node {
    fn is_racelog(&self) -> bool {
        ["racelog", "racelog-macros"].contains(&self.name.as_str())
    }
}

/// A package as cargo writes it: `name v1.0.0 (proc-macro) (/its/folder)`.
fn node(text: &str) -> Node {
    let name = text.split(' ').next().unwrap_or_default().to_owned();
    let folder = text.rsplit_once(" (").and_then(|(_, rest)| rest.strip_suffix(')'));
    let folder = folder.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let is_proc_macro = text.contains(" (proc-macro)");
    Node { name, folder, is_proc_macro, ..Node::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_selects_packages_is_taken() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let line = "-p a --lib --features=x -Fy --exclude b --test t drains --workspace -- -p c";
        assert_eq!(selection(&words(line)), words("-p a --features=x -Fy --exclude b --workspace"));
    }

    #[test]
    fn a_tree_is_read() {
        let text = "0|a v0.1.0 (/w s/a)||\n1|racelog v0.1.0 (/r)|default,recorded-arc|\n2|parking_lot v1.0.0||\n\
                    1|b v0.1.0 (/w s/b)|x|\n2|rayon v1.0.0|std|\n2|m v0.1.0 (proc-macro) (/m)||\n3|tokio v1.0.0||\n\n\
                    0|b v0.1.0 (/w s/b)|x| (*)\n";
        let graph = Graph::parse(text);
        let name = |at: &usize| graph.nodes[*at].name.as_str();
        assert_eq!(graph.selected.iter().map(name).collect::<Vec<_>>(), ["a", "b"]);
        let linked = |at: usize| graph.linked(at).iter().map(name).collect::<Vec<_>>();
        assert_eq!(linked(graph.selected[0]), ["a", "b", "rayon"]);
        assert_eq!(linked(graph.selected[1]), ["b", "rayon"]);
        assert!(graph.has_recorded_arc());
        assert_eq!(graph.nodes[0].folder, Some("/w s/a".into()));
        assert!(graph.nodes.iter().any(|node| node.name == "m" && node.is_proc_macro));
    }
}
