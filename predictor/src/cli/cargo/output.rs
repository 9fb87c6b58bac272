//! Reports, written.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::{Failure, terminal};
use super::args::{Color, Format, Output};
use super::sources::Files;
use super::traces;
use crate::child;
use crate::project::Project;
use crate::render::html::html;
use crate::render::perfetto::perfetto;
use crate::render::timeline::{Limits, Timeline};
use crate::render::{self, Detail, TextOptions};
use crate::replay::Replayed;
use crate::trace::Trace;
use crate::trace::format::Source;

/// Writes reports about a project.
pub(super) struct Reporter<'a> {
    pub(super) project: &'a Project,
    pub(super) sources: &'a Files,
    /// The folder of the traces, which timelines need.
    pub(super) traces: Option<&'a Path>,
    /// What is taken off the names of source files.
    pub(super) strip: &'a [String],
}

impl Reporter<'_> {
    /// Writes a report as it is asked for.
    pub(super) fn write(&self, how: &Output) -> Result<(), Failure> {
        let (project, sources) = (self.project, self.sources);
        let mut bytes = Vec::new();
        match how.format {
            Format::Text => render::write_text(&mut bytes, project, sources, &options(how))?,
            Format::Json => bytes = project.to_json().into_bytes(),
            Format::Html => bytes = self.html()?,
            Format::Sarif => bytes = render::to_sarif(project, sources).into_bytes(),
            Format::Junit => bytes = render::to_junit(project, sources).into_bytes(),
            Format::Github => bytes = render::to_github(project, sources).into_bytes(),
            Format::Perfetto => bytes = self.perfetto(how.finding)?,
        }
        match &how.output {
            Some(path) => replace(path, &bytes),
            None => {
                let mut out = terminal::stdout(kind(how.format));
                out.write_all(&bytes)?;
                Ok(out.flush()?)
            }
        }
    }

    /// The page for browsers.
    pub(super) fn html(&self) -> Result<Vec<u8>, Failure> {
        let mut page = Vec::new();
        html(&mut page, self.project, self.sources, self.strip, |name| self.load(name).ok())?;
        Ok(page)
    }

    /// The timelines of one finding.
    fn perfetto(&self, number: Option<u32>) -> Result<Vec<u8>, Failure> {
        let mut findings = self.project.findings.iter();
        let finding = match number {
            Some(number) => findings.find(|finding| finding.number == number),
            None => self.project.open_findings().next(),
        };
        let finding = finding.ok_or_else(|| {
            let problem = match number {
                Some(number) => format!("there is no finding {number}"),
                None => "there is no finding that counts: choose one by --finding".to_owned(),
            };
            Failure::Message(problem)
        })?;
        let occurrence = finding.best();
        let trace = self.load(&occurrence.trace)?;
        let timeline = Timeline::new(&trace, &[occurrence], &Limits::default(), self.strip);
        if timeline.events_of[0].is_none() {
            return Err(Failure::of(&occurrence.trace, "it is of another trace"));
        }
        let mut bytes = Vec::new();
        perfetto(&mut bytes, &timeline, 0)?;
        Ok(bytes)
    }

    fn load(&self, name: &str) -> Result<Trace, Failure> {
        let folder = self.traces.ok_or_else(|| Failure::of(name, "its folder is not known"))?;
        let problem = |error: &dyn std::fmt::Display| Failure::of(name, error);
        let path = traces::locate(folder, name).map_err(|error| problem(&error))?;
        let mut source = Source::open(&path, None).map_err(|error| problem(&error))?;
        Trace::load(&mut source, |_| {}).map_err(|error| problem(&error))
    }
}

/// What a terminal must not be given raw, by format.
const fn kind(format: Format) -> terminal::Kind {
    match format {
        Format::Text => terminal::Kind::Coloured,
        Format::Github => terminal::Kind::Text,
        Format::Json | Format::Sarif | Format::Perfetto => terminal::Kind::Json,
        Format::Junit => terminal::Kind::Xml,
        Format::Html => terminal::Kind::Data,
    }
}

/// How the text looks: on a terminal as it is there.
fn options(how: &Output) -> TextOptions {
    let is_terminal = how.output.is_none() && io::stdout().is_terminal();
    let colour = match how.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty()),
    };
    let usual = TextOptions::default();
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let shown = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = asked.or_else(|| is_terminal.then(shown).flatten()).unwrap_or(usual.width);
    let detail = match (how.quiet, how.verbose) {
        (true, _) => Detail::Quiet,
        (false, true) => Detail::Verbose,
        (false, false) => Detail::Normal,
    };
    TextOptions { colour, width, detail }
}

/// Replaces a file as a whole, or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let problem = |error: io::Error| Failure::of(path.display(), error);
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // As any file that is written, not as a secret.
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(permissions);
    let file = builder.prefix(".").suffix(".tmp").tempfile_in(folder);
    let mut file = file.map_err(problem)?;
    file.write_all(bytes).map_err(problem)?;
    file.persist(path).map(drop).map_err(|error| problem(error.error))
}

/// Shows a page in the browser.
pub(super) fn open(page: &Path) -> Result<(), Failure> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let opener = std::env::var_os("BROWSER").unwrap_or_else(|| opener.into());
    let mut command = Command::new(&opener);
    command.arg(page).stdout(Stdio::null());
    let shown = child::run(&mut command, &child::Limits::default());
    if shown.is_ok_and(|shown| shown.end.is_success()) {
        return Ok(());
    }
    let problem = format!("`{}` does not show it: set BROWSER", opener.to_string_lossy());
    Err(Failure::of(page.display(), problem))
}

/// Shows what the program printed while it was replayed.
pub(super) fn show_printed(out: &mut impl Write, replayed: &Replayed) -> io::Result<()> {
    for order in &replayed.orders {
        if order.printed.is_empty() {
            continue;
        }
        match &order.first {
            Some(first) => writeln!(out, "  what it printed with `{first}` first:")?,
            None => writeln!(out, "  what it printed:")?,
        }
        for line in String::from_utf8_lossy(&order.printed).lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}
