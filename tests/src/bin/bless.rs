//! Writes all files of expected output anew, and says which of them have changed: `cargo bless`.
//!
//! The exit code is 0, whether or not something has changed; 1 if a test has failed all the same,
//! by something else than a file; 2 if the tests could not be run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use racelog_tests::expected::{BLESS, FOLDERS, TESTS, repository};

/// A test has failed.
const FAILED: u8 = 1;
/// The tests could not be run.
const ERROR: u8 = 2;

/// The contents of all expected files, by their paths in the repository.
type Contents = BTreeMap<PathBuf, Vec<u8>>;

fn main() -> ExitCode {
    match bless() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("error: a test fails all the same: look above");
            ExitCode::from(FAILED)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(ERROR)
        }
    }
}

/// Runs the tests; whether all have passed.
fn bless() -> io::Result<bool> {
    let before = contents()?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--quiet", "--package", "racelog-tests", "--test", "suite", "--"])
        .args(TESTS)
        .env(BLESS, "1")
        // What the tests of refused programs are told by.
        .env("TRYBUILD", "overwrite")
        .current_dir(repository())
        .status()?;
    let changes = changes(&before, &contents()?);
    if changes.is_empty() {
        println!("no expected file has changed");
    }
    changes.iter().for_each(|change| println!("{change}"));
    Ok(status.success())
}

fn contents() -> io::Result<Contents> {
    let mut found = Contents::new();
    FOLDERS.iter().try_for_each(|folder| add(Path::new(folder), &mut found))?;
    Ok(found)
}

/// Adds the files of a folder and of those in it.
fn add(folder: &Path, found: &mut Contents) -> io::Result<()> {
    for entry in fs::read_dir(repository().join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            add(&path, found)?;
        } else {
            found.insert(path, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// What has become of each file that is not as it was.
fn changes(before: &Contents, after: &Contents) -> Vec<String> {
    let mut changes = Vec::new();
    for (path, now) in after {
        let path_shown = path.display();
        match before.get(path) {
            None => changes.push(format!("new      {path_shown}")),
            Some(then) if then != now => {
                let (gone, new) = (lines_without(then, now), lines_without(now, then));
                changes.push(format!("changed  {path_shown}: {gone} lines gone, {new} new"));
            }
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    changes.extend(gone.map(|path| format!("gone     {}", path.display())));
    changes
}

/// How many lines of one text the other one does not have.
fn lines_without(text: &[u8], other: &[u8]) -> usize {
    let mut left: BTreeMap<&[u8], usize> = BTreeMap::new();
    for line in other.split(|byte| *byte == b'\n') {
        *left.entry(line).or_default() += 1;
    }
    let mut missing = 0;
    for line in text.split(|byte| *byte == b'\n') {
        match left.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing += 1,
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_by_file() {
        let files = |files: &[(&str, &str)]| -> Contents {
            files.iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec())).collect()
        };
        let before = files(&[("a", "one\ntwo\n"), ("b", "same"), ("c", "")]);
        let after = files(&[("a", "one\none\nthree\n"), ("b", "same"), ("d", "")]);
        let expected = ["changed  a: 1 lines gone, 2 new", "new      d", "gone     c"];
        assert_eq!(changes(&before, &after), expected);
        assert!(changes(&after, &after).is_empty());
    }
}
