//! How this machine ran the programs that it recorded.
//!
//! Folders of traces travel: they are uploaded, downloaded and unpacked, and the author of one
//! wrote every file in it. So what may be run again never comes from there. Each run keeps its
//! command in the user's state folder, beside no traces, and only what is found there is run.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::recorded::Recorded;

/// The commands of the runs that left their traces in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnRuns {
    folder: PathBuf,
}

/// A run, and the file that was run.
#[derive(Debug, Deserialize)]
struct Kept {
    recorded: Recorded,
    stamp: Option<String>,
}

/// The same, to be written.
#[derive(Serialize)]
struct ToKeep<'a> {
    recorded: &'a Recorded,
    stamp: Option<String>,
}

/// Why a program is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// No run of it on this machine is known, or none with these arguments.
    NotRun,
    /// Its file is another one than the one that was run.
    Changed,
}

impl OwnRuns {
    /// Those of a folder of traces. There are none without a home.
    pub(super) fn of(traces: &Path) -> Option<Self> {
        let traces = std::path::absolute(traces).ok()?;
        // A link in the path must not make two of one folder; what is not there yet has none.
        let there = traces.ancestors().find(|path| path.exists())?;
        let rest = traces.strip_prefix(there).ok()?;
        let there = fs::canonicalize(there).ok()?;
        let traces: PathBuf = there.components().chain(rest.components()).collect();
        let name = format!("{:016x}", crate::project::fnv(traces.as_os_str().as_encoded_bytes()));
        Some(Self { folder: state_folder()?.join("racelog").join("runs").join(name) })
    }

    /// Those that are kept in a folder.
    pub(super) fn within(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Forgets them all.
    pub(super) fn forget(&self) -> io::Result<()> {
        remove(&self.folder)
    }

    /// Forgets those of the program whose traces were in the folder of this name.
    pub(super) fn forget_program(&self, program: &str) -> io::Result<()> {
        remove(&self.folder.join(program))
    }

    /// Keeps how a program was run whose traces are in the folder of this name.
    pub(super) fn keep(&self, program: &str, recorded: &Recorded) -> io::Result<()> {
        let folder = self.folder.join(program);
        create_private(&folder)?;
        let name = file_name(&recorded.arguments);
        let stamp = recorded.program().and_then(|program| stamp(Path::new(program)));
        let text = serde_json::to_string_pretty(&ToKeep { recorded, stamp })?;
        // Several processes may do this at once: none must see half a file.
        let file = tempfile::NamedTempFile::new_in(&folder)?;
        fs::write(file.path(), text)?;
        file.persist(folder.join(name)).map(drop).map_err(|error| error.error)
    }

    /// How the program was run whose traces are in the folder of this name: with these arguments,
    /// or with any.
    pub(super) fn find(
        &self,
        program: &str,
        arguments: Option<&[String]>,
    ) -> Result<Recorded, Unknown> {
        let folder = self.folder.join(program);
        let read = |path: PathBuf| -> Option<Kept> {
            serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
        };
        let is_as_it_was = |kept: &Kept| {
            kept.recorded.program().and_then(|program| stamp(Path::new(program))) == kept.stamp
        };
        let kept: Vec<Kept> = match arguments {
            Some(arguments) => read(folder.join(file_name(arguments)))
                .filter(|kept| kept.recorded.arguments == arguments)
                .into_iter()
                .collect(),
            None => {
                let entries = fs::read_dir(folder).into_iter().flatten().flatten();
                let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
                paths.sort();
                paths.into_iter().filter_map(read).collect()
            }
        };
        let is_known = !kept.is_empty();
        // Runs with other arguments may be of a file that is gone.
        match kept.into_iter().find(is_as_it_was) {
            Some(kept) => Ok(kept.recorded),
            None => Err(if is_known { Unknown::Changed } else { Unknown::NotRun }),
        }
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn file_name(arguments: &[String]) -> String {
    format!("{:016x}.json", crate::project::fnv(arguments.join("\0").as_bytes()))
}

/// Where programs keep what is theirs, and is no setting.
fn state_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    set("XDG_STATE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".local").join("state")))
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// What changes when a file is replaced or written. An archive that is unpacked can set the time of
/// modification, but not the inode and its time.
fn stamp(path: &Path) -> Option<String> {
    let file = fs::metadata(path).ok()?;
    let modified = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let stamp = format!("{} bytes, {modified:?}", file.len());
    #[cfg(unix)]
    let stamp = {
        use std::os::unix::fs::MetadataExt;
        let changed = (file.ctime(), file.ctime_nsec());
        format!("{stamp}, {} {} {changed:?}", file.dev(), file.ino())
    };
    Some(stamp)
}

/// A folder for runs that cannot be kept: they are known as long as it is there.
pub(super) fn temporary() -> io::Result<(OwnRuns, tempfile::TempDir)> {
    let folder = tempfile::TempDir::with_prefix("racelog-runs-")?;
    Ok((OwnRuns::within(folder.path().to_owned()), folder))
}

/// The words of a command as one would type them.
pub(super) fn shown(words: &[OsString]) -> String {
    let shown = words.iter().map(|word| {
        let word = word.to_string_lossy();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.into_owned(),
            false => format!("{word:?}"),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(program: &Path, arguments: &[&str]) -> Recorded {
        Recorded {
            words: vec![program.to_string_lossy().into_owned()],
            before: 0,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            folder: PathBuf::from("/"),
            variables: Vec::new(),
            ended: None,
        }
    }

    #[test]
    fn only_what_was_run_here_is_known() {
        let (runs, folder) = temporary().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "one").unwrap();
        runs.keep("p", &recorded(&program, &["a b"])).unwrap();
        let arguments = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(runs.find("p", None).is_ok());
        assert!(runs.find("p", Some(&arguments(&["a b"]))).is_ok());
        for others in [&["a", "b"][..], &[], &["a b", ""]] {
            assert_eq!(runs.find("p", Some(&arguments(others))), Err(Unknown::NotRun));
        }
        assert_eq!(runs.find("q", None), Err(Unknown::NotRun));
        fs::write(&program, "another").unwrap();
        assert_eq!(runs.find("p", None), Err(Unknown::Changed));
        runs.keep("p", &recorded(&program, &["--quiet"])).unwrap();
        assert!(runs.find("p", None).is_ok(), "it was run since, in another way");
        assert_eq!(runs.find("p", Some(&arguments(&["a b"]))), Err(Unknown::Changed));
        runs.forget().unwrap();
        assert_eq!(runs.find("p", None), Err(Unknown::NotRun));
        runs.forget().unwrap();
    }

    #[test]
    fn a_folder_is_the_same_before_and_after_it_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let traces = folder.path().join("target/racelog");
        let before = OwnRuns::of(&traces);
        fs::create_dir_all(&traces).unwrap();
        assert_eq!(OwnRuns::of(&traces), before);
        assert_eq!(OwnRuns::of(&traces.join("")), before);
    }

    #[test]
    fn commands_are_shown_as_they_are() {
        let words = ["/bin/sh", "-c", "rm x"].map(OsString::from);
        assert_eq!(shown(&words), "/bin/sh -c \"rm x\"");
    }
}
