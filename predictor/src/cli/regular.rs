//! Files whose names come from elsewhere: opened only if they are plain files, and read only so
//! far.
//!
//! To open a pipe is to wait for a process that writes to it, and a device may have no end. Neither
//! is opened: what a name leads to is looked at first.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// No limit: for files that are as large as the work that they describe.
pub(super) const ANY_SIZE: u64 = u64::MAX;

/// Reads a plain file of text.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<String> {
    check(&fs::metadata(path)?, limit)?;
    let file = File::open(path)?;
    // It may have been replaced in between.
    check(&file.metadata()?, limit)?;
    let mut text = String::new();
    file.take(limit).read_to_string(&mut text)?;
    Ok(text)
}

fn check(found: &fs::Metadata, limit: u64) -> io::Result<()> {
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::other("it is a pipe or device, and no file"));
    }
    if found.len() > limit {
        return Err(io::Error::other(format!("it is larger than {limit} bytes")));
    }
    Ok(())
}

/// Where a path leads, if that is a plain file within a folder; the folder has no links in its
/// path.
pub(super) fn within(folder: &Path, path: &Path) -> Result<PathBuf, String> {
    // This follows links, and opens nothing.
    let real = fs::canonicalize(path).map_err(|error| error.to_string())?;
    if !real.starts_with(folder) {
        return Err("it is a link that leads out of its folder".to_owned());
    }
    let found = fs::metadata(&real).map_err(|error| error.to_string())?;
    check(&found, ANY_SIZE).map_err(|error| error.to_string())?;
    Ok(real)
}
