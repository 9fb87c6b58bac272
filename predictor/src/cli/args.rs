//! What can be asked for.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::trace::format::Format;

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and nothing was found
  1  something was found: races, or a witness that proves nothing
  2  an error: the command line, a file, or a trace that is damaged or not valid";

/// Reads, checks and explores recorded traces of concurrent programs
#[derive(Debug, Parser)]
#[command(name = "predictor", version, after_help = EXIT_CODES)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Turns a trace into another format
    #[command(after_help = "\
Examples:
  predictor convert trace.rtxt trace.rlog         text to binary
  predictor convert trace.rlog -                  binary to text, on the terminal
  predictor convert --to std trace.rlog out       for the tools of the RAPID framework
  xz -dc old.rtxt.xz | predictor convert - new.rlog

What stands before the first damage is always converted; the exit code is then 2.")]
    Convert(Convert),
    /// Prints a trace, one event a line
    #[command(after_help = "\
Examples:
  predictor show trace.rlog
  predictor show trace.rlog --thread t1 --thread t2
  predictor show trace.rlog --object counter      a variable, lock, condvar, channel or barrier
  predictor show trace.rlog --around 1200         that event and its neighbours")]
    Show(Show),
    /// Counts what is in traces
    #[command(after_help = "\
Examples:
  predictor stats trace.rlog
  predictor stats target/racelog/*.rlog

Columns, as in Table 1 of the PLDI 2014 paper: threads, events, reads and writes of variables (rw),
branches, and all other events (sync); then the implicit branches after reads in code that does not
record its own, locks, variables, and bytes an event.")]
    Stats(Stats),
    /// Checks that the own order of each trace is a feasible execution
    #[command(after_help = "\
Examples:
  predictor validate trace.rlog
  predictor validate target/racelog/*.rlog
  predictor convert trace.rlog - | predictor validate -

Names the first event that breaks a rule. The exit code is then 2.")]
    Validate(Validate),
    /// Replays a schedule that claims to prove a race
    #[command(after_help = "\
Examples:
  predictor check trace.rlog witness.txt
  predictor check trace.rlog 1,6,7,8,9,2,3,10

A witness is a list of event numbers, in the order in which they are to happen, that ends in the two
racing accesses. Between the numbers stand blanks, commas or line breaks; `#` starts a comment.
The exit code is 0 if it proves the race, 1 if it does not.")]
    Check(Check),
    /// Finds all races of a small trace by trying every execution
    #[command(after_help = "\
Examples:
  predictor explore trace.rtxt
  predictor explore trace.rtxt --format json
  printf 't1 write x 1\\nt2 write x 2\\n' | predictor explore -

The exit code is 1 if there is a race.")]
    Explore(Explore),
}

/// A trace to read.
#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The trace, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(super) path: PathBuf,
    #[command(flatten)]
    pub(super) from: From,
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct From {
    /// The format of the input: text, binary or std [default: by its name, or its first bytes]
    #[arg(id = "from", long = "from", value_name = "FORMAT")]
    pub(super) format: Option<Format>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Convert {
    /// The trace to read, or - for standard input
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,
    /// The trace to write, or - for standard output
    #[arg(value_name = "OUT")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) from: From,
    /// The format of the output: text, binary or std [default: by its name; text for -]
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<Format>,
    /// Leave out, and count, what STD cannot express
    #[arg(long)]
    pub(super) lossy: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    #[command(flatten)]
    pub(super) input: Input,
    /// Only events of this thread (may be given again)
    #[arg(long = "thread", value_name = "NAME")]
    pub(super) threads: Vec<String>,
    /// Only events on this variable, lock, condvar, channel, barrier or thread (may be given again)
    #[arg(long = "object", value_name = "NAME")]
    pub(super) objects: Vec<String>,
    /// Only this event and its neighbours
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) around: Option<u64>,
    /// How many neighbours, before and after
    #[arg(long, value_name = "K", default_value_t = 5, requires = "around")]
    pub(super) context: u64,
}

#[derive(Debug, clap::Args)]
pub(super) struct Stats {
    /// The traces; - is standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) from: From,
}

#[derive(Debug, clap::Args)]
pub(super) struct Validate {
    /// The traces; - is standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) from: From,
}

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) input: Input,
    /// The file with the schedule, - for standard input, or the event numbers themselves
    #[arg(value_name = "WITNESS")]
    pub(super) witness: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct Explore {
    #[command(flatten)]
    pub(super) input: Input,
    /// How to print what was found
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: ReportFormat,
    /// Give up after so many states
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(super) max_states: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum ReportFormat {
    /// For people
    Text,
    /// {"races": [[i, j], …]} with event numbers, i < j, sorted
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_commands_are_well_defined() {
        Args::command().debug_assert();
    }
}
