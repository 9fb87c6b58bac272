//! What can be asked for.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use racelog::contract::place::PlacePair;

use super::terminal::Kind;
use crate::analysis::Detector;
use crate::fuzz::Strategy;
use crate::generate::Plan;
use crate::goal::{GoalKind, GoalKinds, Model};
use crate::predict::Options;
use crate::solve::SolverKind;
use crate::trace::format::Format;

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and nothing was found
  1  something was found: races, or a witness that proves nothing; or a race was not replayed
  2  an error: the command line, a file, or a trace that is damaged or not valid
  130 and 143: an interrupt, or a request to terminate, has ended a run of programs";

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
    /// Finds the races of a trace, each with a schedule that proves it
    #[command(after_help = "\
Examples:
  predictor analyze trace.rlog
  predictor analyze trace.rlog --format json
  predictor analyze trace.rlog --all-pairs        every pair, not one for each two places
  predictor analyze trace.rlog --detector hb      one detector alone

Reports the union of `mcm`, which predicts races of other executions and proves each by a witness, and
`hb`, which says which races this very run already had by the memory model of Rust. The exit code is
1 if there is a race.")]
    Analyze(Analyze),
    /// Prints the schedule that proves a race
    #[command(after_help = "\
Examples:
  predictor witness trace.rlog 4,9
  predictor witness trace.rlog 4,9 | predictor check trace.rlog -

A race is given by the numbers of its two events, as reports have them. One event a line, those that
race last. The exit code is 0 if there is a witness, 1 if the pair is no race.")]
    Witness(Witness),
    /// Runs a program so that a predicted race happens, in both orders
    #[command(after_help = "\
Examples:
  predictor replay trace.rlog 4,9 -- target/debug/program its arguments
  predictor replay trace.rlog 4,9 -- cargo test --test suite -- queue::drains --exact

The race is given as for `witness`; the command must be the one that was recorded, and a trace of a
`#[racelog::test]` needs its test to be run. It runs twice, once with each racing thread first, with
nothing on its standard input. What follows is said for each order.

Exit codes:
  0  confirmed: in both runs both threads stood before their accesses at the same time
  1  diverged (the program did something else at the step that is named, for it depends on input,
     time or other things outside of racelog), or unreached (it ended before)
  2  an error, or the pair is no race")]
    Replay(Replay),
    /// Runs a program many times under random schedules, directed to races
    #[command(after_help = "\
Examples:
  predictor fuzz --pair src/a.rs:12,src/b.rs:40 -- target/debug/program
  predictor fuzz --trace trace.rlog --runs 1000 -- target/debug/program
  predictor fuzz --strategy pct --runs 1000 -- target/debug/program
  predictor fuzz --pair src/a.rs:12,src/b.rs:40 --seed 7 --runs 1 -- target/debug/program

For each pair of places it says in how many runs the race was real, that is that two threads stood
before accesses that race, whether a panic, a failed check or a deadlock followed, and the seed of
the first such run: with that, and one run, it happens again. Runs that do not end within --run-time
are ended and counted. The exit code is 1 if a race was real, or a run has failed or did not end.")]
    Fuzz(Fuzz),
    /// Compares the detectors on traces
    #[command(after_help = "\
Examples:
  predictor compare target/racelog/*.rlog
  predictor compare trace.rlog --format markdown

The columns of Table 1 of the PLDI 2014 paper: threads, events, reads and writes (rw), sync, branches;
then the races that each detector finds, and the time that it takes. Races are counted by the places in
the program. `?` after a number says that pairs were left undecided. The exit code is 0 unless a trace
cannot be read.")]
    Compare(Compare),
    /// Makes a trace to measure with
    #[command(after_help = "\
Examples:
  predictor generate big.rlog --events 10000000
  predictor generate - --events 2000 --near-races 2 --far-races 0
  predictor generate - --events 90000 --deadlocks 10 --false-circles 10

The only races are the seeded ones: `near…` are close together, `far…` a third of the trace apart and
more. The same seed makes the same trace.")]
    Generate(Generate),
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
    /// What to look for: races, deadlocks, stalls, sends, checks, atomicity (separated by commas)
    /// or all
    #[arg(long, value_name = "GOALS", default_value = "all")]
    pub(super) goals: GoalKinds,
    /// Which executions count: symbolic, concrete, relaxed or nested (these two are not sound)
    #[arg(long, value_name = "MODEL", default_value = "symbolic")]
    pub(super) model: Model,
    #[command(flatten)]
    pub(super) step_goals: StepGoals,
    /// Give up after so many states
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(super) max_states: usize,
}

#[derive(Debug, clap::Args)]
pub(super) struct Analyze {
    #[command(flatten)]
    pub(super) input: Input,
    /// Run this detector: quick, hb, cp, wcp, said, paper, lock-order, spd or mcm (may be given
    /// again) [default: mcm, hb]
    #[arg(long = "detector", value_name = "NAME")]
    pub(super) detectors: Vec<Detector>,
    /// How to print what was found
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: AnalysisFormat,
    /// What to look for: races, deadlocks, stalls, sends, checks, atomicity (separated by commas)
    /// or all
    #[arg(long, value_name = "GOALS", default_value = "all")]
    pub(super) goals: GoalKinds,
    /// Which executions count: symbolic, concrete, relaxed or nested (these two are not sound)
    #[arg(long, value_name = "MODEL", default_value = "symbolic")]
    pub(super) model: Model,
    #[command(flatten)]
    pub(super) step_goals: StepGoals,
    /// Only what needs no more than so many switches between threads
    #[arg(long, value_name = "K")]
    pub(super) max_switches: Option<usize>,
    /// List possible deadlocks, too, that are not proven: runs lock-order as well
    #[arg(long)]
    pub(super) suspects: bool,
    /// Decide every pair: by default one race is enough for the same two places in the program
    #[arg(long)]
    pub(super) all_pairs: bool,
    #[command(flatten)]
    pub(super) effort: Effort,
}

/// What is taken for one step.
#[derive(Debug, clap::Args)]
pub(super) struct StepGoals {
    /// Look for atomicity violations, too, of reads and later writes that may depend on them though
    /// nothing in the trace shows it
    #[arg(long)]
    infer: bool,
}

impl StepGoals {
    /// Goals, and those that are to be looked for besides.
    pub(super) const fn and(&self, goals: GoalKinds) -> GoalKinds {
        match self.infer {
            true => goals.with(GoalKind::AssumedAtomicity),
            false => goals,
        }
    }
}

/// How hard to think.
#[derive(Debug, clap::Args)]
pub(super) struct Effort {
    /// Who decides whether a pair is a race: order, z3, or both, which compares them
    #[arg(long, value_name = "SOLVER", default_value = "order")]
    pub(super) solver: SolverKind,
    /// Look at so many events at a time [default: the whole trace]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub(super) window: Option<u64>,
    /// Think so many seconds about one pair
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(super) pair_time: Duration,
    /// Think so many seconds in all [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) total_time: Option<Duration>,
    /// Try so many pairs of the same two places in the program
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(super) pairs_per_signature: usize,
    /// Use so many threads [default: as many as there are processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1024))]
    pub(super) jobs: Option<u64>,
}

impl Effort {
    /// The options for the predictor.
    pub(super) fn options(&self) -> Options {
        Options {
            window: self.window.map(|size| size as usize),
            goal_time: Some(self.pair_time),
            total_time: self.total_time,
            goals_per_signature: Some(self.pairs_per_signature),
            jobs: self.jobs.map(|jobs| jobs as usize),
            solver: self.solver,
            ..Options::default()
        }
    }
}

/// A time in seconds, which may have a fraction.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let problem = || format!("`{text}` is no time: give a number of seconds, such as 10 or 0.5");
    let seconds: f64 = text.parse().map_err(|_| problem())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| problem())
}

#[derive(Debug, clap::Args)]
pub(super) struct Witness {
    #[command(flatten)]
    pub(super) input: Input,
    /// The numbers of the events, as `4,9`: two racing accesses, operations that wait for each
    /// other or for ever, or a send
    #[arg(value_name = "EVENTS")]
    pub(super) events: EventNumbers,
    #[command(flatten)]
    pub(super) effort: Effort,
}

#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    #[command(flatten)]
    pub(super) input: Input,
    /// The numbers of the events, as `4,9`: two racing accesses, operations that wait for each
    /// other or for ever, or a send
    #[arg(value_name = "EVENTS")]
    pub(super) events: EventNumbers,
    /// How to print what came of it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: AnalysisFormat,
    /// Wait so many seconds for each run
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(super) run_time: Duration,
    #[command(flatten)]
    pub(super) effort: Effort,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub(super) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Fuzz {
    /// Two places, as `src/a.rs:12,src/b.rs:40` (may be given again)
    #[arg(long = "pair", value_name = "A,B")]
    pub(super) pairs: Vec<PlacePair>,
    /// Also the pairs of the races that are predicted from this trace
    #[arg(long, value_name = "TRACE")]
    pub(super) trace: Option<PathBuf>,
    /// How the next thread is chosen: race, random or pct [default: race if there are pairs]
    #[arg(long, value_name = "STRATEGY")]
    pub(super) strategy: Option<Strategy>,
    /// How many runs for each pair
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(super) runs: usize,
    /// Run so many at a time [default: as many as there are processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1024))]
    pub(super) jobs: Option<u64>,
    /// The seed of the first run; the others are derived from it
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(super) seed: u64,
    /// For pct: how many changes of priorities, and one
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(super) depth: u32,
    /// For pct: how many steps a run has, about
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(super) length: u64,
    /// How to print what came of it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: AnalysisFormat,
    /// Wait so many seconds for each run
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(super) run_time: Duration,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub(super) command: Vec<OsString>,
}

/// The numbers of different events.
#[derive(Clone, Debug)]
pub(super) struct EventNumbers(pub(super) Vec<u64>);

impl FromStr for EventNumbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || format!("`{text}` are no events: give their numbers, as `4,9`");
        let words = text.trim_start_matches('(').trim_end_matches(')').split(',');
        let number = |word: &str| word.trim().parse().ok().filter(|number: &u64| *number > 0);
        let numbers: Option<Vec<u64>> = words.map(number).collect();
        let mut numbers = numbers.ok_or_else(problem)?;
        numbers.sort_unstable();
        let differ = numbers.windows(2).all(|pair| pair[0] != pair[1]);
        if differ { Ok(Self(numbers)) } else { Err(problem()) }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Compare {
    /// The traces; - is standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) from: From,
    /// Only this detector (may be given again) [default: all that look for one of the goals]
    #[arg(long = "detector", value_name = "NAME")]
    pub(super) detectors: Vec<Detector>,
    /// What to count: races, deadlocks, stalls, sends, checks, atomicity (separated by commas)
    /// or all
    #[arg(long, value_name = "GOALS", default_value = "races")]
    pub(super) goals: GoalKinds,
    /// How to print the table
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: TableFormat,
    #[command(flatten)]
    pub(super) effort: Effort,
}

#[derive(Debug, clap::Args)]
pub(super) struct Generate {
    /// The trace to write, or - for standard output
    #[arg(value_name = "OUT")]
    pub(super) output: PathBuf,
    /// The format of the output: text, binary or std [default: by its name; text for -]
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<Format>,
    /// How many events, about
    #[arg(long, value_name = "N", default_value_t = Plan::default().events)]
    pub(super) events: usize,
    /// How many threads
    #[arg(long, value_name = "N", default_value_t = Plan::default().threads)]
    pub(super) threads: usize,
    /// How many locks, besides those of the seeded circles
    #[arg(long, value_name = "N", default_value_t = Plan::default().locks)]
    pub(super) locks: usize,
    /// How many variables, besides those of the seeded races
    #[arg(long, value_name = "N", default_value_t = Plan::default().vars)]
    pub(super) vars: usize,
    /// How many condvars
    #[arg(long, value_name = "N", default_value_t = Plan::default().condvars)]
    pub(super) condvars: usize,
    /// Which part of the reads a branch follows
    #[arg(long, value_name = "PART", default_value_t = Plan::default().branches)]
    pub(super) branches: f64,
    /// Which part of the variables gets half of all accesses
    #[arg(long, value_name = "PART", default_value_t = Plan::default().hot)]
    pub(super) hot: f64,
    /// Which part of the critical sections takes a second lock
    #[arg(long, value_name = "PART", default_value_t = Plan::default().nested)]
    pub(super) nested: f64,
    /// Which part of the accesses goes to variables that no lock guards
    #[arg(long, value_name = "PART", default_value_t = Plan::default().unguarded)]
    pub(super) unguarded: f64,
    /// How many races have their accesses close together
    #[arg(long, value_name = "N", default_value_t = Plan::default().near_races)]
    pub(super) near_races: usize,
    /// How many races have their accesses far apart
    #[arg(long, value_name = "N", default_value_t = Plan::default().far_races)]
    pub(super) far_races: usize,
    /// How many circles of threads and locks are deadlocks; none of them happens in the trace
    #[arg(long, value_name = "N", default_value_t = Plan::default().deadlocks)]
    pub(super) deadlocks: usize,
    /// How many circles of threads and locks only look like deadlocks
    #[arg(long, value_name = "N", default_value_t = Plan::default().false_circles)]
    pub(super) false_circles: usize,
    /// What chance is derived from
    #[arg(long, value_name = "N", default_value_t = Plan::default().seed)]
    pub(super) seed: u64,
}

impl Generate {
    pub(super) fn plan(&self) -> Plan {
        Plan {
            events: self.events,
            threads: self.threads,
            locks: self.locks,
            vars: self.vars,
            condvars: self.condvars,
            branches: self.branches,
            hot: self.hot,
            nested: self.nested,
            unguarded: self.unguarded,
            near_races: self.near_races,
            far_races: self.far_races,
            deadlocks: self.deadlocks,
            false_circles: self.false_circles,
            seed: self.seed,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum TableFormat {
    /// Columns for people
    Text,
    /// Comma-separated values
    Csv,
    /// A table for documents
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum AnalysisFormat {
    /// For people
    Text,
    /// For machines: docs/REPORT.md describes it
    Json,
}

impl AnalysisFormat {
    /// How it is written to standard output.
    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Text => Kind::Text,
            Self::Json => Kind::Json,
        }
    }
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
