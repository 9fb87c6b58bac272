//! Writes tables, each with its title and what there is to say below it.

use std::io::{self, Write};

use super::{Format, PaperTable};

/// Writes all tables. Comma-separated values are for machines: they have no titles, and what there
/// is to say goes to `notes`.
pub fn write(
    tables: &[Box<dyn PaperTable>],
    format: Format,
    out: &mut impl Write,
    notes: &mut impl Write,
) -> io::Result<()> {
    for (number, paper) in tables.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        match format {
            Format::Text => writeln!(out, "{}\n", paper.title())?,
            Format::Markdown => writeln!(out, "### {}\n", paper.title())?,
            Format::Csv => {}
        }
        format.write(&paper.table(), out)?;
        let below = paper.notes();
        match format {
            Format::Csv => below.iter().try_for_each(|note| writeln!(notes, "{note}"))?,
            Format::Text if !below.is_empty() => {
                writeln!(out)?;
                below.iter().try_for_each(|note| writeln!(out, "{note}"))?;
            }
            Format::Markdown if !below.is_empty() => {
                writeln!(out)?;
                below.iter().try_for_each(|note| {
                    // A mark at the start of a line would be that of a list.
                    writeln!(out, "- {}", note.replacen("* ", "\\* ", 1))
                })?;
            }
            Format::Text | Format::Markdown => {}
        }
    }
    out.flush()
}
