//! What can be asked of `cargo racelog`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use super::settings::Flags;
use crate::project::Shard;

const EXIT_CODES: &str = "\
Exit codes:
  0    nothing was found
  1    something was found that counts, and is not doubtful: see --strict, suppressions, --baseline
  2    an error: the command line, a file, the settings; or a bug of racelog
  130  an interrupt ended the run (143: a request to terminate); what was recorded is reported
  else the code of cargo, when tests or the build failed and nothing was found";

/// Predicts the data races of Rust programs from ordinary test runs, and proves each by running it
#[derive(Debug, Parser)]
#[command(name = "cargo-racelog", bin_name = "cargo", version)]
pub(super) struct Cargo {
    #[command(subcommand)]
    pub(super) racelog: Racelog,
}

#[derive(Debug, Subcommand)]
pub(super) enum Racelog {
    /// Predicts the data races of Rust programs from ordinary test runs, and proves each by running
    /// it
    #[command(version, display_name = "cargo-racelog", after_help = EXIT_CODES)]
    Racelog {
        #[command(subcommand)]
        command: Command,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs `cargo test` recorded, analyses what was recorded, confirms it, and reports
    #[command(after_help = "\
Examples:
  cargo racelog test
  cargo racelog test -p queue --release drains     all flags and filters of cargo test
  cargo racelog test -- --test-threads=1
  cargo racelog test --format sarif --output races.sarif

Flags of racelog may stand anywhere before `--`; all others are cargo's.")]
    Test(Run),
    /// The same with `cargo nextest run`
    Nextest(Run),
    /// The same with `cargo run`
    Run(Run),
    /// The same as `test`, and runs each test under many schedules
    #[command(after_help = "\
Examples:
  cargo racelog explore                              200 schedules of each test
  cargo racelog explore --schedules 5000 drains      more of them, of some tests")]
    Explore(Run),
    /// Reports again, from what is there
    Report(Again),
    /// Analyses the traces that are there, or a part of them
    #[command(after_help = "\
Examples:
  cargo racelog analyze                              all traces that are there
  cargo racelog analyze --shard 3/16 --output 3.json a part, for `cargo racelog merge`
  cargo racelog analyze traces/ --format html --output report.html")]
    Analyze(Analyze),
    /// Joins the reports of all shards
    #[command(after_help = "\
Examples:
  cargo racelog merge shards/*.json
  cargo racelog merge shards/*.json --format json --output report.json")]
    Merge(Merge),
    /// Runs the program so that a finding happens, in both orders
    #[command(after_help = "\
Examples:
  cargo racelog replay 3                             the finding with this number in the last report

What is run is what this machine ran when it recorded the trace. Traces that were made elsewhere say
by themselves how their program is run: that is only done with --trust-command.

Exit codes:
  0  confirmed: in both runs both threads stood before their accesses at the same time
  1  the program did something else
  2  an error")]
    Replay(Replay),
    /// Says what a code means, and what to do
    Explain {
        /// The code, such as RL001
        code: String,
    },
    /// Shows the few lines that a crate needs, or writes them
    Init(Init),
    /// Removes what was recorded and built
    Clean(Clean),
    /// Runs a program for cargo
    #[command(name = super::runner::NAME, hide = true)]
    Runner {
        /// The folder of the traces, the program and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

/// Cargo runs something.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) flags: Flags,
    #[command(flatten)]
    pub(super) output: Output,
    /// Under how many schedules each test runs besides, directed to nothing [default: none; of
    /// `explore` 200]
    #[arg(long, value_name = "N")]
    pub(super) schedules: Option<usize>,
    /// Do not run the program again to confirm what was predicted
    #[arg(long)]
    pub(super) no_confirm: bool,
    /// Fail before anything is run if the sources use synchronisation that is not recorded
    #[arg(long)]
    pub(super) deny_unrecorded: bool,
    /// Keep the traces of earlier runs, and analyse them as well
    #[arg(long)]
    pub(super) keep_traces: bool,
    /// The arguments of cargo
    #[arg(last = true, value_name = "CARGO'S ARGUMENTS")]
    pub(super) cargo: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct Again {
    #[command(flatten)]
    pub(super) flags: Flags,
    #[command(flatten)]
    pub(super) output: Output,
    /// Show the HTML report in the browser
    #[arg(long)]
    pub(super) open: bool,
    /// Analyse the traces again, even if nothing has changed
    #[arg(long)]
    pub(super) analyze: bool,
    /// The manifest of the workspace
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Analyze {
    /// A folder of traces, or traces [default: those of the workspace]
    #[arg(value_name = "TRACES")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) flags: Flags,
    #[command(flatten)]
    pub(super) output: Output,
    /// Only a part of the work, such as 3/16: the third of sixteen
    #[arg(long, value_name = "K/N", value_parser = shard)]
    pub(super) shard: Option<Shard>,
    /// The manifest of the workspace
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Merge {
    /// The reports of all shards, as JSON
    #[arg(value_name = "REPORT", required = true)]
    pub(super) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) flags: Flags,
    #[command(flatten)]
    pub(super) output: Output,
    /// The manifest of the workspace
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The number of the finding
    #[arg(value_name = "NUMBER")]
    pub(super) number: u32,
    #[command(flatten)]
    pub(super) flags: Flags,
    /// Run what the file beside the traces says, whoever has written it; it is shown before
    #[arg(long)]
    pub(super) trust_command: bool,
    /// The manifest of the workspace
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Init {
    /// Write the lines instead of showing them
    #[arg(long)]
    pub(super) write: bool,
    /// The manifest of the crate
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Clean {
    /// Only the traces and reports, not what was built
    #[arg(long)]
    pub(super) traces: bool,
    /// The manifest of the workspace
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
}

/// How to report.
#[derive(Debug, Clone, Args)]
pub(super) struct Output {
    /// How to report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
    /// Where to, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Of which finding, for perfetto [default: the first that counts]
    #[arg(long, value_name = "NUMBER")]
    pub(super) finding: Option<u32>,
    /// Say less
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Say more
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Whether to use colours
    #[arg(long, value_name = "WHEN", env = "CARGO_TERM_COLOR", default_value = "auto")]
    pub(super) color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For people, in a browser
    Html,
    /// For machines: docs/REPORT.md describes it
    Json,
    /// For code scanning
    Sarif,
    /// For CI
    Junit,
    /// Annotations of GitHub Actions
    Github,
    /// Timelines for Perfetto and Chrome
    Perfetto,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn shard(text: &str) -> Result<Shard, String> {
    let problem = || format!("`{text}` is no part: write 3/16 for the third of sixteen");
    let (index, of) = text.split_once('/').ok_or_else(problem)?;
    let shard = Shard {
        index: index.parse().map_err(|_| problem())?,
        of: of.parse().map_err(|_| problem())?,
    };
    if shard.is_valid() { Ok(shard) } else { Err(problem()) }
}

/// The subcommands that run cargo.
const RUNS: [&str; 4] = ["test", "nextest", "run", "explore"];

/// What both we and cargo want to know.
const SHARED: [&str; 4] = ["quiet", "verbose", "color", "jobs"];

/// Sorts the arguments so that ours come first and those of cargo after `--`.
pub(super) fn sort(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    // `cargo-racelog test` is as good as `cargo racelog test`.
    if args.get(1).is_none_or(|word| word != "racelog") {
        args.insert(args.len().min(1), "racelog".into());
    }
    let runs = args.get(2).is_some_and(|word| RUNS.iter().any(|run| word == *run));
    if !runs {
        return args;
    }
    let mut rest = args.split_off(3).into_iter();
    let (mut ours, mut cargos) = (Vec::new(), Vec::new());
    while let Some(word) = rest.next() {
        if word == "--" {
            cargos.push(word);
            cargos.extend(rest.by_ref());
            break;
        }
        let Some(flag) = Flag::of(&word) else {
            cargos.push(word);
            continue;
        };
        let value = if flag.wants_value { rest.next() } else { None };
        let words: Vec<OsString> = [word].into_iter().chain(value).collect();
        if flag.is_shared {
            cargos.extend(words.iter().cloned());
        }
        ours.extend(words);
    }
    args.extend(ours);
    args.push("--".into());
    args.extend(cargos);
    args
}

/// A flag of ours.
struct Flag {
    /// Whether the next word is its value.
    wants_value: bool,
    is_shared: bool,
}

impl Flag {
    fn of(word: &OsStr) -> Option<Self> {
        #[derive(Parser)]
        struct Ours {
            #[command(flatten)]
            _run: Run,
        }
        let word = word.to_str()?;
        let (name, has_value) = match word.split_once('=') {
            Some((name, _)) => (name, true),
            None => (word, false),
        };
        let command = Ours::command();
        let is = |arg: &&clap::Arg| {
            let long = arg.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long));
            let short = arg.get_short().is_some_and(|short| {
                name.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4]))
            });
            long || short
        };
        if ["-h", "--help"].contains(&name) {
            return Some(Self { wants_value: false, is_shared: false });
        }
        let arg = command.get_arguments().find(is)?;
        // Where a value must follow `=`, the next word is none.
        let takes = arg.get_action().takes_values() && !arg.is_require_equals_set();
        let is_shared = arg.get_long().is_some_and(|long| SHARED.contains(&long));
        Some(Self { wants_value: takes && !has_value, is_shared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_well_defined() {
        Cargo::command().debug_assert();
    }

    fn sorted(line: &str) -> String {
        let words = sort(line.split(' ').map(OsString::from));
        let words: Vec<String> = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    #[test]
    fn flags_find_their_owner() {
        assert_eq!(
            sorted(
                "cargo-racelog racelog test -p a --no-confirm drains --format json -- --nocapture"
            ),
            "cargo-racelog racelog test --no-confirm --format json -- -p a drains -- --nocapture"
        );
        assert_eq!(
            sorted("cargo-racelog test --quiet -j 2 --window=100"),
            "cargo-racelog racelog test --quiet -j 2 --window=100 -- --quiet -j 2"
        );
        assert_eq!(
            sorted("cargo-racelog racelog report --open"),
            "cargo-racelog racelog report --open"
        );
        assert_eq!(sorted("cargo-racelog"), "cargo-racelog racelog");
    }

    #[test]
    fn shards_are_checked() {
        assert_eq!(shard("3/16"), Ok(Shard { index: 3, of: 16 }));
        for bad in ["", "3", "0/4", "5/4", "1/0", "a/b", "1/99999999"] {
            assert!(shard(bad).is_err(), "{bad}");
        }
    }
}
