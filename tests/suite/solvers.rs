//! The solvers, held against brute force and against each other.

use predictor::solve::formula::{Formula, Lit, Meaning};
use predictor::solve::order::OrderSolver;
use predictor::solve::{Answer, Model, Solver};
use predictor::trace::EventId;
use racelog_tests::random_trace::rng;
use rand::{Rng, RngExt};

/// How large a random formula gets.
struct Size {
    events: usize,
    free: usize,
    orders: usize,
    clauses: usize,
    edges: usize,
}

fn event(rng: &mut impl Rng, size: &Size) -> EventId {
    EventId::from_index(rng.random_range(0..size.events))
}

fn literal(rng: &mut impl Rng, formula: &Formula) -> Lit {
    let lit = Lit::positive(rng.random_range(0..formula.proposition_count()));
    if rng.random_bool(0.5) { lit } else { !lit }
}

/// Adds propositions, orders and clauses to a formula.
fn grow(rng: &mut impl Rng, formula: &mut Formula, size: &Size) {
    for _ in 0..size.free {
        formula.proposition(rng.random_bool(0.5));
    }
    for _ in 0..size.orders {
        let (a, b) = (event(rng, size), event(rng, size));
        if a != b {
            formula.before(a, b);
        }
    }
    for _ in 0..size.edges {
        let (a, b) = (event(rng, size), event(rng, size));
        if a < b {
            formula.order(a, b);
        }
    }
    for _ in 0..size.clauses {
        let length = rng.random_range(2..=3);
        let clause: Vec<Lit> = (0..length).map(|_| literal(rng, formula)).collect();
        formula.clause(&clause);
    }
}

/// Whether a model is one: all clauses, all assumptions, all orders.
fn check(formula: &Formula, assumptions: &[Lit], model: &Model) -> Result<(), String> {
    for index in 0..formula.clause_count() {
        let clause = formula.get_clause(index);
        if !clause.iter().any(|lit| model.is_true(*lit)) {
            return Err(format!("clause {clause:?} does not hold"));
        }
    }
    if let Some(lit) = assumptions.iter().find(|lit| !model.is_true(**lit)) {
        return Err(format!("{lit:?} is assumed and does not hold"));
    }
    let earlier = |a: EventId, b: EventId| model.rank(a) < model.rank(b);
    if let Some((a, b)) = formula.edges().iter().find(|(a, b)| !earlier(*a, *b)) {
        return Err(format!("{a} does not come before {b}"));
    }
    for proposition in 0..formula.proposition_count() {
        if let Meaning::Before(a, b) = formula.meaning(proposition)
            && model.is_true(Lit::positive(proposition)) != earlier(a, b)
        {
            return Err(format!("the order of {a} and {b} is not what p{proposition} says"));
        }
    }
    Ok(())
}

/// Whether orders have no cycle: as long as there are some, one event has none before it.
fn acyclic(mut orders: Vec<(EventId, EventId)>) -> bool {
    while !orders.is_empty() {
        let before = orders.len();
        let ends: Vec<EventId> = orders.iter().map(|(_, end)| *end).collect();
        orders.retain(|(start, _)| ends.contains(start));
        if orders.len() == before {
            return false;
        }
    }
    true
}

/// Tries all assignments.
fn has_model(formula: &Formula, assumptions: &[Lit]) -> bool {
    let count = formula.proposition_count();
    (0u32..1 << count).any(|assignment| {
        let holds = |lit: Lit| (assignment >> lit.proposition() & 1 == 1) == lit.is_positive();
        let clauses = (0..formula.clause_count())
            .all(|index| formula.get_clause(index).iter().any(|lit| holds(*lit)));
        if !clauses || !assumptions.iter().all(|lit| holds(*lit)) {
            return false;
        }
        let mut orders = formula.edges().to_vec();
        for proposition in 0..count {
            if let Meaning::Before(a, b) = formula.meaning(proposition) {
                let forth = holds(Lit::positive(proposition));
                orders.push(if forth { (a, b) } else { (b, a) });
            }
        }
        acyclic(orders)
    })
}

/// Whether a solver says yes. Its model is checked.
fn says_yes(solver: &mut dyn Solver, formula: &Formula, assumptions: &[Lit]) -> bool {
    match solver.solve(formula, assumptions, None) {
        Answer::Yes(model) => {
            let checked = check(formula, assumptions, &model);
            assert_eq!(checked, Ok(()), "{}: {formula:?} {assumptions:?}", solver.name());
            true
        }
        Answer::No => false,
        Answer::Unknown => panic!("{}: there is no deadline", solver.name()),
    }
}

/// Random formulas that grow, with random assumptions.
fn with_random_questions(
    seeds: u64,
    size: &Size,
    rounds: usize,
    mut question: impl FnMut(u64, &Formula, &[Lit]),
) {
    for seed in 0..seeds {
        let mut rng = rng(seed);
        let mut formula = Formula::new();
        for _ in 0..rounds {
            grow(&mut rng, &mut formula, size);
            for _ in 0..4 {
                let count = rng.random_range(0..4);
                let assumptions: Vec<Lit> =
                    (0..count).map(|_| literal(&mut rng, &formula)).collect();
                question(seed, &formula, &assumptions);
            }
        }
    }
}

/// Holds a solver against brute force; how often the answer is "no", and how often "yes".
fn equals_brute_force<S: Solver>(seeds: u64, new: fn() -> S) -> [usize; 2] {
    let size = Size { events: 5, free: 1, orders: 2, clauses: 3, edges: 1 };
    let (mut current, mut solver) = (u64::MAX, new());
    let mut count = [0; 2];
    with_random_questions(seeds, &size, 4, |seed, formula, assumptions| {
        if seed != current {
            (current, solver) = (seed, new());
        }
        let expected = has_model(formula, assumptions);
        let answer = says_yes(&mut solver, formula, assumptions);
        assert_eq!(answer, expected, "seed {seed}: {formula:?} {assumptions:?}");
        count[usize::from(answer)] += 1;
    });
    count
}

#[test]
fn the_embedded_solver_equals_brute_force() {
    let count = equals_brute_force(1200, OrderSolver::new);
    assert!(count.iter().all(|count| *count > 3000), "{count:?}");
}

#[test]
fn the_same_question_of_a_growing_formula_is_answered_as_if_it_were_new() {
    let large = Size { events: 12, free: 8, orders: 24, clauses: 20, edges: 2 };
    let more = Size { events: 12, free: 0, orders: 2, clauses: 2, edges: 1 };
    let mut count = [0; 2];
    for seed in 0..400 {
        let mut rng = rng(seed);
        let (mut formula, mut solver) = (Formula::new(), OrderSolver::new());
        grow(&mut rng, &mut formula, &large);
        let assumptions: Vec<Lit> = (0..3).map(|_| literal(&mut rng, &formula)).collect();
        for _ in 0..40 {
            grow(&mut rng, &mut formula, &more);
            let answer = says_yes(&mut solver, &formula, &assumptions);
            let anew = says_yes(&mut OrderSolver::new(), &formula, &assumptions);
            assert_eq!(answer, anew, "seed {seed}: {formula:?} {assumptions:?}");
            count[usize::from(answer)] += 1;
            if !answer {
                break;
            }
        }
    }
    assert!(count[0] > 300 && count[1] > 2000, "{count:?}");
}

#[cfg(feature = "z3")]
mod z3 {
    use std::collections::BTreeSet;

    use predictor::detect::Claim;
    use predictor::detect::paper::Paper;
    use predictor::detect::said::Said;
    use predictor::explore::explore;
    use predictor::goal::{Goal, GoalKinds, Pair};
    use predictor::index::Index;
    use predictor::predict::{Options, Proofs, predict};
    use predictor::solve::SolverKind;
    use predictor::solve::z3::Z3Solver;

    use super::*;
    use racelog_tests::random_trace::small_trace;
    use racelog_tests::random_values::small_value_trace;

    use crate::support::conflicts;

    #[test]
    fn z3_equals_brute_force() {
        let count = equals_brute_force(150, Z3Solver::new);
        assert!(count.iter().all(|count| *count > 100), "{count:?}");
    }

    #[test]
    fn the_solvers_agree_on_larger_formulas() {
        let size = Size { events: 12, free: 4, orders: 14, clauses: 26, edges: 4 };
        let mut solvers = (u64::MAX, OrderSolver::new(), Z3Solver::new());
        let mut count = [0; 2];
        with_random_questions(150, &size, 4, |seed, formula, assumptions| {
            if seed != solvers.0 {
                solvers = (seed, OrderSolver::new(), Z3Solver::new());
            }
            let own = says_yes(&mut solvers.1, formula, assumptions);
            let other = says_yes(&mut solvers.2, formula, assumptions);
            assert_eq!(own, other, "seed {seed}: {formula:?} {assumptions:?}");
            count[usize::from(own)] += 1;
        });
        assert!(count.iter().all(|count| *count > 300), "{count:?}");
    }

    /// With all left to the solver.
    fn prediction_equals_exploration(seeds: std::ops::Range<u64>, solver: SolverKind) {
        let mut races = 0;
        let (proofs, all_goals) = (Proofs::NONE, true);
        for seed in seeds {
            let (text, trace) = small_trace(seed);
            let found = explore(&trace, GoalKinds::RACES, 400_000, |_| {});
            if !found.complete {
                continue;
            }
            let truth: BTreeSet<Pair> = found.races().collect();
            let options = Options {
                solver,
                proofs,
                all_goals,
                jobs: Some(1),
                fewest_switches: false,
                ..Options::default()
            };
            let found = predict(&trace, &options, |_, _| {});
            let predicted: BTreeSet<Pair> = found.races().collect();
            assert_eq!(predicted, truth, "seed {seed}\n{text}");
            assert_eq!(
                (found.counts.unknown.total(), found.disagreement),
                (0, None),
                "seed {seed}\n{text}"
            );
            races += predicted.len();
        }
        assert!(races > 100, "only {races} races");
    }

    #[test]
    fn whole_traces_are_decided_alike() {
        let mut count = [0; 3];
        for seed in 300..400 {
            let (text, trace) = small_trace(seed);
            let index = Index::new(&trace);
            let mut deciders = (
                Said::new(&trace, &index, Box::new(OrderSolver::new())),
                Said::new(&trace, &index, Box::new(Z3Solver::new())),
                Paper::new(&trace, &index, Box::new(OrderSolver::new())),
                Paper::new(&trace, &index, Box::new(Z3Solver::new())),
            );
            let race = |claim| matches!(claim, Claim::Race(_));
            for pair in conflicts(&trace) {
                let said = race(deciders.0.is_race(pair, None));
                let paper = race(deciders.2.is_race(pair, None));
                let other = (deciders.1.is_race(pair, None), deciders.3.is_race(pair, None));
                assert_eq!(race(other.0), said, "seed {seed}, said, {pair:?}\n{text}");
                assert_eq!(race(other.1), paper, "seed {seed}, paper, {pair:?}\n{text}");
                count[usize::from(said) + usize::from(paper)] += 1;
            }
        }
        assert!(count.iter().all(|count| *count > 50), "{count:?}");
    }

    #[test]
    fn prediction_with_z3_equals_exploration() {
        prediction_equals_exploration(0..10_500, SolverKind::Z3);
    }

    #[test]
    fn prediction_with_both_equals_exploration() {
        prediction_equals_exploration(20_000..20_500, SolverKind::Both);
    }
    /// What is computed is claimed, and each claim is looked at by Z3.
    #[test]
    fn values_get_a_second_opinion() {
        let mut checks = 0;
        for seed in 0..150 {
            let (text, trace) = small_value_trace(seed);
            let found = explore(&trace, GoalKinds::ALL, 400_000, |_| {});
            if !found.complete {
                continue;
            }
            let truth: BTreeSet<Goal> = found.found.into_keys().collect();
            let options = Options {
                solver: SolverKind::Both,
                proofs: Proofs::NONE,
                all_goals: true,
                goal_time: None,
                jobs: Some(1),
                fewest_switches: false,
                ..Options::default()
            };
            let found = predict(&trace, &options, |_, _| {});
            assert_eq!(found.disagreement, None, "seed {seed}\n{text}");
            let goals = found.found.iter().map(|proven| proven.goal().clone());
            let predicted: BTreeSet<Goal> = goals.collect();
            // Where values have to be computed the search may give up.
            match found.counts.unknown.total() {
                0 => assert_eq!(predicted, truth, "seed {seed}\n{text}"),
                _ => assert!(predicted.is_subset(&truth), "seed {seed}\n{text}"),
            }
            let is_check = |goal: &&Goal| matches!(goal, Goal::FailedCheck(_) | Goal::Panic(_));
            checks += predicted.iter().filter(is_check).count();
        }
        assert!(checks > 5, "only {checks} checks fail");
    }
}
