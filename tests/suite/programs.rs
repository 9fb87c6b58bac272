//! The classic programs: what is predicted from a run of each is what is known of it, neither more
//! nor less, and happens when it is replayed.

mod goals;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use predictor::analysis::{Detector, detect};
use predictor::explore::explore;
use predictor::goal::{Goal, GoalKinds, Pair};
use predictor::predict::{Decided, Options, decide_goal, predict};
use predictor::replay::{ControlledRun, Order, Plan, PlannedRun, Replayed};
use predictor::solve::SolverKind;
use predictor::trace::format::Source;
use predictor::trace::{Op, Trace};
use racelog_examples::{Origin, Place, Program, programs};
use tempfile::TempDir;

use crate::support::{example_program, run};

/// The longest trace that is also explored, and in how many states at most.
const EXPLORED: (usize, usize) = (52, 300_000);

/// Seeds of schedules that nobody has chosen.
const OTHER_SEEDS: [&str; 4] = ["random:100", "random:101", "pct:2:100:102", "pct:3:100:103"];

/// Two places, sorted.
type Places = [String; 2];

fn command(program: &Program) -> Command {
    let mut command = Command::new(example_program("example"));
    command.arg(program.name);
    command
}

/// Records a run at the small size: by a seed, or as it comes.
fn record(program: &Program, seed: Option<&str>) -> Trace {
    run_recorded(program, seed).0
}

/// Records a run; gives what the program said, too.
fn run_recorded(program: &Program, seed: Option<&str>) -> (Trace, String) {
    let folder = TempDir::new().unwrap();
    let mut command = command(program);
    command.env("RACELOG", "1").env("RACELOG_DIR", folder.path());
    command.env_remove("RACELOG_MAX_BYTES").env_remove("RACELOG_CONTROL");
    command.envs(seed.map(|seed| ("RACELOG_CONTROL", seed)));
    let (code, _, err) = run(&mut command, b"");
    // Where a bug does harm, the program says so and fails: its trace is as good.
    let is_harm = err.contains(" panicked at ") || is_deadlock(&err) && program.hangs.is_some();
    assert!(code == 0 || code == 101 && is_harm, "{} {seed:?}: {code}: {err}", program.name);
    let trace = fs::read_dir(folder.path()).unwrap().next().expect("it is recorded").unwrap();
    let mut source = Source::open(&trace.path(), None).unwrap();
    let trace = Trace::load(&mut source, |_| {});
    (trace.unwrap_or_else(|error| panic!("{} {seed:?}: {error}", program.name)), err)
}

fn is_deadlock(err: &str) -> bool {
    err.contains("racelog: deadlock: nobody can go on")
}

/// Where the accesses of a pair stand.
fn places(trace: &Trace, pair: Pair) -> Places {
    let mut printer = trace.printer();
    let mut both = [pair.first(), pair.second()].map(|event| {
        let place = printer.location(event).expect("every access knows its place");
        place.rsplit_once(':').expect("a place has a column").0.to_owned()
    });
    both.sort();
    both
}

/// What is found in a trace.
struct Found {
    /// The races that are proven by a schedule.
    predicted: Vec<Pair>,
    /// Where these are.
    proven: BTreeSet<Places>,
    /// Where happens-before says that the run itself has raced.
    observed: BTreeSet<Places>,
}

fn find(program: &Program, trace: &Trace) -> Found {
    // Without limits of time, or a slow machine would find less.
    let options = Options { goal_time: None, goals_per_signature: None, ..Options::default() };
    let prediction = predict(trace, &options, |_, _| {});
    assert_eq!(prediction.counts.unknown.total(), 0, "{}", program.name);
    let proven = prediction.races().map(|pair| places(trace, pair)).collect();
    let observed = detect(trace, Detector::Hb, &options, |_, _| {});
    let observed = observed.races().map(|pair| places(trace, pair)).collect();
    Found { predicted: prediction.races().collect(), proven, observed }
}

/// What is known: races by schedules that the chosen one admits, other such races, and those by
/// memory orderings alone.
struct Known {
    here: BTreeSet<Places>,
    elsewhere: BTreeSet<Places>,
    weak: BTreeSet<Places>,
}

fn known(program: &Program) -> Known {
    let [mut here, mut elsewhere, mut weak] = [const { BTreeSet::new() }; 3];
    let pairs = program.expected().unwrap_or_else(|error| panic!("{error}"));
    for (race, pair) in program.races.iter().zip(pairs) {
        let mut pair = pair.map(|place: Place| place.to_string());
        pair.sort();
        let set = match race.not_in_trace {
            _ if race.is_weak => &mut weak,
            None => &mut here,
            Some(_) => &mut elsewhere,
        };
        set.insert(pair);
    }
    Known { here, elsewhere, weak }
}

/// Runs a program by a schedule that leads to a race, in both orders.
fn replay(program: &Program, trace: &Trace, pair: Pair) -> Replayed {
    // The solver's witness, as `predictor replay` takes it: it has only what the race needs.
    let decided = decide_goal(trace, &Goal::Race(pair), SolverKind::default(), None);
    let Decided::Proven(witness) = decided else {
        panic!("{}: {pair:?} is no race", program.name);
    };
    let plan = Plan::new(trace, &witness).expect("all threads are controlled");
    let folder = TempDir::new().unwrap();
    let [schedule, outcome] = ["schedule", "outcome"].map(|name| folder.path().join(name));
    let orders = plan.runs().into_iter().map(|PlannedRun { first, text }| {
        fs::write(&schedule, text).unwrap();
        let mut command = command(program);
        command.env("RACELOG_SCHEDULE", &schedule).env("RACELOG_OUTCOME", &outcome);
        command.env("RACELOG_DIR", folder.path()).env_remove("RACELOG_MAX_BYTES");
        let (code, out, err) = run(&mut command, b"");
        let text = fs::read_to_string(&outcome).unwrap_or_else(|_| panic!("no outcome: {err}"));
        fs::remove_file(&outcome).unwrap();
        let outcome = ControlledRun::parse(&text, &plan.report_names(&[]));
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        Order { first, outcome, code: Some(code), printed: out.into_bytes() }
    });
    Replayed::new(plan.target(), orders.collect(), None)
}

/// Prints each difference, so that one failure tells of all programs.
fn differences(what: &str, left: &BTreeSet<Places>, right: &BTreeSet<Places>) -> Vec<String> {
    left.difference(right).map(|[one, other]| format!("{what}: {one} and {other}")).collect()
}

#[test]
fn the_races_of_every_program_are_found_and_nothing_else() {
    let (mut problems, mut compared) = (Vec::new(), 0);
    for program in programs() {
        let name = program.name;
        let trace = record(program, Some(program.schedule));
        let (found, known) = (find(program, &trace), known(program));
        problems.extend(differences(&format!("{name}: missed"), &known.here, &found.proven));
        problems.extend(differences(&format!("{name}: too much"), &found.proven, &known.here));
        // A race that is observed is predicted, but for what only weak orderings leave open.
        let weak = &found.observed - &found.proven;
        problems.extend(differences(&format!("{name}: missed, weak"), &known.weak, &weak));
        problems.extend(differences(&format!("{name}: too much, weak"), &weak, &known.weak));
        if trace.len() <= EXPLORED.0 {
            let explored = explore(&trace, GoalKinds::RACES, EXPLORED.1, |_| {});
            if explored.complete {
                compared += 1;
                let all = explored.races().map(|pair| places(&trace, pair)).collect();
                problems.extend(differences(&format!("{name}: not explored"), &found.proven, &all));
                problems.extend(differences(&format!("{name}: explored"), &all, &found.proven));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(compared >= 10, "only {compared} traces are small enough to be explored");
}

#[test]
fn every_predicted_race_of_every_program_is_confirmed() {
    let mut problems = Vec::new();
    let mut confirmed = 0;
    for program in programs() {
        let trace = record(program, Some(program.schedule));
        for pair in find(program, &trace).predicted {
            let replayed = replay(program, &trace, pair);
            if replayed.is_confirmed() {
                confirmed += 1;
            } else {
                let [one, other] = places(&trace, pair);
                let verdict = replayed.verdict;
                problems.push(format!("{}: {one} and {other}: {verdict:?}", program.name));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(confirmed > 0);
}

#[test]
fn other_runs_have_no_other_races() {
    let mut problems = Vec::new();
    for program in programs() {
        let known = known(program);
        let all = &(&known.here | &known.elsewhere) | &known.weak;
        // One that may hang is only let go under control, where a deadlock is noticed; unless its
        // threads come in turns.
        let is_free = program.hangs.is_none() || program.origin == Origin::Hangs;
        let free = is_free.then_some(None);
        for seed in OTHER_SEEDS.map(Some).into_iter().chain(free) {
            let trace = record(program, seed);
            let found = find(program, &trace);
            let what = format!("{} {}", program.name, seed.unwrap_or("as it comes"));
            problems.extend(differences(&what, &(&found.proven | &found.observed), &all));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_program_can_be_made_tiny() {
    for program in programs() {
        let mut command = command(program);
        command.args(["--size", "1x1"]).env("RACELOG_CONTROL", "random:1").env_remove("RACELOG");
        let (code, _, err) = run(&mut command, b"");
        let is_harm =
            err.contains("check failed: ") || is_deadlock(&err) && program.hangs.is_some();
        assert!(code == 0 || code == 101 && is_harm, "{}: {code}: {err}", program.name);
    }
}

#[test]
fn those_that_may_hang_do_under_some_schedule() {
    let mut hang = 0;
    for program in programs().filter(|program| program.hangs.is_some()) {
        let seeds = (1..=50).map(|number| format!("random:{number}"));
        let mut runs = seeds.map(|seed| run_recorded(program, Some(&seed)));
        let stuck = runs.find(|(_, err)| is_deadlock(err));
        let (trace, _) = stuck.unwrap_or_else(|| panic!("{} always ends", program.name));
        // Who cannot go on does not end either: the trace stops where everybody stands.
        let ended = trace.events().filter(|event| trace.op(*event) == Op::End).count();
        assert!(ended + 2 <= trace.thread_count(), "{}: {ended} threads end", program.name);
        hang += 1;
    }
    assert!(hang > 0);
}

#[test]
fn programs_are_named_on_the_command_line() {
    let example = |args: &[&str]| run(Command::new(example_program("example")).args(args), b"");
    let (code, out, err) = example(&["--list"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let names: Vec<&str> = programs().map(|program| program.name).collect();
    assert_eq!(out.lines().collect::<Vec<_>>(), names);
    let (code, out, err) = example(&["airlien"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("no program is called `airlien`: is it `airline`?"), "{err}");
    let (code, _, err) = example(&[]);
    assert_eq!(code, 2);
    assert!(err.contains("no program is named"), "{err}");
}
