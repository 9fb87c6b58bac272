//! The classic detectors, held against their definitions and against the explorer.

mod deadlocks;
mod first_race;
mod naive;
mod orderings;
mod papers;
mod random;

use predictor::detect::Findings;
use predictor::goal::Pair;
use predictor::trace::Trace;

use crate::support::true_races;

fn load(text: &str) -> Trace {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn show(pairs: impl IntoIterator<Item = Pair>) -> String {
    let shown: Vec<String> =
        pairs.into_iter().map(|pair| format!("({}, {})", pair.first(), pair.second())).collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(" ") }
}

fn complete(findings: Findings) -> Vec<Pair> {
    assert!(findings.limits.is_complete(), "{:?}", findings.limits);
    findings.pairs
}
