//! `order` against Z3 on hard questions:
//! `cargo bench -p racelog-tests --features z3 --bench solvers -- [EVENTS…]`, 300 and 1000 by default.
//!
//! The traces are generated, with variables that no lock guards and that few values go through. The
//! questions are the pairs that the cheap proofs leave. Both solvers get the same formulas, as they
//! stand when `order` has decided the pair, with everything that was stated on the way: each for
//! itself (one at a time), and one after the other with the formula growing (incremental), which is
//! where Z3 is at its best. A question of which Z3 takes more than the limit counts as the limit.

use std::error::Error;
use std::time::{Duration, Instant};

use predictor::encode::{Forced, Index, Window};
use predictor::generate::Plan;
use predictor::predict::{
    Candidates, Closed, Closures, Decider, HeldLocks, HoldBack, MustOrder, Verdict, Writes,
};
use predictor::race::Pair;
use predictor::semantics::Machine;
use predictor::solve::formula::{Formula, Lit};
use predictor::solve::{Answer, SolverKind};
use predictor::trace::Trace;
use predictor::trace::format::{Format, Sink, Source};
use predictor::witness::Checker;
use racelog::trace::{End, Metadata};

/// How many questions of each trace.
const QUESTIONS: usize = 25;
/// How long Z3 may think about one.
const LIMIT: Duration = Duration::from_secs(20);

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![300, 1000] } else { sizes };
    println!("                     of    order            z3   ratio of      slower  undecided");
    println!("events  mode       them      ms   worst        ms   the means  than z3  order   z3");
    for events in sizes {
        let trace = hard_trace(events)?;
        let questions = questions(&trace);
        one_at_a_time(&trace, &questions);
        incremental(&trace, &questions);
    }
    Ok(())
}

fn hard_trace(events: usize) -> Result<Trace, Box<dyn Error>> {
    let plan = Plan {
        events,
        unguarded: 0.3,
        near_races: 0,
        far_races: 0,
        vars: 40,
        locks: 5,
        seed: 1,
        ..Plan::default()
    };
    let mut sink = Sink::new(Vec::new(), Format::Binary, &Metadata::default(), false)?;
    let dictionary = plan.make(|dictionary, item| sink.write(dictionary, item))?;
    let (bytes, _) = sink.finish(&dictionary, End::Clean)?;
    Ok(Trace::load(&mut Source::of_bytes(bytes, Some(Format::Binary))?, |_| {})?)
}

/// Some of the pairs that the cheap proofs leave, spread over the trace, with what they force.
fn questions(trace: &Trace) -> Vec<(Pair, Forced)> {
    let (index, held, writes) = (Index::new(trace), HeldLocks::new(trace), Writes::new(trace));
    let candidates = Candidates::new(trace, &held, true);
    let plain = MustOrder::plain(trace, &index);
    let by_values = plain.by_values(trace, &index, &held, &writes);
    let orders = [Some(&plain), Some(&by_values)];
    let machine = Machine::new(trace);
    let checker = Checker::new(&machine);
    let hold_back = HoldBack { trace, index: &index, held: &held };
    let closures = Closures { trace, index: &index, writes: &writes, orders };
    let open = |pair: Pair| match closures.decide(pair, &checker, None) {
        Closed::Open(forced) => Some((pair, forced)),
        _ => None,
    };
    let mut pairs: Vec<Pair> =
        (0..candidates.len()).flat_map(|entry| candidates.pairs(entry, trace, orders)).collect();
    pairs.sort_unstable();
    pairs.retain(|pair| hold_back.attempt(*pair).is_none());
    let hard: Vec<(Pair, Forced)> = pairs.into_iter().filter_map(open).collect();
    let step = (hard.len() / QUESTIONS).max(1);
    hard.into_iter().step_by(step).take(QUESTIONS).collect()
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

    fn print(&self, trace: &Trace, mode: &str) {
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
            "{:>6}  {mode:<11} {:>4} {:>7.1} {:>7.1} {:>9.1} {mean:>11.0} {slower:>8} {:>6} {:>4}",
            trace.len(),
            self.order.len(),
            seconds(&self.order) * 1e3,
            worst.as_secs_f64() * 1e3,
            seconds(&self.z3) * 1e3,
            self.undecided[0],
            self.undecided[1],
        );
    }
}

fn one_at_a_time(trace: &Trace, questions: &[(Pair, Forced)]) {
    let (machine, index) = (Machine::new(trace), Index::new(trace));
    let (window, checker) = (Window::whole(&machine), Checker::new(&machine));
    let mut times = Times::default();
    for (pair, forced) in questions {
        let solver = SolverKind::Order.build();
        let mut decider = Decider::new(trace, &index, &window, &checker, solver);
        let verdict = decider.decide(*pair, Some(forced), None);
        assert!(matches!(verdict, Verdict::Race(_) | Verdict::NoRace), "{verdict:?}");
        let (formula, asked) = decider.last_question();
        times.ask(&mut [SolverKind::Order.build(), SolverKind::Z3.build()], formula, asked);
    }
    times.print(trace, "one by one");
}

fn incremental(trace: &Trace, questions: &[(Pair, Forced)]) {
    let (machine, index) = (Machine::new(trace), Index::new(trace));
    let (window, checker) = (Window::whole(&machine), Checker::new(&machine));
    let mut decider = Decider::new(trace, &index, &window, &checker, SolverKind::Order.build());
    let mut solvers = [SolverKind::Order.build(), SolverKind::Z3.build()];
    let mut times = Times::default();
    for (pair, forced) in questions {
        let verdict = decider.decide(*pair, Some(forced), None);
        assert!(matches!(verdict, Verdict::Race(_) | Verdict::NoRace), "{verdict:?}");
        let (formula, asked) = decider.last_question();
        times.ask(&mut solvers, formula, asked);
    }
    times.print(trace, "incremental");
}
