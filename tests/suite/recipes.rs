//! The recipes of docs/ARCHITECTURE.md: the diff that one of them shows fits the tree.
//!
//! That the diff compiles was seen when it was made. This test tells when it has to be made anew:
//! when a line that it shows is not there any more.

use std::fs;
use std::path::Path;

use crate::support::repository;

/// What a diff does to one file.
struct FileChange {
    path: String,
    is_new: bool,
    hunks: Vec<Hunk>,
}

/// The lines that a piece of a diff finds, and how many it leaves.
struct Hunk {
    found: Vec<String>,
    left: usize,
    /// How many lines it says that it finds and leaves.
    said: [usize; 2],
}

/// The diffs in a document, as they stand in its blocks of code.
fn diffs(document: &str) -> Vec<&str> {
    let blocks = document.split("\n```diff\n").skip(1);
    blocks.map(|block| block.split_once("\n```").expect("the block ends").0).collect()
}

fn changes(diff: &str) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    for line in diff.lines() {
        if let Some(names) = line.strip_prefix("diff --git a/") {
            let path = names.split_once(" b/").expect("it names both sides").0.to_owned();
            files.push(FileChange { path, is_new: false, hunks: Vec::new() });
            continue;
        }
        let file = files.last_mut().expect("a diff begins with the name of a file");
        if let Some(ranges) = line.strip_prefix("@@ -") {
            file.hunks.push(Hunk { found: Vec::new(), left: 0, said: lengths(ranges) });
            continue;
        }
        match (file.hunks.last_mut(), line.split_at_checked(1)) {
            (None, _) => file.is_new |= line.starts_with("new file"),
            (Some(hunk), Some(("-", text))) => hunk.found.push(text.to_owned()),
            (Some(hunk), Some(("+", _))) => hunk.left += 1,
            (Some(hunk), Some((" ", text))) => {
                hunk.found.push(text.to_owned());
                hunk.left += 1;
            }
            (Some(_), Some((sign, _))) => panic!("`{sign}` begins no line of a diff: {line}"),
            (Some(hunk), None) => {
                hunk.found.push(String::new());
                hunk.left += 1;
            }
        }
    }
    files
}

/// How many lines a hunk says that it finds and leaves: `97,7 +97,9 @@ …`.
fn lengths(ranges: &str) -> [usize; 2] {
    let mut words = ranges.split([' ', '+']).filter(|word| !word.is_empty());
    let mut length = || {
        let range = words.next().expect("a hunk has two ranges");
        let length = range.split_once(',').map_or("1", |(_, length)| length);
        length.parse().expect("a length is a number")
    };
    [length(), length()]
}

/// What is wrong with a change, if it does not fit the tree.
fn misfit(root: &Path, change: &FileChange) -> Option<String> {
    let FileChange { path, is_new, hunks } = change;
    let text = fs::read_to_string(root.join(path));
    let text = match (text, is_new) {
        (Ok(_), true) => return Some(format!("{path} is there already")),
        (Err(error), false) => return Some(format!("{path}: {error}")),
        (Ok(text), false) => text,
        (Err(_), true) => String::new(),
    };
    let lines: Vec<&str> = text.lines().collect();
    hunks.iter().find_map(|hunk| {
        if hunk.said != [hunk.found.len(), hunk.left] {
            return Some(format!("{path}: a hunk has not as many lines as it says"));
        }
        let places = lines.windows(hunk.found.len().max(1)).filter(|lines| **lines == hunk.found);
        match places.count() {
            _ if *is_new => None,
            1 => None,
            count => Some(format!("{path} has {count} times:\n{}", hunk.found.join("\n"))),
        }
    })
}

#[test]
fn a_kind_of_finding_is_added_as_the_recipe_shows() {
    let root = repository();
    let document = fs::read_to_string(root.join("docs/ARCHITECTURE.md")).expect("it is there");
    let recipe = document.split_once("### Add a kind of finding").expect("there is the recipe").1;
    let recipe = recipe.split("\n### ").next().unwrap_or(recipe);
    let diffs = diffs(recipe);
    assert_eq!(diffs.len(), 1, "the recipe shows one diff");
    let changes = changes(diffs[0]);
    assert!((1..=4).contains(&changes.len()), "it touches {} files", changes.len());
    let misfits: Vec<String> = changes.iter().filter_map(|it| misfit(root, it)).collect();
    assert!(misfits.is_empty(), "follow the recipe, and show its diff: {misfits:#?}");
}

#[test]
fn a_diff_that_does_not_fit_is_told() {
    let root = repository();
    let misfit = |diff: &str| changes(diff).iter().find_map(|change| misfit(root, change));
    let license = |lines: &str| format!("diff --git a/LICENSE-MIT b/LICENSE-MIT\n{lines}");
    assert_eq!(misfit(&license("@@ -1 +1,2 @@\n MIT License\n+more")), None);
    let gone = misfit(&license("@@ -1 +1 @@\n-BSD License\n+more")).expect("it does not fit");
    assert_eq!(gone, "LICENSE-MIT has 0 times:\nBSD License");
    let short = misfit(&license("@@ -1,2 +1,3 @@\n MIT License\n+more"));
    assert_eq!(short.as_deref(), Some("LICENSE-MIT: a hunk has not as many lines as it says"));
    let new = license("new file mode 100644\n--- /dev/null\n@@ -0,0 +1 @@\n+more");
    assert_eq!(misfit(&new).as_deref(), Some("LICENSE-MIT is there already"));
}
