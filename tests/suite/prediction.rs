//! Prediction, held against the exhaustive explorer.

use std::collections::BTreeSet;

use predictor::encode::{Index, Window};
use predictor::explore::explore;
use predictor::predict::{Decider, Verdict};
use predictor::race::{Pair, conflict};
use predictor::semantics::Machine;
use predictor::solve::order::OrderSolver;
use predictor::trace::Trace;
use racelog_tests::random_trace::{ALL, Family, Shape, random_trace};

/// A small random trace, of a kind that depends on the seed.
fn small(seed: u64) -> (String, Trace) {
    use Family::{Atomic, Branch, Condvar, Lock, Plain};
    let mut operations = vec![Plain, Plain, Plain, Lock, Branch];
    match seed % 4 {
        0 => operations.extend([Lock, Condvar, Condvar]),
        1 => operations.extend([Atomic, Atomic, Branch]),
        _ => operations.extend(ALL),
    }
    let shape = Shape {
        events: 10 + (seed % 19) as usize,
        threads: 2 + (seed / 3 % 3) as usize,
        vars: 1 + (seed / 5 % 3) as usize,
        objects: 1 + (seed / 2 % 2) as usize,
        operations,
        locations: false,
        unrecorded: seed.is_multiple_of(5),
    };
    let text = random_trace(seed, &shape);
    let trace = text.parse().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    (text, trace)
}

fn conflicts(trace: &Trace) -> Vec<Pair> {
    let events: Vec<_> = trace.events().collect();
    let mut pairs = Vec::new();
    for (at, a) in events.iter().enumerate() {
        for b in &events[at + 1..] {
            if conflict(trace, *a, *b) {
                pairs.push(Pair::new(*a, *b));
            }
        }
    }
    pairs
}

#[test]
fn prediction_equals_exploration() {
    let (mut races, mut refuted) = (0, 0);
    let from: u64 = std::env::var("FROM").map_or(0, |v| v.parse().unwrap());
    let to: u64 = std::env::var("TO").map_or(2000, |v| v.parse().unwrap());
    for seed in from..to {
        let (text, trace) = small(seed);
        let found = explore(&trace, 400_000, |_| {});
        if !found.complete {
            continue;
        }
        let truth: BTreeSet<Pair> = found.races.into_keys().collect();
        let machine = Machine::new(&trace);
        let index = Index::new(&trace);
        let window = Window::whole(&machine);
        let mut decider = Decider::new(&trace, &index, &window, Box::new(OrderSolver::new()));
        for pair in conflicts(&trace) {
            let verdict = decider.decide(pair, None);
            let expected = truth.contains(&pair);
            let race = matches!(verdict, Verdict::Race(_));
            assert_eq!(race, expected, "seed {seed}, {pair:?}: {verdict:?}\n{text}");
            if race { races += 1 } else { refuted += 1 }
        }
    }
    println!("{races} races, {refuted} refuted");
}
