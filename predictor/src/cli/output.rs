//! Files to write: whole, or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::Failure;
use super::terminal::{self, Guarded, Kind};
use crate::trace::format::Format;

/// Where a trace goes.
pub(super) enum Output {
    Standard(BufWriter<Guarded<StdoutLock<'static>>>),
    /// A file that takes its place when it is complete, so that the input may be the output, and
    /// what was there is not lost to an error.
    Replacing(BufWriter<NamedTempFile>, PathBuf),
    /// A pipe or device.
    Special(BufWriter<File>, PathBuf),
}

impl Output {
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Standard(terminal::stdout(Kind::Data)));
        }
        let created = match path.metadata() {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                let opened = OpenOptions::new().write(true).open(path);
                opened.map(|file| Self::Special(BufWriter::new(file), path.to_owned()))
            }
            // A link stays a link: what it points to is replaced.
            Ok(_) => path.canonicalize().and_then(|path| Self::replacing(&path)),
            Err(_) => Self::replacing(path),
        };
        created.map_err(|error| Failure::of(path.display(), error))
    }

    fn replacing(path: &Path) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        #[cfg(unix)]
        builder.permissions(permissions);
        let file = builder.prefix(".").suffix(".tmp").tempfile_in(folder)?;
        Ok(Self::Replacing(BufWriter::with_capacity(1 << 16, file), path.to_owned()))
    }

    /// Puts the file in its place.
    pub(super) fn keep(self) -> Result<(), Failure> {
        match self {
            Self::Standard(mut out) => Ok(out.flush()?),
            Self::Special(mut out, path) => {
                out.flush().map_err(|error| Failure::of(path.display(), error))
            }
            Self::Replacing(out, path) => {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error);
                let kept = file.and_then(|file| file.persist(&path).map_err(|error| error.error));
                kept.map(drop).map_err(|error| Failure::of(path.display(), error))
            }
        }
    }

    /// A failure to write here.
    pub(super) fn failure(path: &Path, error: io::Error) -> Failure {
        if path == Path::new("-") { error.into() } else { Failure::of(path.display(), error) }
    }
}

/// The format that is asked for, or that the name of the output tells.
pub(super) fn output_format(asked: Option<Format>, path: &Path) -> Result<Format, Failure> {
    let by_name =
        || if path == Path::new("-") { Some(Format::Text) } else { Format::of_path(path) };
    asked.or_else(by_name).ok_or_else(|| {
        let problem = "the name does not tell the format: end it in .rtxt, .rlog or .std, or say \
                       --to text, binary or std";
        Failure::of(path.display(), problem)
    })
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::Replacing(out, _) => out.write(bytes),
            Self::Special(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::Replacing(out, _) => out.flush(),
            Self::Special(out, _) => out.flush(),
        }
    }
}
