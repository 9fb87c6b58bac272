//! How often the detectors that order whole traces err, on random small traces whose races the
//! explorer knows: `cargo run --release -p racelog-tests --bin whole_trace_figures -- [TRACES]`

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};

use predictor::detect::Claim;
use predictor::detect::paper::Paper;
use predictor::detect::said::Said;
use predictor::explore::explore;
use predictor::goal::race::conflict;
use predictor::goal::{GoalKinds, Pair};
use predictor::index::Index;
use predictor::solve::order::OrderSolver;
use predictor::trace::Trace;
use racelog_tests::random_trace::{ALL, Family, Shape, random_trace};

/// What was counted.
#[derive(Default)]
struct Figures {
    traces: usize,
    /// Traces with more states than the explorer was given.
    skipped: usize,
    pairs: usize,
    races: usize,
    paper: Errors,
    said: Errors,
}

/// How often a detector erred.
#[derive(Default)]
struct Errors {
    missed: usize,
    /// In how many traces something was missed.
    missed_in: usize,
    false_alarms: usize,
    false_in: usize,
}

impl Errors {
    fn count(&mut self, found: &BTreeSet<Pair>, truth: &BTreeSet<Pair>) {
        let missed = truth.difference(found).count();
        let false_alarms = found.difference(truth).count();
        self.missed += missed;
        self.missed_in += usize::from(missed > 0);
        self.false_alarms += false_alarms;
        self.false_in += usize::from(false_alarms > 0);
    }
}

/// A small trace, of a kind that depends on the seed.
fn small(seed: u64, kind: Kind) -> Result<Trace, Box<dyn Error>> {
    use Family::{Branch, Lock, Plain};
    let mut operations = vec![Plain, Plain, Plain, Lock, Branch];
    let (mut events, mut threads) = (12 + (seed % 13) as usize, 2 + (seed / 13 % 3) as usize);
    match kind {
        Kind::OfThePaper => operations.push(Lock),
        Kind::ManyLocks => {
            operations.extend([Lock, Lock, Branch]);
            (events, threads) = (events + 8, 4);
        }
        Kind::All => operations.extend(ALL),
    }
    let shape = Shape {
        events,
        threads,
        vars: 1 + (seed / 39 % 3) as usize,
        objects: 1 + (seed / 117 % 2) as usize,
        operations,
        locations: false,
        unrecorded: false,
        foreign: 0,
        waits: false,
    };
    Ok(random_trace(seed, &shape).parse()?)
}

/// Which operations occur.
#[derive(Clone, Copy)]
enum Kind {
    /// Those that the paper has.
    OfThePaper,
    /// Those, in longer traces of four threads, with more locks and branches.
    ManyLocks,
    /// All that there are.
    All,
}

fn figures(traces: u64, kind: Kind) -> Result<Figures, Box<dyn Error>> {
    let mut figures = Figures::default();
    for seed in 0..traces {
        let trace = small(seed, kind)?;
        let found = explore(&trace, GoalKinds::RACES, 200_000, |_| {});
        if !found.complete {
            figures.skipped += 1;
            continue;
        }
        let truth: BTreeSet<Pair> = found.races().collect();
        let pairs = conflicts(&trace);
        let index = Index::new(&trace);
        let mut paper = Paper::new(&trace, &index, Box::new(OrderSolver::new()));
        let mut said = Said::new(&trace, &index, Box::new(OrderSolver::new()));
        figures.traces += 1;
        figures.pairs += pairs.len();
        figures.races += truth.len();
        figures.paper.count(&races(&pairs, |pair| paper.is_race(pair, None)), &truth);
        figures.said.count(&races(&pairs, |pair| said.is_race(pair, None)), &truth);
    }
    Ok(figures)
}

fn conflicts(trace: &Trace) -> Vec<Pair> {
    let all = |a| trace.events().filter(move |b| a < *b).map(move |b| (a, b));
    trace
        .events()
        .flat_map(all)
        .filter(|(a, b)| conflict(trace, *a, *b))
        .map(|(a, b)| Pair::new(a, b))
        .collect()
}

fn races(pairs: &[Pair], mut decide: impl FnMut(Pair) -> Claim) -> BTreeSet<Pair> {
    pairs.iter().copied().filter(|pair| matches!(decide(*pair), Claim::Race(_))).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let traces = std::env::args().nth(1).map_or(Ok(20_000), |word| word.parse())?;
    let mut out = io::stdout().lock();
    let kinds = [
        ("operations of the paper", Kind::OfThePaper),
        ("four threads, more locks and branches", Kind::ManyLocks),
        ("all operations", Kind::All),
    ];
    for (name, kind) in kinds {
        let figures = figures(traces, kind)?;
        writeln!(
            out,
            "{name}: {} traces ({} too large), {} pairs, {} races",
            figures.traces, figures.skipped, figures.pairs, figures.races
        )?;
        for (detector, errors) in [("paper", figures.paper), ("said", figures.said)] {
            writeln!(
                out,
                "  {detector}: misses {} (in {} traces), false alarms {} (in {} traces)",
                errors.missed, errors.missed_in, errors.false_alarms, errors.false_in
            )?;
        }
    }
    Ok(())
}
