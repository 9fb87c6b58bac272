//! The command line of the evaluation.

use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use predictor::report::Table;

use super::{Child, Effort, Nfm11, PaperTable, Pldi08, Pldi14};
use crate::{Program, Size, command, programs};

/// Records all example programs, runs all detectors on the same traces, and prints the papers'
/// tables.
///
/// Exit code 1 says that `said` has found what `mcm` has not, which would be a bug; 2 that
/// something could not be measured, or that the command line is wrong.
#[derive(Debug, Parser)]
#[command(name = "evaluate", args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// Only these programs, with commas between
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = command::named)]
    only: Vec<&'static Program>,
    /// How large: `small`, `large`, or numbers such as `100` or `4x100` (threads and work)
    #[arg(long, default_value = "small", value_parser = size)]
    size: String,
    /// The tables to print, with commas between [default: all]
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    table: Vec<Kind>,
    /// How to print them
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Replay each predicted race [default: yes, if the size is `small`]
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, default_missing_value = "yes")]
    #[arg(value_parser = yes_or_no)]
    confirm: Option<bool>,
    /// How many runs are directed to each suspected pair, and how many are left alone
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// How many seconds a detector may think about a trace
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    time: Duration,
    /// How many seconds a run of a program may take
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    run_time: Duration,
    /// What to do instead
    #[command(subcommand)]
    pub instead: Option<Instead>,
}

/// What a process of its own does.
#[derive(Debug, Subcommand)]
pub enum Instead {
    /// Runs one program.
    #[command(hide = true)]
    Run {
        /// Which.
        #[arg(value_parser = command::named)]
        program: &'static Program,
        /// How large.
        #[arg(value_parser = size)]
        size: String,
    },
}

/// A table that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Kind {
    /// The races that each detector finds
    Pldi14,
    /// Pairs that each step leaves, and witnesses
    Nfm11,
    /// What directed runs make of suspected races
    Pldi08,
}

impl Kind {
    /// The table, empty.
    pub fn table(self) -> Box<dyn PaperTable> {
        match self {
            Self::Pldi14 => Box::new(Pldi14::default()),
            Self::Nfm11 => Box::new(Nfm11::default()),
            Self::Pldi08 => Box::new(Pldi08::default()),
        }
    }
}

/// How tables are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// Columns for people
    Text,
    /// For documents
    Markdown,
    /// Comma-separated values
    Csv,
}

impl Format {
    pub(super) fn write(self, table: &Table, out: &mut impl std::io::Write) -> std::io::Result<()> {
        match self {
            Self::Text => table.write_text(out),
            Self::Markdown => table.write_markdown(out),
            Self::Csv => table.write_csv(out),
        }
    }
}

impl Arguments {
    /// The programs that are asked for.
    pub fn programs(&self) -> Vec<&'static Program> {
        match self.only.is_empty() {
            true => programs().collect(),
            false => self.only.clone(),
        }
    }

    /// The tables that are asked for, empty.
    pub fn tables(&self) -> Vec<Box<dyn PaperTable>> {
        let kinds = match self.table.is_empty() {
            true => Kind::value_variants(),
            false => &self.table,
        };
        kinds.iter().map(|kind| kind.table()).collect()
    }

    /// How much trouble to take.
    pub fn effort(&self) -> Effort {
        let confirm = self.confirm.unwrap_or(self.size == "small");
        Effort { confirm, runs: self.runs as usize, time: self.time }
    }

    /// How a program is run.
    pub fn child(&self, executable: std::path::PathBuf, program: &'static Program) -> Child {
        Child { executable, program, size: size_of(program, &self.size), time: self.run_time }
    }
}

impl Instead {
    /// Does it.
    pub fn run(&self) {
        let Self::Run { program, size } = self;
        (program.run)(&size_of(program, size));
    }
}

/// The size that a word stands for, which [`size`] has let pass.
fn size_of(program: &Program, word: &str) -> Size {
    command::parse(program, word).unwrap_or(program.small)
}

fn size(word: &str) -> Result<String, String> {
    let known = programs().all(|program| command::parse(program, word).is_some());
    known.then(|| word.to_owned()).ok_or_else(|| command::SIZES.to_owned())
}

fn yes_or_no(word: &str) -> Result<bool, String> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("write `yes` or `no`".to_owned()),
    }
}

fn seconds(word: &str) -> Result<Duration, String> {
    let number = word.parse().ok().filter(|number: &f64| *number > 0.0);
    let time = number.and_then(|number| Duration::try_from_secs_f64(number).ok());
    time.ok_or_else(|| "write a number of seconds above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        let words = std::iter::once("evaluate").chain(line.split_whitespace());
        Arguments::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_asked_for() {
        let all = parse("").unwrap();
        assert_eq!(all.programs().len(), programs().count());
        assert_eq!((all.tables().len(), all.effort().confirm), (3, true));
        let some = parse("--only airline,critical --table nfm11 --size large").unwrap();
        assert_eq!(
            some.programs().iter().map(|p| p.name).collect::<Vec<_>>(),
            ["airline", "critical"]
        );
        assert_eq!((some.tables().len(), some.effort().confirm), (1, false));
        assert!(parse("--size 4x100 --confirm").unwrap().effort().confirm);
        assert!(!parse("--confirm=no").unwrap().effort().confirm);
        assert!(matches!(parse("run critical 2x1").unwrap().instead, Some(Instead::Run { .. })));
    }

    #[test]
    fn mistakes_are_told() {
        for (line, part) in [
            ("--only airlne", "no program is called `airlne`: is it `airline`?"),
            ("--size 0", "write `small`, `large`, or numbers above 0"),
            ("--table pldi15", "pldi14"),
            ("--format xml", "markdown"),
            ("--runs 0", "'0'"),
            ("--time never", "write a number of seconds above 0"),
            ("--confirm=maybe", "write `yes` or `no`"),
            ("run airline", "<SIZE>"),
        ] {
            let problem = parse(line).unwrap_err();
            assert!(problem.contains(part), "{line}: {problem}");
        }
    }
}
