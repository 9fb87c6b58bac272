//! The long run of the oracle test: prediction on many random programs equals exhaustive
//! exploration.
//!
//!     cargo run --release -p racelog-tests --bin oracle -- 1000000 [first seed]
//!
//! Each program is analysed three times: with all cheap proofs, with all left to the solver, and
//! with one cheap proof, each in its turn. The first difference ends the run. Where values have to
//! be computed the search may give up; such an analysis must find nothing else, and is counted.

use std::collections::BTreeSet;
use std::process::ExitCode;

use predictor::explore::explore;
use predictor::goal::{Goal, GoalKind, GoalKinds};
use predictor::predict::{Options, Proofs, predict};
use racelog_tests::random_trace::{small_trace, small_waiting_trace};
use racelog_tests::random_values::small_value_trace;

/// What is looked for.
const KINDS: GoalKinds = GoalKinds::ALL;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
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
        // Two of four programs have all that threads can wait for, or say where values come from.
        let (text, trace) = match seed % 4 {
            0 | 2 => small_trace(seed / 2),
            1 => small_waiting_trace(seed / 4),
            _ => small_value_trace(seed / 4),
        };
        let found = explore(&trace, KINDS, 400_000, |_| {});
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
                ..Options::default()
            };
            let found = predict(&trace, &options, |_, _| {});
            let goals = found.found.iter().map(|proven| proven.goal().clone());
            let predicted: BTreeSet<Goal> = goals.collect();
            let has_given_up = found.counts.unknown.total() > 0;
            let is_right = match has_given_up {
                true => seed % 4 == 3 && predicted.is_subset(&truth),
                false => predicted == truth,
            };
            if !is_right {
                println!("seed {seed}, {proofs:?}: {predicted:?} is not {truth:?}\n{text}");
                return ExitCode::FAILURE;
            }
            gave_up += u64::from(has_given_up);
            none += found.counts.candidates - found.counts.proven.total();
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
