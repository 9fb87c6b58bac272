//! `order` against Z3 on hard questions:
//! `cargo bench -p racelog-tests --features z3 --bench solvers -- [EVENTS…]`, 300 and 1000 by
//! default.
//!
//! The traces are generated, with variables that no lock guards and that few values go through. The
//! questions are the pairs that the cheap proofs leave. Both solvers get the same formulas, as they
//! stand when `order` has decided the pair, with everything that was stated on the way: each for
//! itself (one at a time), and one after the other with the formula growing (incremental), which is
//! where Z3 is at its best. A question of which Z3 takes more than the limit counts as the limit.

use std::error::Error;
use std::time::{Duration, Instant};

use predictor::encode::{Forced, Window};
use predictor::goal::{Goal, Pair};
use predictor::index::Index;
use predictor::predict::{Decided, Decider};
use predictor::solve::formula::{Formula, Lit};
use predictor::solve::{Answer, SolverKind};
use predictor::trace::Trace;
use predictor::witness::Checker;
use racelog_tests::hard::{self, Known};

/// How many questions of each trace.
const QUESTIONS: usize = 25;
/// How they are asked.
const MODES: [&str; 2] = ["one by one", "incremental"];
/// How long Z3 may think about one.
const LIMIT: Duration = Duration::from_secs(20);

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![300, 1000] } else { sizes };
    println!("                     of    order            z3   ratio of      slower  undecided");
    println!("events  mode       them      ms   worst        ms   the means  than z3  order   z3");
    let mut all = [Times::default(), Times::default()];
    for events in sizes {
        let trace = hard::trace(events)?;
        let questions = Known::new(&trace).questions(QUESTIONS);
        let times = [one_at_a_time(&trace, &questions), incremental(&trace, &questions)];
        for ((times, all), mode) in times.into_iter().zip(&mut all).zip(MODES) {
            times.print(&trace.len().to_string(), mode);
            all.add(times);
        }
    }
    for (all, mode) in all.iter().zip(MODES) {
        all.print("all", mode);
    }
    Ok(())
}

/// How long each solver took for each question.
#[derive(Default)]
struct Times {
    order: Vec<Duration>,
    z3: Vec<Duration>,
    undecided: [usize; 2],
}

impl Times {
    fn ask(
        &mut self,
        solvers: &mut [Box<dyn predictor::solve::Solver>; 2],
        formula: &Formula,
        asked: &[Lit],
    ) {
        for (number, solver) in solvers.iter_mut().enumerate() {
            let started = Instant::now();
            let answer = solver.solve(formula, asked, Some(started + LIMIT));
            let time = started.elapsed().min(LIMIT);
            self.undecided[number] += usize::from(matches!(answer, Answer::Unknown));
            if number == 0 { self.order.push(time) } else { self.z3.push(time) }
        }
    }

    fn add(&mut self, other: Self) {
        self.order.extend(other.order);
        self.z3.extend(other.z3);
        for (undecided, other) in self.undecided.iter_mut().zip(other.undecided) {
            *undecided += other;
        }
    }

    fn print(&self, events: &str, mode: &str) {
        let seconds = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
        let ratios = self
            .order
            .iter()
            .zip(&self.z3)
            .map(|(own, other)| other.as_secs_f64() / own.as_secs_f64().max(1e-9));
        let ratios: Vec<f64> = ratios.collect();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let slower = ratios.iter().filter(|ratio| **ratio < 1.0).count();
        let worst = self.order.iter().max().copied().unwrap_or_default();
        println!(
            "{events:>6}  {mode:<11} {:>4} {:>7.1} {:>7.1} {:>9.1} {mean:>11.0} {slower:>8} {:>6} {:>4}",
            self.order.len(),
            seconds(&self.order) * 1e3,
            worst.as_secs_f64() * 1e3,
            seconds(&self.z3) * 1e3,
            self.undecided[0],
            self.undecided[1],
        );
    }
}

fn one_at_a_time(trace: &Trace, questions: &[(Pair, Forced)]) -> Times {
    let (index, checker) = (Index::new(trace), Checker::new(trace));
    let window = Window::whole(checker.machine());
    let mut times = Times::default();
    for (pair, forced) in questions {
        let solver = SolverKind::Order.build();
        let mut decider = Decider::new(trace, &index, &window, &checker, solver);
        let decided = decider.decide(&Goal::Race(*pair), Some(forced), None);
        assert!(matches!(decided, Decided::Proven(_) | Decided::Impossible), "{decided:?}");
        let (formula, asked) = decider.last_question();
        times.ask(&mut [SolverKind::Order.build(), SolverKind::Z3.build()], formula, asked);
    }
    times
}

fn incremental(trace: &Trace, questions: &[(Pair, Forced)]) -> Times {
    let (index, checker) = (Index::new(trace), Checker::new(trace));
    let window = Window::whole(checker.machine());
    let mut decider = Decider::new(trace, &index, &window, &checker, SolverKind::Order.build());
    let mut solvers = [SolverKind::Order.build(), SolverKind::Z3.build()];
    let mut times = Times::default();
    for (pair, forced) in questions {
        let decided = decider.decide(&Goal::Race(*pair), Some(forced), None);
        assert!(matches!(decided, Decided::Proven(_) | Decided::Impossible), "{decided:?}");
        let (formula, asked) = decider.last_question();
        times.ask(&mut solvers, formula, asked);
    }
    times
}
