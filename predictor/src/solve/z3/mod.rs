//! `z3`, the SMT solver of Microsoft Research, in integer difference logic: each event is an
//! integer, and an order is an inequality. Links the system's libz3; behind the feature `z3`.
//!
//! The questions of one window share a session: what the formula has got since the last question is
//! asserted for good, and what is assumed is asserted between a push and a pop. The very first push
//! comes before the first assertion: it takes Z3 to its incremental core at once, which is about
//! three times faster here than the front end for single questions.
//!
//! **A second opinion on values.** A question about values is answered by a formula that grows by
//! what the search has computed. Each such claim is put to Z3 as a question about bit vectors before
//! the formula is; one that Z3 finds wrong ends the analysis, as two solvers do that disagree.
//!
//! **The guard.** Each question carries a time limit, but the library (4.8.12 at least) can ignore
//! its own limit, and an interrupt, on large questions. A session therefore lives in a thread of
//! its own. If that has not answered at the deadline and a grace time later, the answer is unknown,
//! the thread is abandoned, and the next question goes to a new session, which is told the whole
//! formula. An abandoned thread ends when Z3 comes back to it, or with the process; until then it
//! keeps one core busy and its memory. A thread cannot be killed, and a process that can be would
//! need an executable, which a library does not have. Without a deadline, there is no guard.

mod session;
mod terms;
mod worker;

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use self::worker::{Question, Reply, Worker};
use super::formula::{Formula, Lit};
use super::{Answer, Disagreement, Solver};

/// How long past the deadline Z3 may take to notice it.
const GRACE: Duration = Duration::from_millis(500);

/// Z3, in a thread of its own.
pub struct Z3Solver {
    start: Box<dyn FnMut() -> Worker>,
    grace: Duration,
    worker: Option<Worker>,
    /// How much of the formula the worker has been told.
    told: Told,
    /// What it has found to be computed wrongly.
    disagreement: Option<Disagreement>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    propositions: usize,
    edges: usize,
    clauses: usize,
    claims: usize,
}

impl Default for Z3Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Z3Solver {
    /// A solver for a new formula.
    pub fn new() -> Self {
        Self::with(Box::new(worker::start), GRACE)
    }

    fn with(start: Box<dyn FnMut() -> Worker>, grace: Duration) -> Self {
        Self { start, grace, worker: None, told: Told::default(), disagreement: None }
    }

    /// What the formula has got since the worker was last told, and what is asked.
    fn question(&mut self, formula: &Formula, assumptions: &[Lit]) -> Question {
        let told = self.told;
        self.told = Told {
            propositions: formula.proposition_count(),
            edges: formula.edges().len(),
            clauses: formula.clause_count(),
            claims: formula.claims().len(),
        };
        Question {
            meanings: (told.propositions..self.told.propositions)
                .map(|proposition| formula.meaning(proposition))
                .collect(),
            edges: formula.edges()[told.edges..].to_vec(),
            clauses: (told.clauses..self.told.clauses)
                .map(|clause| formula.get_clause(clause).to_vec())
                .collect(),
            claims: formula.claims()[told.claims..].to_vec(),
            assumptions: assumptions.to_vec(),
            limit: None,
        }
    }

    /// Lets go of the worker, whatever it is doing.
    fn abandon(&mut self) {
        self.worker = None;
        self.told = Told::default();
    }
}

impl Solver for Z3Solver {
    fn name(&self) -> &'static str {
        "z3"
    }

    fn solve(
        &mut self,
        formula: &Formula,
        assumptions: &[Lit],
        deadline: Option<Instant>,
    ) -> Answer {
        let limit = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if self.disagreement.is_some() || limit.is_some_and(|limit| limit.is_zero()) {
            return Answer::Unknown;
        }
        let mut question = self.question(formula, assumptions);
        question.limit = limit;
        let patience = limit.map(|limit| limit + self.grace);
        let worker = self.worker.get_or_insert_with(&mut self.start);
        match worker.ask(question, patience) {
            Ok(Reply::Answer(answer)) => answer,
            Ok(Reply::Refuted(claim)) => {
                let question = format!("{claim:#?}");
                self.disagreement =
                    Some(Disagreement { yes: "z3", no: "what was computed", question });
                Answer::Unknown
            }
            // The second is a thread that has ended: Z3 gave up in a way of its own.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.abandon();
                Answer::Unknown
            }
        }
    }

    fn disagreement(&self) -> Option<&Disagreement> {
        self.disagreement.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::EventId;

    fn event(number: usize) -> EventId {
        EventId::from_index(number)
    }

    /// A cycle of three that only an assumption closes.
    fn triangle() -> (Formula, Lit) {
        let mut formula = Formula::new();
        formula.order(event(0), event(1));
        let (middle, last) =
            (formula.before(event(1), event(2)), formula.before(event(2), event(0)));
        formula.clause(&[middle]);
        (formula, last)
    }

    fn soon() -> Option<Instant> {
        Some(Instant::now() + Duration::from_millis(20))
    }

    #[test]
    fn an_order_has_no_cycle() {
        let (formula, last) = triangle();
        let mut solver = Z3Solver::new();
        assert!(matches!(solver.solve(&formula, &[last], None), Answer::No));
        let Answer::Yes(model) = solver.solve(&formula, &[!last], None) else {
            panic!("there is an order");
        };
        let ranks = [0, 1, 2].map(|number| model.rank(event(number)));
        assert!(ranks.is_sorted(), "{ranks:?}");
        assert!(model.is_true(!last));
    }

    #[test]
    fn the_formula_may_grow_between_questions() {
        let (mut formula, last) = triangle();
        let mut solver = Z3Solver::new();
        assert!(matches!(solver.solve(&formula, &[], None), Answer::Yes(_)));
        let choice = formula.proposition(true);
        let further = formula.before(event(3), event(0));
        formula.clause(&[!choice, further]);
        formula.clause(&[!choice, !further]);
        assert!(matches!(solver.solve(&formula, &[choice], None), Answer::No));
        let Answer::Yes(model) = solver.solve(&formula, &[!choice], None) else {
            panic!("nothing else speaks of the new event");
        };
        assert!(!model.is_true(choice) && !model.is_true(last));
        formula.clause(&[choice]);
        assert!(matches!(solver.solve(&formula, &[], None), Answer::No));
    }

    #[test]
    fn no_time_is_no_answer() {
        let (formula, last) = triangle();
        let past = Some(Instant::now());
        assert!(matches!(Z3Solver::new().solve(&formula, &[last], past), Answer::Unknown));
    }

    #[test]
    fn a_worker_that_does_not_answer_is_abandoned_for_a_new_one() {
        let (mut formula, last) = triangle();
        let mut workers = 0;
        let start = move || {
            workers += 1;
            if workers == 1 { worker::silent() } else { worker::start() }
        };
        let mut solver = Z3Solver::with(Box::new(start), Duration::ZERO);
        assert!(matches!(solver.solve(&formula, &[last], soon()), Answer::Unknown));
        // The new worker knows what the first one had been told.
        formula.proposition(true);
        assert!(matches!(solver.solve(&formula, &[last], None), Answer::No));
        assert!(matches!(solver.solve(&formula, &[], None), Answer::Yes(_)));
    }

    #[test]
    fn a_worker_that_has_died_is_replaced() {
        let (formula, last) = triangle();
        let mut workers = 0;
        let start = move || {
            workers += 1;
            if workers == 1 { worker::dead() } else { worker::start() }
        };
        let mut solver = Z3Solver::with(Box::new(start), GRACE);
        assert!(matches!(solver.solve(&formula, &[last], None), Answer::Unknown));
        assert!(matches!(solver.solve(&formula, &[last], None), Answer::No));
    }

    /// Pigeons that want holes of their own, if they are to: too hard to be decided soon.
    fn pigeons(holes: usize) -> (Formula, Lit) {
        let mut formula = Formula::new();
        let asked = formula.proposition(false);
        let sits: Vec<Vec<Lit>> =
            (0..=holes).map(|_| (0..holes).map(|_| formula.proposition(false)).collect()).collect();
        for pigeon in &sits {
            let mut clause = pigeon.clone();
            clause.push(!asked);
            formula.clause(&clause);
        }
        for hole in 0..holes {
            for (at, pigeon) in sits.iter().enumerate() {
                for other in &sits[at + 1..] {
                    formula.clause(&[!pigeon[hole], !other[hole]]);
                }
            }
        }
        (formula, asked)
    }

    #[test]
    fn a_hard_question_ends_at_its_limit_and_the_next_one_is_answered() {
        let (formula, asked) = pigeons(14);
        for grace in [Duration::ZERO, GRACE] {
            let mut solver = Z3Solver::with(Box::new(worker::start), grace);
            assert!(matches!(solver.solve(&formula, &[asked], soon()), Answer::Unknown));
            assert!(matches!(solver.solve(&formula, &[!asked], None), Answer::Yes(_)));
        }
    }
}
