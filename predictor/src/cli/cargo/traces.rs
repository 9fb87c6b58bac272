//! The traces that are there.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::{Failure, regular, say};
use super::own_runs::OwnRuns;
use super::{recorded, runner};
use crate::project::{TraceFile, is_trace_name};
use crate::trace::format::Format;

/// The traces of a folder and of the folders in it, sorted by name. Whether they are traces remains
/// to be seen: all files count that are called as if.
pub(super) fn find(folder: &Path) -> Result<Vec<TraceFile>, Failure> {
    let mut files = Vec::new();
    let problem = |error| Failure::of(folder.display(), error);
    let real = fs::canonicalize(folder).map_err(problem)?;
    for entry in entries(folder).map_err(problem)? {
        if !entry.is_dir() {
            files.extend(file(folder, &real, entry));
        } else if entry.file_name().is_some_and(|name| name != "build") {
            if !fs::canonicalize(&entry).is_ok_and(|entry| entry.starts_with(&real)) {
                let text = "not looked into: a link that leads out of the folder of the traces";
                say("warning", format_args!("{}: {text}", entry.display()));
                continue;
            }
            // What cannot be looked into has nothing to be skipped by name.
            let inner = entries(&entry).map_err(|error| Failure::of(entry.display(), error))?;
            let inner = inner.into_iter().filter(|path| !path.is_dir());
            files.extend(inner.filter_map(|path| file(folder, &real, path)));
        }
    }
    files.sort();
    Ok(files)
}

/// Traces that are named one by one, or by their folder.
pub(super) fn find_all(paths: &[PathBuf]) -> Result<Vec<TraceFile>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(find(path)?);
        } else if path.exists() {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            files.push(TraceFile { name, path: path.clone(), refused: None });
        } else {
            return Err(Failure::of(path.display(), "there is no such file or folder"));
        }
    }
    files.sort();
    files.dedup();
    if let Some(twice) = files.windows(2).find(|pair| pair[0].name == pair[1].name) {
        let problem = format!("another trace has the same name: {}", twice[0].path.display());
        return Err(Failure::of(twice[1].path.display(), problem));
    }
    Ok(files)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

fn file(folder: &Path, real: &Path, path: PathBuf) -> Option<TraceFile> {
    Format::of_path(&path)?;
    let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy();
    let name = if cfg!(windows) { name.replace('\\', "/") } else { name.into_owned() };
    let refused = regular::within(real, &path).err();
    Some(TraceFile { name, path, refused })
}

/// Where the trace is that a report names. The name may be anybody's, so it leads nowhere but into
/// the folder.
pub(super) fn locate(folder: &Path, name: &str) -> Result<PathBuf, String> {
    if !is_trace_name(name) {
        return Err("that is no name within the folder of the traces".to_owned());
    }
    let real = fs::canonicalize(folder).map_err(|error| error.to_string())?;
    regular::within(&real, &folder.join(name))
}

/// When the newest of some traces was written.
pub(super) fn newest(files: &[TraceFile]) -> Option<SystemTime> {
    files.iter().filter_map(|file| file.path.metadata().ok()?.modified().ok()).max()
}

/// The traces that were there before a run.
#[derive(Debug, Default)]
pub(super) struct Before {
    stamps: HashMap<PathBuf, Stamp>,
}

/// What tells one file of a name from another.
type Stamp = (u64, Option<SystemTime>, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let file = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&file);
    #[cfg(not(unix))]
    let number = 0;
    Some((file.len(), file.modified().ok(), number))
}

impl Before {
    pub(super) fn new(files: &[TraceFile]) -> Self {
        let stamps = files.iter().filter_map(|f| Some((f.path.clone(), stamp(&f.path)?)));
        Self { stamps: stamps.collect() }
    }

    /// Whether a trace was there.
    pub(super) fn has(&self, file: &TraceFile) -> bool {
        self.stamps.get(&file.path).is_some_and(|known| stamp(&file.path) == Some(*known))
    }

    /// Removes those that programs run by us have left, and nothing else. What is known of the runs
    /// that left nothing new goes as well.
    pub(super) fn remove(&self, folder: &Path, runs: &OwnRuns) -> Result<(), Failure> {
        let Ok(found) = entries(folder) else { return Ok(()) };
        let ours = found.into_iter().filter(|path| {
            path.join(recorded::FILE).is_file()
                || path.file_name().is_some_and(|name| name == runner::OTHERS)
        });
        for path in ours {
            let problem = |error| Failure::of(path.display(), error);
            if path.is_symlink() {
                fs::remove_file(&path).map_err(problem)?;
                continue;
            }
            let mut left = false;
            for file in entries(&path).map_err(problem)? {
                if Format::of_path(&file).is_none() {
                    continue;
                }
                let is_old = self.stamps.get(&file).is_some_and(|old| stamp(&file) == Some(*old));
                if is_old {
                    fs::remove_file(&file).map_err(|error| Failure::of(file.display(), error))?;
                }
                left |= !is_old;
            }
            if !left {
                fs::remove_dir_all(&path).map_err(problem)?;
                let program = path.file_name().unwrap_or_default().to_string_lossy();
                runs.forget_program(&program).map_err(problem)?;
            }
        }
        Ok(())
    }
}
