//! The report for people, in the manner of rustc.

mod layout;
mod schedule;
mod snippets;
mod summary;

use std::io::{self, Write};

pub(crate) use self::layout::{acts_on_terminals, harmless};
use super::story::Story;
use crate::project::{Project, Sources};

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// The headlines with their places, and the summary.
    Quiet,
    /// All that is known about what counts.
    #[default]
    Normal,
    /// Also every test in which a race occurred, and what does not count.
    Verbose,
}

/// How the text looks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextOptions {
    /// Whether it has colours.
    pub colour: bool,
    /// How many columns there are. Below 40 it is as if there were 40.
    pub width: usize,
    /// How much is said.
    pub detail: Detail,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { colour: false, width: 100, detail: Detail::Normal }
    }
}

/// The narrowest that makes sense.
const NARROWEST: usize = 40;

/// Writes the report for people.
pub fn write_text(
    out: &mut impl Write,
    project: &Project,
    sources: &impl Sources,
    options: &TextOptions,
) -> io::Result<()> {
    let options = &TextOptions { width: options.width.max(NARROWEST), ..options.clone() };
    for finding in project.open_findings() {
        let story = Story::new(project, finding, sources);
        if options.detail == Detail::Quiet {
            writeln!(out, "{}", summary::headline(&story, options))?;
            continue;
        }
        writeln!(out, "{}", snippets::head(&story, sources, options))?;
        let schedule = schedule::schedule(&story, options);
        if !schedule.is_empty() {
            writeln!(out, "\n   a schedule, time going down:\n")?;
        }
        for line in schedule {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    summary::write(out, project, sources, options)
}
