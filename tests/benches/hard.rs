//! How long hard pairs take: `cargo bench -p racelog-tests --bench hard -- [EVENTS]...`, ten
//! thousand and a hundred thousand by default.
//!
//! The pairs are those that neither locks nor orders nor holding a thread back decide, all of them
//! or, if there are many, some. Each is decided from nothing, as a user would see it who asks for
//! this one: what it forces, then the encoding, the solver, and the check of the witness. Of a
//! trace of ten thousand events all pairs are then analysed as a whole, with one job and with two.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use predictor::encode::Window;
use predictor::goal::Goal;
use predictor::predict::{Closed, Decided, Decider, Options, predict};
use predictor::solve::SolverKind;
use predictor::trace::Trace;
use predictor::witness::Checker;
use racelog_tests::hard::{self, Known};

/// How many pairs of a trace of up to ten thousand events, and of a longer one.
const MOST: (usize, usize) = (5_000, 1_000);
/// Up to here a trace is short.
const SHORT: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words = std::env::args().skip(1);
    let mut sizes: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![SHORT, 10 * SHORT];
    }
    println!("               by what is forced   by the solver           milliseconds");
    println!("events   pairs    race    none    race    none  unknown  median   worst");
    for events in sizes {
        let trace = hard::trace(events)?;
        one_by_one(&trace, if events <= SHORT { MOST.0 } else { MOST.1 });
        if events <= SHORT {
            all_in_all(&trace);
        }
    }
    Ok(())
}

fn one_by_one(trace: &Trace, most: usize) {
    let known = Known::new(trace);
    let checker = Checker::new(trace);
    let window = Window::whole(checker.machine());
    let mut times: Vec<Duration> = Vec::new();
    let [mut race, mut none, mut unknown] = [[0; 2], [0; 2], [0; 2]];
    for pair in known.pairs(most) {
        let started = Instant::now();
        let (by_solver, decided) = match known.close(pair, &checker) {
            Closed::Proven(witness) => (0, Decided::Proven(witness)),
            Closed::Impossible => (0, Decided::Impossible),
            Closed::Open(forced) => {
                let solver = SolverKind::Order.build();
                let mut decider = Decider::new(trace, known.index(), &window, &checker, solver);
                (1, decider.decide(&Goal::Race(pair), Some(&forced), None))
            }
            Closed::Unfinished => (0, Decided::Unknown),
        };
        times.push(started.elapsed());
        match decided {
            Decided::Proven(_) => race[by_solver] += 1,
            Decided::Impossible => none[by_solver] += 1,
            _ => unknown[by_solver] += 1,
        }
    }
    times.sort_unstable();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!(
        "{:>6} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7.1} {:>7.1}",
        trace.len(),
        times.len(),
        race[0],
        none[0],
        race[1],
        none[1],
        unknown[0] + unknown[1],
        milliseconds(times.get(times.len() / 2)),
        milliseconds(times.last()),
    );
}

fn all_in_all(trace: &Trace) {
    let seconds = [1, 2].map(|jobs| {
        let options = Options { all_goals: true, jobs: Some(jobs), ..Options::default() };
        let started = Instant::now();
        black_box(predict(trace, &options, |_, _| {}));
        started.elapsed().as_secs_f64()
    });
    let [one, two] = seconds;
    println!(
        "all pairs: {one:.1} s with one job, {two:.1} s with two: {:.2} times as fast",
        one / two
    );
}
