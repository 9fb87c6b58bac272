//! The long run of the oracle test: prediction on many random programs equals exhaustive exploration.
//!
//!     cargo run --release -p racelog-tests --bin oracle -- 1000000 [first seed]
//!
//! Each program is analysed twice, as it is and with all left to the solver. The first difference
//! ends the run.

use std::collections::BTreeSet;
use std::process::ExitCode;

use predictor::explore::explore;
use predictor::goal::{GoalKinds, Pair};
use predictor::predict::{Options, Proofs, predict};
use racelog_tests::random_trace::small_trace;

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
    let (mut compared, mut too_large, mut races, mut none) = (0_u64, 0_u64, 0, 0);
    for seed in first..first + count {
        let (text, trace) = small_trace(seed);
        let found = explore(&trace, GoalKinds::RACES, 400_000, |_| {});
        if !found.complete {
            too_large += 1;
            continue;
        }
        let truth: BTreeSet<Pair> = found.races().collect();
        for proofs in [Proofs::ALL, Proofs::NONE] {
            let options = Options {
                all_goals: true,
                goal_time: None,
                jobs: Some(1),
                proofs,
                ..Options::default()
            };
            let found = predict(&trace, &options, |_, _| {});
            let predicted: BTreeSet<Pair> = found.races().collect();
            if predicted != truth || found.counts.unknown.total() > 0 {
                println!("seed {seed}, {proofs:?}: {predicted:?} is not {truth:?}\n{text}");
                return ExitCode::FAILURE;
            }
            races += found.counts.proven.total();
            none += found.counts.candidates - found.counts.proven.total();
        }
        compared += 1;
        if compared.is_multiple_of(100_000) {
            println!("{compared} programs so far");
        }
    }
    println!(
        "{compared} programs compared twice, no difference; {races} races, {none} other pairs; \
         {too_large} programs were too large to explore"
    );
    ExitCode::SUCCESS
}
