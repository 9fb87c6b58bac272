//! Tables: a column of names, then columns of numbers.

use std::io::{self, Write};

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(header: Vec<String>) -> Self {
        Self { header, rows: Vec::new() }
    }

    /// Adds a row, which has as many cells as the header.
    pub fn add(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row);
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.header).chain(&self.rows)
    }

    /// Columns that line up.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let width = |column: usize| self.lines().map(|line| line[column].chars().count()).max();
        let widths: Vec<usize> =
            (0..self.header.len()).map(|column| width(column).unwrap_or(0)).collect();
        for line in self.lines() {
            let mut text = format!("{:<width$}", line[0], width = widths[0]);
            for (cell, width) in line.iter().zip(&widths).skip(1) {
                text.push_str(&format!("  {cell:>width$}"));
            }
            writeln!(out, "{}", text.trim_end())?;
        }
        Ok(())
    }

    /// Comma-separated values, as RFC 4180 has them.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        for line in self.lines() {
            let cells: Vec<String> = line.iter().map(|cell| csv_cell(cell)).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }

    /// A table for documents.
    pub fn write_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        for (number, line) in self.lines().enumerate() {
            let cells: Vec<String> = line.iter().map(|cell| cell.replace('|', "\\|")).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
            if number == 0 {
                writeln!(out, "| --- |{}", " ---: |".repeat(cells.len() - 1))?;
            }
        }
        Ok(())
    }
}

fn csv_cell(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["trace", "n"].map(str::to_owned).to_vec());
        table.add(["a, \"b\" | c", "12"].map(str::to_owned).to_vec());
        table
    }

    fn written(write: impl Fn(&Table, &mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&table(), &mut out).expect("memory does not fail");
        String::from_utf8(out).expect("all is text")
    }

    #[test]
    fn all_forms() {
        assert_eq!(written(Table::write_text), "trace        n\na, \"b\" | c  12\n");
        assert_eq!(written(Table::write_csv), "trace,n\n\"a, \"\"b\"\" | c\",12\n");
        let markdown = "| trace | n |\n| --- | ---: |\n| a, \"b\" \\| c | 12 |\n";
        assert_eq!(written(Table::write_markdown), markdown);
    }
}
