//! `both`: asks two solvers and compares what they say, to find faults in either.
//!
//! One yes and one no is a [`Disagreement`]. From then on this solver answers nothing but unknown,
//! and [`Solver::disagreement`] says what happened: the analysis asks after each answer and stops
//! with that error. Where only one of the two knows, what it says is the answer.

use std::time::Instant;

use super::formula::{Formula, Lit};
use super::order::OrderSolver;
use super::z3::Z3Solver;
use super::{Answer, Disagreement, Solver, smtlib};

/// Two solvers that have to agree.
pub struct BothSolvers {
    first: Box<dyn Solver>,
    second: Box<dyn Solver>,
    disagreement: Option<Disagreement>,
}

impl Default for BothSolvers {
    fn default() -> Self {
        Self::new()
    }
}

impl BothSolvers {
    /// `order` and `z3`, for a new formula.
    pub fn new() -> Self {
        Self::of(Box::new(OrderSolver::new()), Box::new(Z3Solver::new()))
    }

    /// Any two solvers, for a new formula. The models are those of the first, where it has one.
    pub fn of(first: Box<dyn Solver>, second: Box<dyn Solver>) -> Self {
        Self { first, second, disagreement: None }
    }
}

impl Solver for BothSolvers {
    fn name(&self) -> &'static str {
        "both"
    }

    fn solve(
        &mut self,
        formula: &Formula,
        assumptions: &[Lit],
        deadline: Option<Instant>,
    ) -> Answer {
        if self.disagreement().is_some() {
            return Answer::Unknown;
        }
        let first = self.first.solve(formula, assumptions, deadline);
        let second = self.second.solve(formula, assumptions, deadline);
        let (yes, no) = match (&first, &second) {
            (Answer::Yes(_), Answer::No) => (&self.first, &self.second),
            (Answer::No, Answer::Yes(_)) => (&self.second, &self.first),
            (Answer::Unknown, _) => return second,
            _ => return first,
        };
        self.disagreement = Some(Disagreement {
            yes: yes.name(),
            no: no.name(),
            question: smtlib::script(formula, assumptions),
        });
        Answer::Unknown
    }

    fn disagreement(&self) -> Option<&Disagreement> {
        let own = self.disagreement.as_ref();
        own.or_else(|| self.first.disagreement()).or_else(|| self.second.disagreement())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::Model;

    /// A solver that always says the same.
    struct Says(Answer);

    impl Solver for Says {
        fn name(&self) -> &'static str {
            match self.0 {
                Answer::Yes(_) => "optimist",
                Answer::No => "pessimist",
                Answer::Unknown => "agnostic",
            }
        }

        fn solve(&mut self, _: &Formula, _: &[Lit], _: Option<Instant>) -> Answer {
            self.0.clone()
        }
    }

    fn both(first: Answer, second: Answer) -> BothSolvers {
        BothSolvers::of(Box::new(Says(first)), Box::new(Says(second)))
    }

    fn yes() -> Answer {
        Answer::Yes(Model::default())
    }

    #[test]
    fn a_difference_is_kept_and_nothing_is_answered_after_it() {
        for (first, second) in [(yes(), Answer::No), (Answer::No, yes())] {
            let mut solver = both(first, second);
            for _ in 0..2 {
                assert!(matches!(solver.solve(&Formula::new(), &[], None), Answer::Unknown));
            }
            let error = solver.disagreement().expect("they disagree");
            assert_eq!(
                error.to_string(),
                "the solvers disagree: `optimist` says yes, `pessimist` says no"
            );
            assert!(error.question.contains("(check-sat"), "{}", error.question);
        }
    }

    #[test]
    fn one_who_knows_is_enough() {
        let mut solver = both(Answer::Unknown, Answer::No);
        assert!(matches!(solver.solve(&Formula::new(), &[], None), Answer::No));
        let mut solver = both(yes(), Answer::Unknown);
        assert!(matches!(solver.solve(&Formula::new(), &[], None), Answer::Yes(_)));
        assert!(solver.disagreement().is_none());
    }

    #[test]
    fn the_real_ones_agree() {
        let mut formula = Formula::new();
        let p = formula.proposition(true);
        let mut solver = BothSolvers::new();
        assert!(matches!(solver.solve(&formula, &[p], None), Answer::Yes(_)));
        formula.clause(&[!p]);
        assert!(matches!(solver.solve(&formula, &[p], None), Answer::No));
        assert!(solver.disagreement().is_none());
    }
}
