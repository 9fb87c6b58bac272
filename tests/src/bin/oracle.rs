//! The long run of the oracle test: prediction on many random programs equals exhaustive
//! exploration.
//!
//!     cargo run --release -p racelog-tests --bin oracle -- 1000000 [first seed [values]]
//!
//! With `values`, all programs say where values come from; else one in four does.
//!
//! Each program is analysed three times: with all cheap proofs, with all left to the solver, and
//! with one cheap proof, each in its turn. The first difference ends the run. Where values have to
//! be computed the search may give up; such an analysis must find nothing else, and is counted.

use std::collections::BTreeSet;
use std::process::ExitCode;

use predictor::explore::{explore, explore_model};
use predictor::goal::{Goal, GoalKind, GoalKinds, Model};
use predictor::predict::{Options, Proofs, predict};
use predictor::trace::Trace;
use racelog_tests::random_trace::{small_trace, small_waiting_trace};
use racelog_tests::random_values::small_value_trace;

/// What is looked for.
const KINDS: GoalKinds = GoalKinds::ALL.with(GoalKind::AssumedAtomicity);

/// How many states of a program are explored at most.
const STATES: usize = 400_000;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let only_values = words.last().is_some_and(|word| word == "values");
    words.truncate(words.len() - usize::from(only_values));
    let mut numbers = words.iter().map(|word| word.parse::<u64>());
    let (Some(Ok(count)), first) = (numbers.next(), numbers.next().unwrap_or(Ok(0))) else {
        eprintln!("error: say how many programs, and perhaps the first seed");
        return ExitCode::from(2);
    };
    let Ok(first) = first else {
        eprintln!("error: the first seed is no number");
        return ExitCode::from(2);
    };
    let (mut compared, mut too_large, mut gave_up, mut none) = (0_u64, 0_u64, 0_u64, 0);
    let mut proven = [0_u64; GoalKind::ALL.len()];
    for seed in first..first + count {
        let has_values = only_values || seed % 4 == 3;
        // Two of four programs have all that threads can wait for, or say where values come from.
        let (text, trace) = match seed % 4 {
            _ if only_values => small_value_trace(seed),
            0 | 2 => small_trace(seed / 2),
            1 => small_waiting_trace(seed / 4),
            _ => small_value_trace(seed / 4),
        };
        let found = explore(&trace, KINDS, STATES, |_| {});
        if !found.complete {
            too_large += 1;
            continue;
        }
        let truth: BTreeSet<Goal> = found.found.into_keys().collect();
        // In turns that are longer than those of the kinds of programs.
        let one = Proofs::EACH[(seed / 64) as usize % Proofs::EACH.len()];
        for proofs in [Proofs::ALL, Proofs::NONE, one] {
            let options = Options {
                goals: KINDS,
                all_goals: true,
                goal_time: None,
                jobs: Some(1),
                proofs,
                fewest_switches: false,
                ..Options::default()
            };
            let found = predict(&trace, &options, |_, _| {});
            let goals = found.found.iter().map(|proven| proven.goal().clone());
            let predicted: BTreeSet<Goal> = goals.collect();
            let has_given_up = found.counts.unknown.total() > 0;
            let is_right = match has_given_up {
                true => has_values && predicted.is_subset(&truth),
                false => predicted == truth,
            };
            if !is_right {
                println!("seed {seed}, {proofs:?}: {predicted:?} is not {truth:?}\n{text}");
                return ExitCode::FAILURE;
            }
            gave_up += u64::from(has_given_up);
            none += found.counts.candidates - found.counts.proven.total();
        }
        if has_values && let Some(lost) = lost_in_models(&trace, &truth) {
            println!("seed {seed}: {lost}\n{text}");
            return ExitCode::FAILURE;
        }
        for goal in &truth {
            proven[goal.kind() as usize] += 1;
        }
        compared += 1;
        if compared.is_multiple_of(100_000) {
            println!("{compared} programs so far");
        }
    }
    let counts = KINDS.iter().map(|kind| format!("{} {}", proven[kind as usize], kind.plural()));
    let counts: Vec<String> = counts.collect();
    println!(
        "{compared} programs compared three times, no difference; {}; {none} times a candidate was \
         none; {gave_up} analyses gave up; {too_large} programs were too large to explore",
        counts.join(", ")
    );
    ExitCode::SUCCESS
}

/// What a model does not have though the one before it has it; `truth` is what `symbolic` has.
fn lost_in_models(trace: &Trace, truth: &BTreeSet<Goal>) -> Option<String> {
    let all = |model: Model| -> Option<BTreeSet<Goal>> {
        let found = explore_model(trace, model, KINDS, STATES, |_| {});
        found.complete.then(|| found.found.into_keys().collect())
    };
    let found =
        [all(Model::Concrete), Some(truth.clone()), all(Model::Relaxed), all(Model::Nested)];
    let checks = |goal: &Goal| matches!(goal, Goal::FailedCheck(_) | Goal::Panic(_));
    let steps = |goal: &Goal| matches!(goal, Goal::Atomicity(_));
    // Failed checks need values; of what threads wait for, `nested` has a part.
    let kept: [&dyn Fn(&Goal) -> bool; 3] = [&|_| true, &|goal| !checks(goal), &steps];
    for ((pair, kept), model) in
        found.windows(2).zip(kept).zip([Model::Symbolic, Model::Relaxed, Model::Nested])
    {
        let [Some(less), Some(more)] = pair else { continue };
        let lost = less.iter().find(|goal| kept(goal) && !more.contains(goal));
        if let Some(goal) = lost {
            return Some(format!("{goal:?} is not found in the model {model}"));
        }
    }
    None
}
